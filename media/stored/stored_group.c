// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_group.h"

#include <stdlib.h>

int64_t stored_info_groups(const struct stored_info *info)
{
    return (info->origin.frames + info->plan.gop - 1) / info->plan.gop;
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
    free(g);
}
