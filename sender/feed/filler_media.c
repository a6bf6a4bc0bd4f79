// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/filler_media.h"

#include <stdio.h>
#include <stdlib.h>

static void feed_free(struct media_feed *f)
{
    free(f);
}

static struct media_feed *feed_new(struct stream_media *m, const struct media_feed_config *config)
{
    static const struct media_feed_ops ops = {.free = feed_free};
    (void)config;
    struct media_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->ops = &ops;
    f->filler = m->kind == SDP_SOURCE_GREEDY ? FILLER_GREEDY : FILLER_STEADY;
    return f;
}

static void filler_free(struct stream_media *m)
{
    free(m);
}

struct stream_media *filler_media_new(enum sdp_source kind, int bitrate_bps)
{
    static const struct stream_media_ops ops = {.feed_new = feed_new, .free = filler_free};
    struct stream_media *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    *m = (struct stream_media){.ops = &ops, .kind = kind, .duration = -1};
    snprintf(m->title, sizeof(m->title), "synthetic:%s",
             kind == SDP_SOURCE_STEADY ? "steady" : "greedy");
    // One nominal level with an arbitrary size.
    m->ladder = (struct ladder){
        .source_fps = {30, 1}, .source_width = 16, .source_height = 16, .size_count = 1};
    m->ladder.sizes[0] = (struct size_spec){.width = 16, .height = 16, .fps = {30, 1}, .layers = 1};
    m->ladder.level_count = 1;
    m->ladder.levels[0] = (struct level){.bitrate_bps = bitrate_bps};
    return m;
}
