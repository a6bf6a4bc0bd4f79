// SPDX-License-Identifier: GPL-2.0-or-later
// The thread of a capture source that opens the device while it is wanted, reads it, and converts
// its pictures to the source's size. The device's driver may hang: then the thread is abandoned.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_THREAD_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_THREAD_H

#include "common/base/decls.h"
#include "media/capture/capture_device.h"
#include "media/capture/capture_exchange.h"

DECLS_BEGIN

struct capture_thread;

// `given`: the mode of the last opening; another one is logged. Pictures become width x height.
// NULL: no memory, or no thread.
struct capture_thread *capture_thread_start(const struct capture_target *target,
                                            const struct capture_given *given, int width,
                                            int height);
// For the reader; valid until capture_thread_end.
struct capture_exchange *capture_thread_exchange(struct capture_thread *t);
// Ends the thread and frees it with its exchange. Returns false if the device hangs: the thread
// frees both if its call ever returns.
bool capture_thread_end(struct capture_thread *t);

// Logs "camera /dev/video0: 1280x720@30 MJPEG (requested 1920x1080@60)".
void capture_log_given(const struct capture_target *target, const struct capture_given *given);

DECLS_END
#endif
