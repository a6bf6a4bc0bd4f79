// SPDX-License-Identifier: GPL-2.0-or-later
// A camera (V4L2) or an X display, read through libavdevice. One thread at a time. Nothing here
// waits for a picture; opening takes as long as the driver does.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_DEVICE_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/usec.h"
#include "media/picture/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct AVFrame;

struct capture_target {
    bool screen;
    char name[128]; // /dev/video0, or :0
    bool any;       // a camera that was not named: the first there is
    struct geometry asked;
    bool is_asked; // else `asked` is what is tried for want of better
};

struct capture_given {
    int width;
    int height;
    struct fps fps;
    char format[16];
};

struct capture_device;

// NULL: `why` says it in words, with what the device offers if that is the point. *err:
// ERR_NOT_FOUND, ERR_UNSUPPORTED, ERR_IO, ERR_NO_MEMORY.
struct capture_device *capture_device_open(const struct capture_target *target,
                                           struct capture_given *given, char *why, size_t cap,
                                           int *err);
void capture_device_close(struct capture_device *d); // NULL is fine
// The next picture, if there is one; *stamp: when it was taken, on the monotonic clock. 0;
// ERR_AGAIN: not yet; ERR_IO: the device is gone, `why` says how.
int capture_device_read(struct capture_device *d, struct AVFrame *out, usec_t *stamp, char *why,
                        size_t cap);

#ifdef __cplusplus
}
#endif
#endif
