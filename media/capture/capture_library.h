// SPDX-License-Identifier: GPL-2.0-or-later
// Loads libavdevice, which reads cameras, screens and audio devices. It depends on some sixty other
// libraries. Loading it with the program would take most of the program's start-up time, so it is
// loaded when the first device is opened.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_LIBRARY_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_LIBRARY_H

#include "common/base/decls.h"

DECLS_BEGIN

// Registers all devices with libav. Thread-safe; may be called more than once. Returns NULL, or the
// reason for the failure (static).
const char *capture_library_load(void);

DECLS_END
#endif
