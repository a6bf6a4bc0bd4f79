// SPDX-License-Identifier: GPL-2.0-or-later
// One track of a group (stored_group.h) as bytes: what a proxy keeps, and what a SHA-256 proves to
// be the origin's. Of a size, for each frame in the order of places: place (u16) and length (u32),
// then the frame's bytes in Annex B. Of the audio, for each packet that a viewer gets with the
// group, in the order of positions: position (i64), length (u32), bytes. Integers are big endian.
// A track may lack frames or packets; then others can be merged into it.
#ifndef WEIR_MEDIA_STORED_STORED_TRACK_H
#define WEIR_MEDIA_STORED_STORED_TRACK_H

#include "common/base/decls.h"
#include "media/stored/stored_group.h"

DECLS_BEGIN

enum { STORED_DIGEST_BYTES = 32, STORED_TRACK_MAX = 256 << 20 }; // max. bytes of a track

struct stored_digest { // SHA-256
    uint8_t bytes[STORED_DIGEST_BYTES];
};

struct stored_bytes {
    uint8_t *data; // owned, from malloc; NULL: empty
    size_t len;
};

// Finds the frame's NAL units: each has a start code of four bytes. Returns 0 or ERR_MALFORMED.
int stored_track_nals(struct coded_frame *f);
// Returns true if a viewer gets the audio packet at this position with the group: it is heard with
// the group's frames. The first group also has what is before 0, the encoder's delay (RFC 7845,
// 4.2).
bool stored_track_hears(const struct stored_info *info, int64_t group, int64_t position);
// Writes what the group has of the track. Returns 0 or ERR_NO_MEMORY.
int stored_track_write(const struct stored_info *info, const struct stored_group *g, int track,
                       struct stored_bytes *out);
// Adds the frames or packets to the group, in places that are empty. Returns 0; ERR_MALFORMED: the
// bytes break their format or contradict the plan; ERR_NO_MEMORY.
int stored_track_read(const struct stored_info *info, struct stored_bytes from, int track,
                      struct stored_group *g);
// Joins two lists of one track; of what both have, that of `a`. Returns 0, ERR_MALFORMED or
// ERR_NO_MEMORY.
int stored_track_merge(int track, struct stored_bytes a, struct stored_bytes b,
                       struct stored_bytes *out);
// Returns true if the bytes have every frame of the plan; of audio: if no packet seems to be
// missing. Only the digest proves it.
bool stored_track_is_whole(const struct stored_info *info, int64_t group, int track,
                           struct stored_bytes b);
// Calls `missing` for each source frame of the film at which the track lacks a frame, or audio.
void stored_track_missing(const struct stored_info *info, int64_t group, int track,
                          struct stored_bytes b, void (*missing)(void *ctx, int64_t frame),
                          void *ctx);
// Returns 0 or ERR_NO_MEMORY.
int stored_track_digest(struct stored_bytes b, struct stored_digest *out);

DECLS_END
#endif
