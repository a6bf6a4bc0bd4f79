// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_parts.h"

#include <stdlib.h>

enum { PADDING = 64 }; // depacketiser.h

static struct received_frame *take(struct stream_parts *s)
{
    struct received_frame *f = malloc(sizeof(*f));
    s->open = false;
    if (!f)
        return NULL;
    *f = s->frame;
    f->data = calloc(f->bytes + PADDING, 1); // nothing is decoded
    if (f->data)
        return f;
    free(f);
    return NULL;
}

struct received_frame *stream_parts_before(struct stream_parts *s, int64_t number)
{
    return s->open && number > s->frame.number ? take(s) : NULL;
}

struct received_frame *stream_parts_packet(struct stream_parts *s, const struct rtp_packet *p,
                                           int64_t number, usec_t now)
{
    struct received_frame *f = &s->frame;
    if (s->open && number != f->number)
        return NULL; // of an older frame
    if (!s->open)
        *f = (struct received_frame){.number = number,
                                     .size_id = p->adu.size_id,
                                     .level = p->adu.level,
                                     .temporal_id = p->adu.temporal_id,
                                     .key = p->adu.key,
                                     .on_lower = p->adu.on_lower,
                                     .depends_on = p->adu.depends ? number - p->adu.depends : -1,
                                     .rtp_timestamp = p->timestamp,
                                     .first_written_us = p->adu.written_us,
                                     .first_arrived = now};
    s->open = true;
    f->capture_wall = p->has_capture ? p->capture_wall : f->capture_wall;
    f->last_written_us = p->adu.written_us;
    f->last_arrived = now;
    f->packets++;
    f->bytes += p->payload_len;
    return p->adu.last ? take(s) : NULL;
}
