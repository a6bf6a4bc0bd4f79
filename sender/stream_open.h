// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a source by its name, as the options say: a file's stored ladder instead of the file where
// there is one that was made from it.
#ifndef WEIR_SENDER_STREAM_OPEN_H
#define WEIR_SENDER_STREAM_OPEN_H

#include "sender/options.h"
#include "sender/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

// `name`: of a file or test picture. 0 or an error (logged).
int stream_open(struct stream *s, uv_loop_t *loop, const struct options *o, const char *name);

#ifdef __cplusplus
}
#endif
#endif
