// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/decode_feed.h"

#include <assert.h>
#include <stdlib.h>

static struct play_frame *frame_of(const struct decode_feed *d, const struct video_output *out,
                                   usec_t now)
{
    struct received_frame *coded = out->frame;
    struct play_frame *f = malloc(sizeof(*f));
    if (f)
        *f = (struct play_frame){.coded = coded,
                                 .session = d->session,
                                 .place = d->place,
                                 .number = coded->number,
                                 .pts = coded->pts,
                                 .depends_on = coded->key ? -1 : coded->depends_on,
                                 .size_id = coded->size_id,
                                 .level = out->level,
                                 .bytes = received_frame_bytes(coded),
                                 .show = out->show,
                                 .capture_wall = coded->capture_wall,
                                 .last_arrived = coded->last_arrived,
                                 .show_at = out->show_at,
                                 .handed_over = now};
    return f;
}

enum decode_feed_result decode_feed_push(struct decode_feed *d, const struct video_output *out,
                                         struct play_frame **done, usec_t now)
{
    struct play_frame *f = frame_of(d, out, now);
    if (f && !d->decoder) { // no decoder, so no decode lead: the frame is due now
        d->in_flight++;
        f->shown_at = f->decoded_at = usec_max(f->show_at, now);
        f->fate = f->show ? FATE_SHOWN : FATE_DECODED_ONLY;
        *done = f;
        return FEED_DONE;
    }
    if (f && d->in_flight < DECODE_FEED_MAX_FRAMES && decode_thread_push(d->decoder, f)) {
        d->in_flight++;
        return FEED_TAKEN;
    }
    if (f)
        play_frame_free(f);
    else
        received_frame_free(out->frame);
    return FEED_SLOW;
}

void decode_feed_back(struct decode_feed *d, const struct play_frame *f)
{
    assert(d->in_flight > 0);
    d->in_flight--;
    d->decoded += f->fate != FATE_FAILED && f->fate != FATE_DISCARDED;
}

enum frame_end decode_feed_unseen(const struct play_frame *f, bool low_latency)
{
    usec_t time = usec_max(f->show_at - f->handed_over, PLAYOUT_DECODE_LEAD);
    if (f->decoded_at - f->handed_over > time)
        return FRAME_END_SLOW;
    bool was_due = !low_latency && f->show_at == f->handed_over;
    return was_due ? FRAME_END_LATE : FRAME_END_UNSEEN;
}
