// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the audio of one segment of a stored ladder. Blocks for some milliseconds.
#ifndef WEIR_SENDER_HTTP_FILM_AUDIO_H
#define WEIR_SENDER_HTTP_FILM_AUDIO_H

#include "common/base/decls.h"
#include "media/cmaf/cmaf_chunk.h"
#include "media/stored/stored_file.h"

DECLS_BEGIN

struct film_span {
    // The group before the segment's, its own, and the next one; NULL: there is none.
    const struct stored_group *groups[3];
    int64_t begin; // positions in the media, in samples
    int64_t end;
    int64_t delay; // added to all times
};

// Adds the Opus packets that begin within the span. Returns 0, ERR_FULL or ERR_NO_MEMORY.
int film_audio_opus(const struct film_span *s, struct cmaf_chunk *out);
// Adds the AAC packets that begin within the span. Their positions are multiples of AAC_FRAME in
// the media. Returns 0, ERR_FULL or ERR_NO_MEMORY.
int film_audio_aac(const struct film_span *s, int bitrate_bps, struct cmaf_chunk *out);

DECLS_END
#endif
