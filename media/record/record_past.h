// SPDX-License-Identifier: GPL-2.0-or-later
// Reads recordings (record_file.h) from a time on, over the ends of files, and the file that is
// being written, too. Finds the file by the date in its name, or, where that does not tell it, by
// its tag in UTC, and the key frame by bisection over the file's clusters: some 20 small reads in
// any file.
//
// All functions block as the disk does.
#ifndef WEIR_MEDIA_RECORD_RECORD_PAST_H
#define WEIR_MEDIA_RECORD_RECORD_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RECORD_PAST_GROUP_MAX = 64 << 20 }; // bytes

struct record_past_item {
    bool is_audio;
    bool key;
    usec_t wall;   // wall clock at capture
    uint8_t *data; // in the group's bytes; of a frame: NAL units with start codes of 4 bytes
    size_t len;
};

// What was recorded up to the next key frame, or up to the file's end for now, in decoding order.
struct record_group {
    uint8_t *bytes;                 // owned
    struct record_past_item *items; // owned
    int count;
};
void record_group_free(struct record_group *g); // NULL is fine

struct record_past;

struct record_past *record_past_new(const char *pattern); // record_name.h; copied. NULL: no memory
void record_past_free(struct record_past *p);             // NULL is fine
// Goes to the newest key frame that was captured up to `wall`; if there is none, to the oldest one.
// Returns 0, ERR_NOT_FOUND: there is no recording; ERR_NO_MEMORY.
int record_past_find(struct record_past *p, usec_t wall);
// Returns when the file begins that is being read.
usec_t record_past_file(const struct record_past *p);
// Reads the next group, which the caller owns. Returns 0; ERR_AGAIN: nothing follows yet;
// ERR_NOT_FOUND, ERR_NO_MEMORY.
int record_past_read(struct record_past *p, struct record_group **out);

enum { RECORD_SPAN_GAP = 2 * 1000 * 1000 }; // us; a shorter gap is none
// Returns false to end the listing.
typedef bool record_span_fn(void *ctx, usec_t from, usec_t to);
// Calls `each` for each span of time between `from` and `to` that was recorded without a gap, the
// oldest first. The end of a file is read only if the next one begins `apart` or more after it
// began: gaps of files that follow each other sooner are not looked for. Returns 0, or ERR_END:
// `each` returned false.
int record_past_spans(struct record_past *p, usec_t from, usec_t to, usec_t apart,
                      record_span_fn *each, void *ctx);

DECLS_END
#endif
