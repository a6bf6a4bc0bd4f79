// SPDX-License-Identifier: GPL-2.0-or-later
// What a stored ladder tells of itself, as two tags of its Matroska file: what it was made from,
// and the description that viewers get (sdp.h), which holds the levels.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_TAGS_H
#define WEIR_MEDIA_STORED_POLICY_STORED_TAGS_H

#include "common/wire/sdp.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STORED_TAG_ORIGIN "WEIR_ORIGIN"
#define STORED_TAG_SDP    "WEIR_SDP"
#define STORED_SUFFIX     ".weir.mkv" // behind the original's name

enum { STORED_TAG_MAX = 128 };

struct stored_origin {
    int64_t bytes;  // of the original
    int64_t mtime;  // seconds
    int64_t frames; // of the media at the source's rate, those that fill up the end included
};

// "weir-stored/2 bytes=123 mtime=456 frames=789". The length, or ERR_FULL.
int stored_origin_encode(const struct stored_origin *o, char *out, size_t cap);
int stored_origin_decode(const char *text, struct stored_origin *o); // 0 or ERR_MALFORMED

// Was it made from a file of this size and time of change?
static inline bool stored_origin_is_of(const struct stored_origin *o, int64_t bytes, int64_t mtime)
{
    return o->bytes == bytes && o->mtime == mtime;
}

#ifdef __cplusplus
}
#endif
#endif
