// SPDX-License-Identifier: GPL-2.0-or-later
// Reads parameters, such as those of a controller, from "KEY=VALUE,...", in any order, each key at
// most once. A value is a decimal number within a range, or one of several words.
#ifndef WEIR_CONGESTION_PARAMS_H
#define WEIR_CONGESTION_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct param {
    const char *key; // static
    double *value;   // borrowed; holds the default, which stays if the key is absent
    double min;      // range of a number
    double max;      // max <= 1e15
    const char
        *words; // NULL: a number; else "word|word|...": the value is the word's index, from 0
};

// The parameter that was refused.
struct param_fault {
    const struct param *row; // the key's row; NULL: the table has no such key
    bool twice;              // the key is given twice
    const char *value;       // points into the text, after the '='
    size_t len;
};

// Reads `text` into the values of the table, which has at most 32 rows. Returns 0, ERR_MALFORMED or
// ERR_RANGE. After an error the values before it have been set, and `fault` (may be NULL) names the
// refused parameter.
int params_read(const char *text, const struct param *table, size_t count,
                struct param_fault *fault);

DECLS_END
#endif
