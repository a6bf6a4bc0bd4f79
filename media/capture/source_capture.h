// SPDX-License-Identifier: GPL-2.0-or-later
// A camera or a screen as a source of pictures.
#ifndef WEIR_MEDIA_CAPTURE_SOURCE_CAPTURE_H
#define WEIR_MEDIA_CAPTURE_SOURCE_CAPTURE_H

#include "common/base/decls.h"
#include "media/picture/geometry.h"
#include "media/source/source.h"

DECLS_BEGIN

// Returns true if `name` is `camera:[DEVICE]` or `screen:[DISPLAY]`.
bool source_is_capture(const char *name);
// `name`: `camera:[DEVICE]` or `screen:[DISPLAY]`. `requested`: size and rate; NULL means
// 1280x720@30 for a camera, and the whole screen at 30 fps for a display. Logs the size that the
// device gives. On failure logs the reason and returns NULL; *err as for source_open, or ERR_IO. A
// device that fails later is reopened until it works. Meanwhile the source repeats the last
// picture, then shows a card with the reason.
struct source *source_capture_open(const char *name, const struct geometry *requested, int *err);

DECLS_END
#endif
