// SPDX-License-Identifier: GPL-2.0-or-later
// libavdevice, by which libav reads cameras, screens and sound cards. It brings some sixty other
// libraries and is loaded when the first device is opened, not with the program: that would take
// most of its start.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_LIBRARY_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_LIBRARY_H

#ifdef __cplusplus
extern "C" {
#endif

// Has libav know all devices; any thread, any time. NULL, or why it cannot (static).
const char *capture_library_load(void);

#ifdef __cplusplus
}
#endif
#endif
