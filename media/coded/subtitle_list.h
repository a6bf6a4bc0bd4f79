// SPDX-License-Identifier: GPL-2.0-or-later
// The subtitles of one track: plain text with times, of at most SUBTITLE_LIST_CUES cues. Makes
// plain text of what containers and SubRip files (.srt) hold: colours, fonts and places are left
// out. Pure.
#ifndef WEIR_MEDIA_SUBTITLE_LIST_H
#define WEIR_MEDIA_SUBTITLE_LIST_H

#include <stddef.h>

#include "common/wire/subtitle.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SUBTITLE_LIST_CUES = 20000, SUBTITLE_LIST_BYTES = 1 << 20 };

enum subtitle_format {
    SUBTITLE_FORMAT_NONE,
    SUBTITLE_FORMAT_PLAIN, // SubRip, WebVTT: tags in <>, and of SubRip {\an8}
    SUBTITLE_FORMAT_ASS,   // a Dialogue line of Matroska: eight fields, then text with {} and \N
    SUBTITLE_FORMAT_MOV,   // 3GPP timed text: two bytes with its length, then the text
};

// Writes the text of a container's packet. It may be empty.
void subtitle_plain(enum subtitle_format format, const char *data, size_t len,
                    char out[SUBTITLE_BYTES]);

struct subtitle_list; // opaque

struct subtitle_list *subtitle_list_new(void);    // NULL: no memory
void subtitle_list_free(struct subtitle_list *l); // NULL is fine
// Adds a cue. One without a text, or that ends before it begins, is ignored. Returns 0, ERR_FULL or
// ERR_NO_MEMORY.
int subtitle_list_add(struct subtitle_list *l, const struct subtitle_cue *cue);
// Adds the cues of a SubRip file. What is malformed is skipped up to the next time line. Returns
// the number of cues, or ERR_FULL or ERR_NO_MEMORY.
int subtitle_list_add_srt(struct subtitle_list *l, const char *data, size_t len);
// Writes the first cues that are shown between `from` and `until`, in the order in which they
// begin; at most `max`. Returns their number. Each costs a time that grows as the logarithm of the
// list's length.
int subtitle_list_find(const struct subtitle_list *l, usec_t from, usec_t until,
                       struct subtitle_cue *out, int max);

#ifdef __cplusplus
}
#endif
#endif
