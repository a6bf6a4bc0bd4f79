// SPDX-License-Identifier: GPL-2.0-or-later
// Subtitles on their way to a viewer: the parameter `subtitles` of GET_PARAMETER, and the cues of
// its response, one line each. Pure.
//   request:  subtitles: TRACK/FROM             FROM: milliseconds of the film
//   response: subtitle: BEGIN END TEXT          of each cue that is due in the SUBTITLE_AHEAD after
//                                               FROM; line ends in TEXT are "\n", backslashes "\\"
#ifndef WEIR_WIRE_SUBTITLE_H
#define WEIR_WIRE_SUBTITLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/usec.h"
#include "common/wire/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SUBTITLE_TRACKS = 8,
    SUBTITLE_NAME = 48,   // bytes of a track's name
    SUBTITLE_BYTES = 400, // bytes of a cue's text
    SUBTITLE_CUES = 16,   // max cues in a response
    SUBTITLE_LINE = 2 * SUBTITLE_BYTES + 48,
};
#define SUBTITLE_AHEAD (20 * USEC_PER_SEC)
#define SUBTITLE_LAST  (1000 * 3600 * USEC_PER_SEC) // no cue is later

struct subtitle_cue {
    usec_t begin; // of the film
    usec_t end;
    char text[SUBTITLE_BYTES]; // UTF-8, lines end in \n
};

struct subtitle_request {
    int track; // from 1
    usec_t from;
};

// Each encoder writes a line without its end. Returns its length (terminated), or ERR_FULL.
int subtitle_request_encode(const struct subtitle_request *r, char *out, size_t cap);
int subtitle_cue_encode(const struct subtitle_cue *c, char *out, size_t cap);
// Each decoder reads what follows the name. Returns false if it is malformed.
bool subtitle_request_decode(struct text value, struct subtitle_request *out);
bool subtitle_cue_decode(struct text value, struct subtitle_cue *out);

// Copies a text: each line is trimmed, empty ones go, and what is no text becomes '?' (utf8_copy).
// A line that has no room is left out.
void subtitle_clean(const char *text, char out[SUBTITLE_BYTES]);
// Writes the texts of the cues that are shown at `at`, one below the other; empty: none.
void subtitle_at(const struct subtitle_cue *cues, int count, usec_t at, char out[SUBTITLE_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
