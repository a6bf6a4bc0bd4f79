// SPDX-License-Identifier: GPL-2.0-or-later
// A camera (V4L2) or an X display, read through libavdevice. One thread at a time. Reading never
// blocks; opening takes as long as the driver needs.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_DEVICE_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/picture/geometry.h"

DECLS_BEGIN

struct AVFrame;

struct capture_target {
    bool screen;
    char name[128]; // /dev/video0, or :0
    bool any;       // the user named no camera: the first one is used
    struct geometry requested;
    bool is_requested; // the user requested a geometry; if false, `requested` is a default
};

struct capture_given {
    int width;
    int height;
    struct fps fps;
    char format[16];
};

struct capture_device;

// On failure returns NULL and writes a sentence to `reason`, with the modes on offer if the device
// refused one. *err is then ERR_NOT_FOUND, ERR_UNSUPPORTED, ERR_IO or ERR_NO_MEMORY.
struct capture_device *capture_device_open(const struct capture_target *target,
                                           struct capture_given *given, char *reason, size_t cap,
                                           int *err);
void capture_device_close(struct capture_device *d); // NULL is fine
// Reads the next picture without blocking. *stamp: when it was taken, on the monotonic clock.
// Returns 0; ERR_AGAIN if there is no picture yet; ERR_IO if the device is gone, with a sentence in
// `reason`.
int capture_device_read(struct capture_device *d, struct AVFrame *out, usec_t *stamp, char *reason,
                        size_t cap);

DECLS_END
#endif
