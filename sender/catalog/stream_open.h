// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a source by its name, as the options say: a file's stored ladder instead of the file where
// there is one that was made from it.
#ifndef WEIR_SENDER_CATALOG_STREAM_OPEN_H
#define WEIR_SENDER_CATALOG_STREAM_OPEN_H

#include "sender/catalog/stream.h"
#include "sender/options/options.h"

#ifdef __cplusplus
extern "C" {
#endif

// `name`: of a file or test picture. Reads the file, so it blocks, on any thread; `guard`, of which
// the stream takes a reference, ends that. stream_start follows. 0 or an error (logged);
// ERR_TIMED_OUT: the guard's deadline passed, ERR_CLOSED: it was stopped.
int stream_open(struct stream *s, struct media_guard *guard, const struct options *o,
                const char *name);

// The same, for at most `limit`, and then stream_start: for a program that has nothing else to do
// meanwhile. The opening has a thread of its own: after ERR_TIMED_OUT (logged) that may still be
// reading, and the caller has to end the program without freeing what is passed.
int stream_open_in_time(struct stream *s, uv_loop_t *loop, const struct options *o,
                        const char *name, usec_t limit);

#ifdef __cplusplus
}
#endif
#endif
