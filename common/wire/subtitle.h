// SPDX-License-Identifier: GPL-2.0-or-later
// Subtitles on their way to a viewer: the parameter `subtitles` of GET_PARAMETER, and the lines of
// its response. All are Advanced SubStation Alpha (ASS), whatever the film holds. Pure.
//   request:  subtitles: TRACK/FROM             FROM: milliseconds of the film
//             subtitles: TRACK/FROM/head        the response begins with the head
//   response: ass-head: LINE                    a line of the script's head: its resolution, styles
//             ass: BEGIN END EVENT              of each cue that is due in the SUBTITLE_AHEAD after
//                                               FROM; EVENT: the fields of a Dialogue line in the
//                                               order of Matroska, from Layer on:
//                                               Layer,Style,Name,MarginL,MarginR,MarginV,Effect,Text
#ifndef WEIR_WIRE_SUBTITLE_H
#define WEIR_WIRE_SUBTITLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum {
    SUBTITLE_TRACKS = 8,
    SUBTITLE_NAME = 48,    // bytes of a track's name
    SUBTITLE_BYTES = 3000, // bytes of a cue's event
    SUBTITLE_CUES = 64,    // max cues in a response
    SUBTITLE_HEAD = 12000, // bytes of a head
    SUBTITLE_LINE = SUBTITLE_BYTES + 48,
};
#define SUBTITLE_AHEAD (20 * USEC_PER_SEC)
#define SUBTITLE_LAST  (1000 * 3600 * USEC_PER_SEC) // no cue is later

struct subtitle_cue {
    usec_t begin; // of the film
    usec_t end;
    char text[SUBTITLE_BYTES]; // EVENT; UTF-8, one line
};

// What a viewer knows of a track.
struct subtitle_set {
    char head[SUBTITLE_HEAD]; // UTF-8, each line ends in \n; empty: not known
    int count;
    struct subtitle_cue cues[SUBTITLE_CUES];
};

struct subtitle_request {
    int track; // from 1
    usec_t from;
    bool head; // the response begins with the head
};

// Each encoder writes a line without its end. Returns its length (terminated), or ERR_FULL.
int subtitle_request_encode(const struct subtitle_request *r, char *out, size_t cap);
int subtitle_cue_encode(const struct subtitle_cue *c, char *out, size_t cap);
// Each decoder reads what follows the name. Returns false if it is malformed.
bool subtitle_request_decode(struct text value, struct subtitle_request *out);
bool subtitle_cue_decode(struct text value, struct subtitle_cue *out);

// Writes the response's lines, each with CR LF, as many as have room; `out` is terminated. `head`
// may be empty. Returns the length.
size_t subtitle_set_encode(const char *head, const struct subtitle_cue *cues, int count, char *out,
                           size_t cap);
// Takes the lines of a response. Its cues replace those of `out`; so does its head, if it has one.
void subtitle_set_decode(struct text body, struct subtitle_set *out);

DECLS_END
#endif
