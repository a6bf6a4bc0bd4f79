// SPDX-License-Identifier: GPL-2.0-or-later
// Finds where a media file ends whose header does not say so, as recorders write it that cannot go
// back (Matroska without a duration).
#ifndef WEIR_MEDIA_SOURCE_MEDIA_END_H
#define WEIR_MEDIA_SOURCE_MEDIA_END_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

// Reads the file's last 64 MB at most. `guard`: see media_input_open. Returns the end of the last
// packets in the file's own time; USEC_NEVER: there is none with a time stamp, or the format cannot
// be read from any place on (MP4).
usec_t media_end_find(const char *path, struct media_guard *guard);

DECLS_END
#endif
