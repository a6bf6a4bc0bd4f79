// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the media presentation description of MPEG-DASH (ISO/IEC 23009-1), over the same segments
// as the playlists: SegmentTimeline with $Number$, one adaptation set for the video and one for
// each audio rendition. Media time 0 is at availabilityStartTime.
#ifndef WEIR_MEDIA_MANIFEST_DASH_MANIFEST_H
#define WEIR_MEDIA_MANIFEST_DASH_MANIFEST_H

#include "common/base/decls.h"
#include "media/manifest/manifest.h"

DECLS_BEGIN

// Writes the MPD with the renditions' complete segments. `published`: the wall clock. Returns the
// length, or ERR_FULL.
int dash_manifest(const struct manifest *m, usec_t published, char *out, size_t cap);
// Returns the buffer that suffices for so many segments of each rendition.
size_t dash_manifest_room(const struct manifest *m, int segments);

DECLS_END
#endif
