// SPDX-License-Identifier: GPL-2.0-or-later
// What a client gets of a stream's recordings: a piece of them as MP4 (record_clip.h), or the list
// of what was recorded, as JSON. A thread of its own reads the disk, CLIP_AHEAD pieces ahead; the
// loop never waits for it. A disk that does not respond holds up this client only, and its thread
// is left behind with what it owns. Loop thread only.
//
//   The list: {"spans": [[FROM, TO], ...]}, the oldest first, in seconds since 1970.
#ifndef WEIR_SERVER_CLIP_CLIP_READER_H
#define WEIR_SERVER_CLIP_CLIP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    CLIP_READERS_MAX = 4, // max clips in the process, and max lists; hung threads count
    CLIP_AHEAD = 2,       // pieces that wait
    CLIP_LIST_MAX = 20000 // spans of a list; then it ends
};

struct clip_reader; // opaque

struct clip_order {
    bool lists;      // what was recorded; else the media
    usec_t from, to; // since 1970
    usec_t apart;    // of a list: record_past_spans
};

// `pattern`: record_name.h; copied. Returns 0; ERR_FULL: there are too many; ERR_NO_MEMORY.
int clip_reader_new(const char *pattern, const struct clip_order *order, struct clip_reader **out);
void clip_reader_free(struct clip_reader *r); // does not wait for the disk. NULL is fine
// Gets the next piece, which the caller frees with free(). Returns 0; ERR_AGAIN: not yet, look
// again later; ERR_END: all were handed out; an error of record_clip_next.
int clip_reader_poll(struct clip_reader *r, uint8_t **out, size_t *bytes);

DECLS_END
#endif
