// SPDX-License-Identifier: GPL-2.0-or-later
// What a server's description means to this program: whether the stream can be played, and how it
// is named to people.
#ifndef WEIR_PLAYER_SESSION_STREAM_DESCRIPTION_H
#define WEIR_PLAYER_SESSION_STREAM_DESCRIPTION_H

#include "common/wire/sdp.h"
#include "player/options/play_options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STREAM_DESCRIPTION_TEXT = 128 };

// Returns NULL if the stream can be played, else the reason: `out`, of `cap` bytes. `has_display`:
// pictures can be shown.
const char *stream_description_refuse(const struct sdp *sdp, const struct play_options *options,
                                      bool has_display, char *out, size_t cap);
// The source as weir-send's command line has it, as far as it is known: "test 1280x720@30".
void stream_description_source(const struct sdp *sdp, char out[STREAM_DESCRIPTION_TEXT]);
// Prints a folder's list of files, a line each with columns between tabs, without anything that a
// terminal would obey.
void stream_description_print_list(struct text list);

#ifdef __cplusplus
}
#endif
#endif
