// SPDX-License-Identifier: GPL-2.0-or-later
// An HLS playlist as a viewer reads it (RFC 8216; parts, blocking reload and hold-back:
// draft-pantos-hls-rfc8216bis). No I/O.
#ifndef WEIR_BENCH_EDGE_PLAYLIST_H
#define WEIR_BENCH_EDGE_PLAYLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

enum {
    PLAYLIST_URL_BYTES = 256, // of one URL's path, with its NUL
    PLAYLIST_ITEMS = 1024,    // max segments and parts
};

// A segment, or a part of one.
struct playlist_item {
    int64_t msn;      // media sequence number of the segment
    int part;         // index in its segment; 0 for a whole segment
    bool independent; // begins with a key frame
    usec_t at;        // EXT-X-PROGRAM-DATE-TIME of its begin, microseconds since 1970
    usec_t duration;
    char url[PLAYLIST_URL_BYTES]; // path on the server
};

struct playlist {
    // The first `count` items in order of (msn, part). A segment whose parts are listed has an item
    // a part if the reader wants parts, else one if it is complete.
    struct playlist_item items[PLAYLIST_ITEMS];
    int count;
    int64_t next_msn; // the segment and part that follow the listed ones
    int next_part;
    usec_t target, part_target; // part_target 0: the playlist has no parts
    usec_t hold_back, part_hold_back;
    bool can_block_reload;
    bool ended;                       // EXT-X-ENDLIST
    char map[PLAYLIST_URL_BYTES];     // initialisation segment; empty: none
    char variant[PLAYLIST_URL_BYTES]; // of a multivariant playlist: that of the lowest BANDWIDTH
};

// Reads a playlist that was fetched from the path `url`. Returns 0 or ERR_MALFORMED: no playlist,
// a URL that is too long or on another server, too many items, or a segment without a duration or
// a date.
int playlist_decode(struct playlist *p, const char *text, size_t len, const char *url, bool parts);
// Returns the first item that is not before (msn, part); NULL if there is none.
const struct playlist_item *playlist_find(const struct playlist *p, int64_t msn, int part);
// Returns the end of the last item, microseconds since 1970; 0 if there is none.
usec_t playlist_end(const struct playlist *p);

#endif
