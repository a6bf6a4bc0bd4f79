// SPDX-License-Identifier: GPL-2.0-or-later
// A media file opened by libavformat within limits. The file may be hostile:
//
// - libavformat reads this one file through the callbacks here and cannot open another one.
// - Only containers that hold their media themselves are allowed: no playlist, no list of parts.
// - Only a regular file is opened, and none that the guard's folder does not contain
// (file_below.h); or a pipe that the user of the program names.
// - Each read checks the guard, so a stop or a deadline ends any operation of libavformat.
// - Each step may read a limited number of bytes, so a file without media ends soon.
// - libav allocates at most 256 MB at once (av_max_alloc, for the whole process): an index of a few
//   bytes that claims 85 million frames fails. Several such allocations add up.
#ifndef WEIR_MEDIA_SOURCE_MEDIA_INPUT_H
#define WEIR_MEDIA_SOURCE_MEDIA_INPUT_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "common/base/decls.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

enum { MEDIA_INPUT_REASON = 160 }; // bytes of a buffer for a reason

struct media_input;

// Opens `path` and reads its header. `only`: name of the only accepted format; NULL accepts all
// allowed formats. `guard`: the input takes a reference; NULL means no deadline and no stop. On
// failure returns NULL, writes a sentence for the user to `reason`, and sets *err to ERR_NOT_FOUND,
// ERR_UNSUPPORTED, ERR_TIMED_OUT, ERR_CLOSED or ERR_NO_MEMORY.
struct media_input *media_input_open(const char *path, const char *only, struct media_guard *guard,
                                     char reason[MEDIA_INPUT_REASON], int *err);
// Returns true if `path` is "-", the standard input, or names a FIFO.
bool media_input_is_pipe(const char *path);
// The same of a pipe, which has no positions to seek to. Takes over `fd`, even on failure. Reading
// waits for the writer until the guard ends that.
struct media_input *media_input_open_pipe(int fd, struct media_guard *guard,
                                          char reason[MEDIA_INPUT_REASON], int *err);
// Waits until the pipe can be read without waiting, also its end. Returns 0, or an error of the
// guard.
int media_input_await_pipe(int fd, struct media_guard *guard);
void media_input_free(struct media_input *in); // NULL is fine
AVFormatContext *media_input_format(const struct media_input *in);
bool media_input_is_bare(const struct media_input *in); // a stream without a container
bool media_input_stat(const struct media_input *in, struct stat *st); // of the open file
// Reads until the streams are known (avformat_find_stream_info). Returns 0 or an error of
// media_input_open.
int media_input_probe(struct media_input *in, char reason[MEDIA_INPUT_REASON]);
// The file's tracks are its first streams, so many; later streams may continue them
// (stream_follow.h). Valid after media_input_probe.
int media_input_tracks(const struct media_input *in);
// Returns the track of a stream of which a packet was read; -1: none.
int media_input_track(const struct media_input *in, int stream);
// Reads the next packet; see av_read_frame. AVERROR_EXIT: the guard ended it, or so much was read
// without one that there is none.
int media_input_read(struct media_input *in, AVPacket *packet);
// Seeks; see av_seek_frame. `stream`: a track, or -1.
int media_input_seek(struct media_input *in, int stream, int64_t at, int flags);
// Returns true if a format may be opened. `format`: the name of a libavformat demuxer, which may be
// a list ("mov,mp4,m4a").
bool media_input_allows(const char *format);
// Returns true if libavformat's input format has one still picture ("png_pipe").
bool media_input_is_picture(const char *format);

DECLS_END
#endif
