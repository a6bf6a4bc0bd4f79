// SPDX-License-Identifier: GPL-2.0-or-later
// A script of changes to a running link. One change per line, in the order of time:
//
//     SECONDS a-to-b|b-to-a|both CHANGE     # CHANGE as link_change_parse takes it
//     20 a-to-b rate=15mbit,delay=80ms
#ifndef WEIR_LAB_EMULATOR_MODEL_CHANGES_H
#define WEIR_LAB_EMULATOR_MODEL_CHANGES_H

#include "common/base/decls.h"
#include "lab/link/link_spec.h"

DECLS_BEGIN

enum { CHANGES_MAX = 10 * 1000, CHANGES_SECONDS_MAX = 30 * 24 * 3600 };

struct change {
    usec_t at;   // time since the start
    bool way[2]; // [0] a-to-b, [1] b-to-a
    struct link_change change;
};

struct changes {
    struct change *list; // owned; in the order of time
    size_t count;
};

// Returns 0; ERR_MALFORMED, ERR_RANGE, ERR_TOO_BIG (more than CHANGES_MAX), ERR_NO_MEMORY: `error`
// contains the line and the fault, and *c is empty.
int changes_parse(struct changes *c, const char *text, size_t len, char *error, size_t error_cap);
void changes_destroy(struct changes *c);

DECLS_END
#endif
