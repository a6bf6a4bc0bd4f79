// SPDX-License-Identifier: GPL-2.0-or-later
// Interprets a server's description: whether this program can play the stream, and its description
// for people.
#ifndef WEIR_PLAYER_SESSION_STREAM_DESCRIPTION_H
#define WEIR_PLAYER_SESSION_STREAM_DESCRIPTION_H

#include <stdio.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "player/options/play_options.h"

DECLS_BEGIN

enum { STREAM_DESCRIPTION_TEXT = 128 };

// Returns NULL if the stream can be played, otherwise the reason: `out`, of `cap` bytes.
// `has_display`: pictures can be shown.
const char *stream_description_refuse(const struct sdp *sdp, const struct play_options *options,
                                      bool has_display, char *out, size_t cap);
// Writes the source as on weir-send's command line, as far as known: "test 1280x720@30".
void stream_description_source(const struct sdp *sdp, char out[STREAM_DESCRIPTION_TEXT]);
// Prints a folder's list of files: one file a line, columns separated by tabs, without control
// characters for the terminal.
void stream_description_print_list(struct text list, FILE *to);

DECLS_END
#endif
