// SPDX-License-Identifier: GPL-2.0-or-later
// Absolute times of RTSP (RFC 2326, 3.7; RFC 7826, 4.4.3): "20261124T113000.25Z". UTC, in seconds
// since 1970.
#ifndef WEIR_WIRE_UTC_TIME_H
#define WEIR_WIRE_UTC_TIME_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/scan.h"

DECLS_BEGIN

enum { UTC_TIME_TEXT = 40 }; // bytes of a text, with its end

// Reads a time of the years 1970 to 9999 and moves the cursor past it. Returns 0 or ERR_MALFORMED.
int utc_time_decode(struct scan *s, double *seconds);
// Writes a time with milliseconds. Times that utc_time_decode does not read are brought into its
// range.
void utc_time_encode(double seconds, char out[UTC_TIME_TEXT]);

DECLS_END
#endif
