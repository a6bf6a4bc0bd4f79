// SPDX-License-Identifier: GPL-2.0-or-later
// Writes HTTP Live Streaming playlists (RFC 8216bis), with the low-latency extension for live
// media.
//
// A media playlist lists all segments of its rendition, parts only of those that end within the
// last three target durations (6.2.2). There are no delta updates: a playlist that is shorter than
// their limit of six target durations (4.4.3.8, CAN-SKIP-UNTIL) has nothing to skip.
#ifndef WEIR_MEDIA_MANIFEST_HLS_PLAYLIST_H
#define WEIR_MEDIA_MANIFEST_HLS_PLAYLIST_H

#include "common/base/decls.h"
#include "media/manifest/manifest.h"

DECLS_BEGIN

// A player starts this many part durations before the end of the playlist. At least 2 is required,
// 3 recommended (4.4.3.8); with 2.5 parts of 0.5 s a picture is shown within 2 s of its capture.
#define HLS_PART_HOLD_BACK 2.5

// Players start with the variant that is listed first (RFC 8216bis, 4.4.6.2 lets the order stand
// for the server's preference). It is the best one whose bandwidth, audio included, is at most
// this: its first segment of 2 s arrives within a second over 1 Mbit/s.
#define HLS_START_BPS 500000

// Write a playlist to `out`. Return its length, or ERR_FULL.

// The multivariant playlist: each video rendition, once with each audio rendition.
int hls_multivariant_playlist(const struct manifest *m, char *out, size_t cap);
int hls_media_playlist(const struct manifest *m, int rendition, char *out, size_t cap);
// Returns the buffer that suffices for a media playlist of so many segments.
size_t hls_media_playlist_room(const struct manifest *m, int segments);
// Returns EXT-X-TARGETDURATION.
int hls_target_duration(const struct manifest *m);

DECLS_END
#endif
