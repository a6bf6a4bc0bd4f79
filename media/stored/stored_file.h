// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a stored ladder, group by group. It blocks: one thread at a time, not a loop's.
#ifndef WEIR_MEDIA_STORED_STORED_FILE_H
#define WEIR_MEDIA_STORED_STORED_FILE_H

#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "media/source/media_guard.h"
#include "media/stored/policy/stored_plan.h"
#include "media/stored/policy/stored_tags.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stored_info {
    struct sdp sdp; // title, duration and ladder; its sprop is of no size
    struct stored_origin origin;
    struct stored_plan plan;
    bool audio;
    struct { // for the SDP, of each size
        char sprop[SDP_MAX_PARAMETER_SETS];
        char profile[8];
    } sizes[LADDER_MAX_SIZES];
};

enum { STORED_MAX_AUDIO = 1024 }; // packets of a group

struct stored_group { // all frames of a stretch of media
    int64_t index;
    int frames; // of the source's
    size_t bytes;
    struct coded_frame *at[LADDER_MAX_SIZES][STORED_MAX_GOP]; // owned; NULL: the size has none
    int audio_count;
    struct coded_audio *audio[STORED_MAX_AUDIO]; // owned; ascending positions within the media
};

struct stored_file;

// Is it one? Looks at the name only.
bool stored_file_is(const char *path);
// `guard`: as media_input_open. NULL: logged. *err: as media_input_open; ERR_UNSUPPORTED: not a
// stored ladder, or a broken one.
struct stored_file *stored_file_open(const char *path, struct media_guard *guard, int *err);
void stored_file_free(struct stored_file *f); // NULL is fine
const struct stored_info *stored_file_info(const struct stored_file *f);
int64_t stored_file_groups(const struct stored_file *f);
// *out: allocated anew. 0, ERR_IO (logged), ERR_NO_MEMORY.
int stored_file_read(struct stored_file *f, int64_t group, struct stored_group **out);
void stored_group_free(struct stored_group *g); // NULL is fine

#ifdef __cplusplus
}
#endif
#endif
