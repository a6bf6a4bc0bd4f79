// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a source by its name and the options. If a file has a usable stored ladder (--prepare),
// that is opened instead of the file.
#ifndef WEIR_SENDER_CATALOG_STREAM_OPEN_H
#define WEIR_SENDER_CATALOG_STREAM_OPEN_H

#include <sys/stat.h>

#include "common/base/decls.h"
#include "media/stored/stored_group.h"
#include "sender/options/options.h"
#include "server/session/stream.h"

DECLS_BEGIN

// Any thread. Opens `name`: a file, a device or the test picture; or the synthetic media that the
// options describe. Blocks while it reads; `guard`,
// of which the stream takes a reference, can end that. The caller then calls stream_start. Returns
// 0 or an error (logged); ERR_TIMED_OUT after the guard's deadline, ERR_CLOSED after its stop.
int stream_open(struct stream *s, struct media_guard *guard, const struct options *o,
                const char *name);

enum { STREAM_OPEN_WHY = 160 };
// Calls stream_open, and writes why it failed for people elsewhere, who do not know the server's
// files.
int stream_open_why(struct stream *s, struct media_guard *guard, const struct options *o,
                    const char *name, char why[STREAM_OPEN_WHY]);

// Returns true if the source's name is that of a file, which need not exist.
bool stream_open_is_file(const struct options *o);

// Returns why a stored ladder cannot be used for its original file with these options, a static
// text; NULL: it can.
const char *stream_open_unfit(const struct stored_info *info, const struct stat *original,
                              const struct options *o);

// Returns true if the audio of a stored ladder is served with these options.
bool stream_open_wants_audio(const struct options *o);

// Calls stream_open, for at most `limit`, and stream_start; for a program that has nothing else to
// do. stream_open runs on a thread of its own. After ERR_TIMED_OUT (logged) the thread may still
// read, so the caller must end the program without freeing the arguments.
int stream_open_in_time(struct stream *s, uv_loop_t *loop, const struct options *o,
                        const char *name, usec_t limit);

// Returns why the options have the video of a file encoded again; NULL: they do not.
const char *stream_open_must_encode(const struct options *o);

DECLS_END
#endif
