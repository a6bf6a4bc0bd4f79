// SPDX-License-Identifier: GPL-2.0-or-later
// The two tags of a stored ladder's Matroska file: its origin, and the session description for
// viewers (sdp.h), which contains the levels.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_TAGS_H
#define WEIR_MEDIA_STORED_POLICY_STORED_TAGS_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

#define STORED_TAG_ORIGIN "WEIR_ORIGIN"
#define STORED_TAG_SDP    "WEIR_SDP"
#define STORED_TAG_OWN    "WEIR_OWN" // the largest size is the film's own video; else there is none
#define STORED_TABLE_NAME                                                                          \
    "weir-film-table.bin"         // of an attachment: the film's table, if there is one
#define STORED_SUFFIX ".weir.mkv" // appended to the original's name

enum { STORED_TAG_MAX = 128 };

struct stored_origin {
    int64_t bytes;  // size of the original
    int64_t mtime;  // modification time of the original, in seconds
    int64_t frames; // source frames of the media, including those that pad its end
};

// Writes "weir-stored/2 bytes=123 mtime=456 frames=789". Returns the length, or ERR_FULL.
int stored_origin_encode(const struct stored_origin *o, char *out, size_t cap);
int stored_origin_decode(const char *text, struct stored_origin *o); // 0 or ERR_MALFORMED

// Returns true if the ladder was made from a file of this size and modification time.
static inline bool stored_origin_is_of(const struct stored_origin *o, int64_t bytes, int64_t mtime)
{
    return o->bytes == bytes && o->mtime == mtime;
}

DECLS_END
#endif
