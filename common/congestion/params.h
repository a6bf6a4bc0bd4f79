// SPDX-License-Identifier: GPL-2.0-or-later
// Parameters, such as those of a controller, "KEY=VALUE,...": decimal numbers within a range, or
// one of some words. Any order, each at most once.
#ifndef WEIR_CONGESTION_PARAMS_H
#define WEIR_CONGESTION_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct param {
    const char *key; // static
    double *value;   // borrowed; holds the default, which stays if the key is absent
    double min;      // range of a number
    double max;      // max <= 1e15
    const char
        *words; // NULL: a number; else "word|word|...": the value is the word's index, from 0
};

// What was refused.
struct param_fault {
    const struct param *row; // the key's; NULL: the table has no such key
    bool twice;              // the key came before
    const char *value;       // in the text; what stands behind the '='
    size_t len;
};

// Reads `text` into the values of the table, of at most 32 rows. 0; ERR_MALFORMED; ERR_RANGE. After
// an error the values before it have been read, and `fault` (may be NULL) says what is wrong.
int params_read(const char *text, const struct param *table, size_t count,
                struct param_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
