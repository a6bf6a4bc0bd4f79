// SPDX-License-Identifier: GPL-2.0-or-later
// One group of a stored ladder (stored_plan.h) in memory: all its frames and its audio; and what
// describes the whole ladder. Any thread, one at a time.
#ifndef WEIR_MEDIA_STORED_STORED_GROUP_H
#define WEIR_MEDIA_STORED_STORED_GROUP_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "media/stored/policy/stored_plan.h"
#include "media/stored/policy/stored_tags.h"

DECLS_BEGIN

struct stored_info {
    struct sdp sdp; // title, duration and ladder; its sprop is not used
    struct stored_origin origin;
    // Identifies the file's bytes: the value of the SDP's x-weir-origin (sdp.h). Empty: unknown.
    char validator[SDP_MAX_VALIDATOR];
    struct stored_plan plan;
    bool has_own; // the largest size is the film's own video (stored_pass.h)
    bool audio;
    // The audio tracks, of which the first is `audio`; 0: none. Proxies keep that one only.
    int audio_track_count;
    char audio_tracks[SDP_AUDIO_TRACKS][SDP_TRACK_NAME];
    struct { // each size's parameters for the SDP
        char sprop[SDP_MAX_PARAMETER_SETS];
        char profile[8];
    } sizes[LADDER_MAX_SIZES];
};

enum {
    STORED_MAX_AUDIO = 1024, // max. audio packets of a group
    // A track of a group: the frames of one size, by its number, or the audio.
    STORED_AUDIO_TRACK = LADDER_MAX_SIZES,
    STORED_TRACKS = LADDER_MAX_SIZES + 1,
};

struct stored_audio_list {
    int count;
    struct coded_audio *at[STORED_MAX_AUDIO]; // owned; positions in the media ascend
};

struct stored_group { // all frames of one group (stored_plan.h)
    int64_t index;
    int frames; // number of source frames
    size_t bytes;
    struct coded_frame
        *at[LADDER_MAX_SIZES][STORED_MAX_GOP]; // owned, by size and place; NULL: no frame
    int audio_count;
    struct coded_audio *audio[STORED_MAX_AUDIO]; // owned; positions in the media ascend
    struct stored_audio_list other_audio[SDP_AUDIO_TRACKS - 1]; // of the further tracks
};

int64_t stored_info_groups(const struct stored_info *info); // number of groups
// Returns the packets of an audio track, from 0; borrowed.
struct coded_audio *const *stored_group_audio(const struct stored_group *g, int track, int *count);
void stored_group_free(struct stored_group *g); // NULL is fine

DECLS_END
#endif
