// SPDX-License-Identifier: GPL-2.0-or-later
// A camera or a screen as a source of pictures.
#ifndef WEIR_MEDIA_CAPTURE_SOURCE_CAPTURE_H
#define WEIR_MEDIA_CAPTURE_SOURCE_CAPTURE_H

#include "media/picture/geometry.h"
#include "media/source/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns true if `name` is `camera:[DEVICE]` or `screen:[DISPLAY]`.
bool source_is_capture(const char *name);
// `name`: `camera:[DEVICE]` or `screen:[DISPLAY]`. `requested`: size and rate; NULL: 1280x720@30 of
// a camera, all of a screen at 30 fps. The size that the device gives is logged. NULL: logged, *err
// as source_open, or ERR_IO. A device that fails later is opened again until it works; meanwhile
// its last picture stays, then a card shows the reason.
struct source *source_capture_open(const char *name, const struct geometry *requested, int *err);

#ifdef __cplusplus
}
#endif
#endif
