// SPDX-License-Identifier: GPL-2.0-or-later
// How late this machine comes to its work, because the process was stopped or its processor was
// busy: the time from when work was due until it ran. This machine cannot say what a peer or a
// network did in that time, and what waited here is not their fault.
//
// Less than LATENESS_MIN is none: a loop that serves many sockets takes that long. Pure.
#ifndef WEIR_BASE_LATENESS_H
#define WEIR_BASE_LATENESS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define LATENESS_MIN  (20 * USEC_PER_MSEC)
#define LATENESS_ECHO (500 * USEC_PER_MSEC)
enum { LATENESS_SPANS = 16 }; // that are remembered

struct lateness {
    usec_t due; // of the next work; USEC_NEVER: none
    struct {
        usec_t from, until;
    } spans[LATENESS_SPANS]; // a ring
    unsigned count;          // of all spans
    usec_t worked;           // when this machine worked last
};

void lateness_init(struct lateness *l);
// The next work is due at `due`, or before, if something arrives.
void lateness_set_due(struct lateness *l, usec_t due);
// This machine works. Returns how late it is: 0, or LATENESS_MIN and more.
usec_t lateness_works(struct lateness *l, usec_t now);
// Returns true if this machine was late in a part of the time from `from` to `to`, or just before:
// peers that it did not serve need as long to recover, LATENESS_ECHO at most.
bool lateness_covers(const struct lateness *l, usec_t from, usec_t to);
// The same of the time at which it worked last.
bool lateness_lasts(const struct lateness *l);

DECLS_END
#endif
