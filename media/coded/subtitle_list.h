// SPDX-License-Identifier: GPL-2.0-or-later
// The subtitles of one track: events of ASS (common/wire/subtitle.h) with times, of at most
// SUBTITLE_LIST_CUES cues and SUBTITLE_LIST_BYTES. Pure.
#ifndef WEIR_MEDIA_SUBTITLE_LIST_H
#define WEIR_MEDIA_SUBTITLE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/subtitle.h"

DECLS_BEGIN

enum { SUBTITLE_LIST_CUES = 100000, SUBTITLE_LIST_BYTES = 16 << 20 };

// Writes what a script's head needs to be drawn: its resolution and its styles, without comments,
// fonts, pictures and events. Lines that find no room are left out. Returns false if some were.
bool subtitle_head(const char *data, size_t len, char out[SUBTITLE_HEAD]);
// Writes the event of a line as Matroska has it, ReadOrder,Layer,...: without ReadOrder, and what
// is no text is '?'. Returns false if it does not fit.
bool subtitle_event(const char *line, char out[SUBTITLE_BYTES]);

struct subtitle_list; // opaque

struct subtitle_list *subtitle_list_new(void);    // NULL: no memory
void subtitle_list_free(struct subtitle_list *l); // NULL is fine
// Adds a cue. One without a text, or that ends before it begins, is ignored. Returns 0, ERR_FULL or
// ERR_NO_MEMORY.
int subtitle_list_add(struct subtitle_list *l, const struct subtitle_cue *cue);
// Writes the first cues that are shown between `from` and `until`, in the order in which they
// begin; at most `max`. Returns their number. Each costs a time that grows as the logarithm of the
// list's length.
int subtitle_list_find(const struct subtitle_list *l, usec_t from, usec_t until,
                       struct subtitle_cue *out, int max);

DECLS_END
#endif
