// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the parts of a stored ladder into one Matroska file with a video track per size, and its
// audio tracks.
#ifndef WEIR_MEDIA_STORED_STORED_MUX_H
#define WEIR_MEDIA_STORED_STORED_MUX_H

#include "common/base/decls.h"
#include "media/stored/policy/stored_plan.h"
#include "media/stored/policy/stored_tags.h"

DECLS_BEGIN

struct stored_mux {
    const struct sdp *sdp; // borrowed; with the ladder; its sprop is not used
    const struct stored_plan *plan;
    struct stored_origin origin;
    const char *folder;
    int64_t groups;
    int audio_count; // of the audio tracks
    struct {
        int64_t part;     // stored_parts.h
        const char *name; // "eng, Commentary"; may be empty
    } audio[SDP_AUDIO_TRACKS];
    const char *path; // the output; written under PATH.new, then renamed
    // The film's table (film_table.h in stream/abr), which is attached to the file; NULL: none.
    const uint8_t *table;
    size_t table_bytes;
};

int stored_mux_run(const struct stored_mux *m); // 0, ERR_IO, ERR_NO_MEMORY (logged)

DECLS_END
#endif
