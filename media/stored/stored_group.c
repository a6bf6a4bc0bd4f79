// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_group.h"

#include <stdlib.h>

int64_t stored_info_groups(const struct stored_info *info)
{
    return (info->origin.frames + info->plan.gop - 1) / info->plan.gop;
}

struct coded_audio *const *stored_group_audio(const struct stored_group *g, int track, int *count)
{
    *count = track ? g->other_audio[track - 1].count : g->audio_count;
    return track ? g->other_audio[track - 1].at : g->audio;
}

void stored_group_free(struct stored_group *g)
{
    if (!g)
        return;
    for (int size = 0; size < LADDER_MAX_SIZES; size++)
        for (int at = 0; at < STORED_MAX_GOP; at++)
            coded_frame_unref(g->at[size][at]);
    for (int i = 0; i < g->audio_count; i++)
        coded_audio_unref(g->audio[i]);
    for (int t = 0; t < SDP_AUDIO_TRACKS - 1; t++)
        for (int i = 0; i < g->other_audio[t].count; i++)
            coded_audio_unref(g->other_audio[t].at[i]);
    free(g);
}
