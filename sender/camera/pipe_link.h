// SPDX-License-Identifier: GPL-2.0-or-later
// What a program writes into a pipe, the standard input or a FIFO, as the media of a camera: a
// container or a bare stream that libavformat reads (media_input.h), of which nothing is encoded.
// Its pictures come out at the pace of their time stamps (pipe_pace.h): until they are due nothing
// more is read, so the writer waits. Audio is passed on if it is Opus, and else comes as L16.
//
// The writer may be hostile: a frame has 4 MB at most, what waits 16 MB and 256 items, and a stream
// without pictures ends after 64 MB. A writer that is silent is waited for without a limit.
//
// One thread, which reads and waits; its messages go to the loop.
#ifndef WEIR_SENDER_CAMERA_PIPE_LINK_H
#define WEIR_SENDER_CAMERA_PIPE_LINK_H

#include <uv.h>

#include "common/base/decls.h"
#include "sender/camera/camera_link.h"

DECLS_BEGIN

struct pipe_link_config {
    uv_loop_t *loop;                   // borrowed
    const char *path;                  // "-", or a FIFO's; strings are borrowed until the end
    const char *title;                 // for the log
    bool has_audio;                    // false: its audio is not read
    const struct camera_link_ops *ops; // static
    // The writer has written its first bytes, or has ended without any.
    void (*on_begun)(void *ctx, usec_t now);
    void *ctx; // borrowed
};

struct camera_link *pipe_link_new(const struct pipe_link_config *config); // NULL: no memory

DECLS_END
#endif
