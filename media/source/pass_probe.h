// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a file, or its beginning, to decide whether its H.264 can be passed on as it is
// (pass_check.h). Nothing is decoded but what finds the streams.
#ifndef WEIR_MEDIA_SOURCE_PASS_PROBE_H
#define WEIR_MEDIA_SOURCE_PASS_PROBE_H

#include "common/base/decls.h"
#include "media/coded/pass_check.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

struct pass_probe {
    enum pass_verdict verdict;
    struct coded_video coded; // `passes`: the verdict is PASS_YES
};

// `max_bps`: a film of more has PASS_HIGH_RATE. Blocks while it reads up to 40 s of video or 64 MB.
// Returns 0, or an error of source_open (logged).
int pass_probe_file(const char *path, int max_bps, struct media_guard *guard,
                    struct pass_probe *out);

// Where a film has IDR pictures, counted in frames.
struct pass_keys {
    int64_t frames; // of the film
    int count;
    int room;
    int64_t *at; // owned, ascending
};
// Reads the whole file, which takes about as long as copying it, and fills in `keys` as far as the
// film can be passed on. The caller frees it, also after an error. Returns as pass_probe_file, or
// ERR_NO_MEMORY.
int pass_probe_whole(const char *path, int max_bps, struct media_guard *guard,
                     struct pass_probe *out, struct pass_keys *keys);
void pass_keys_free(struct pass_keys *keys);

DECLS_END
#endif
