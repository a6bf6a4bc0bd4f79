// SPDX-License-Identifier: GPL-2.0-or-later
// The capture devices of this machine.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_LIST_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// The first camera, or else the first that cannot be opened; false: there is none.
bool capture_first_camera(char *out, size_t cap);
// Cameras with what they offer, and X displays; says so when there are none.
void capture_list_print(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
