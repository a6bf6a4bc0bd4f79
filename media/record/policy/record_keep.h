// SPDX-License-Identifier: GPL-2.0-or-later
// Which recordings are deleted: those whose last change is older than `age`, and the oldest ones
// while all together have more than `bytes`.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_KEEP_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct record_keep {
    usec_t age;    // 0: no limit
    int64_t bytes; // 0: no limit
};

struct recorded_file {
    char *name;     // owned by the caller
    usec_t changed; // wall clock
    int64_t bytes;
};

// Parses a duration: a whole number and s, m, h or d. Returns 0, or ERR_MALFORMED; ERR_RANGE: not
// 1 s to 36500 d.
int record_duration_parse(const char *text, usec_t *out);
// Parses "7d,20GB", or one of them: a duration; a number and MB, GB or TB (powers of 1000). Returns
// 0, or ERR_MALFORMED.
int record_keep_parse(const char *text, struct record_keep *out);
static inline bool record_keep_has_limit(const struct record_keep *k)
{
    return k->age || k->bytes;
}
// Sorts the files, the oldest first. Returns how many of the first are to be deleted. `open`: bytes
// of the recording in progress, which is not among the files.
int record_keep_choose(const struct record_keep *k, struct recorded_file *files, int count,
                       int64_t open, usec_t wall);

DECLS_END
#endif
