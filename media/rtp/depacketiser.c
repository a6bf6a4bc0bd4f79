// SPDX-License-Identifier: GPL-2.0-or-later
// Packets are in a ring, indexed by extended sequence number. Adjacent packets of one frame form a
// run. The slots at a run's two ends refer to each other, so a packet extends or joins runs in
// O(1). A run from `first` to `last` is a whole frame. If the ring overwrites a packet, the ends of
// its run become stale. They are not repaired: take_frame checks each packet and drops a run with a
// hole.
#include "media/rtp/depacketiser.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/seq.h"

enum {
    MAX_READY = 256, // max. whole frames that wait for the caller; then the oldest is dropped
    MAX_HELD_BYTES = 2 * DEPACKETISER_MAX_FRAME, // max. payload bytes; then the ring is emptied
    FRAME_TAIL = 64, // zero bytes after a frame: libavcodec may read past its end
};

enum slot_state { SLOT_EMPTY, SLOT_HELD, SLOT_TAKEN };

struct slot {
    enum slot_state state;
    int64_t seq;
    int64_t run_end; // in a slot at an end of a run: seq of the run's other end
    struct adu_ext adu;
    uint32_t timestamp;
    usec_t capture_wall; // 0 = unknown
    struct made_ext made;
    usec_t arrived;
    uint8_t *data; // owned while HELD
    size_t len;
};

struct depacketiser {
    const struct payload_format *format; // static
    int window;
    struct slot *slots; // owned; `window` of them
    void *memory;       // owned; the format's
    bool started;
    int64_t highest_seq;
    int64_t frame_reference; // the last frame's number, used to extend the next 32-bit number
    size_t held_bytes;
    uint64_t malformed;
    struct received_frame *ready[MAX_READY]; // a ring; owned
    unsigned ready_first;
    unsigned ready_count;
};

void received_frame_free(struct received_frame *f)
{
    while (f) {
        struct received_frame *upper = f->upper;
        free(f->data);
        free(f);
        f = upper;
    }
}

size_t received_frame_bytes(const struct received_frame *f)
{
    size_t bytes = 0;
    for (; f; f = f->upper)
        bytes += f->bytes;
    return bytes;
}

struct depacketiser *depacketiser_new(const struct payload_format *format)
{
    struct depacketiser *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->format = format;
    d->window = DEPACKETISER_WINDOW;
    d->slots = calloc((size_t)d->window, sizeof(*d->slots));
    d->memory = format->memory_bytes ? calloc(1, format->memory_bytes) : NULL;
    if (d->slots && (d->memory || !format->memory_bytes))
        return d;
    free(d->slots);
    free(d->memory);
    free(d);
    return NULL;
}

int depacketiser_widen(struct depacketiser *d)
{
    assert(!d->started);
    struct slot *slots = calloc(DEPACKETISER_AWAITED, sizeof(*slots));
    if (!slots)
        return ERR_NO_MEMORY;
    free(d->slots);
    d->slots = slots;
    d->window = DEPACKETISER_AWAITED;
    return 0;
}

static struct slot *slot_at(struct depacketiser *d, int64_t seq)
{
    return &d->slots[(uint64_t)seq % (uint64_t)d->window];
}

static bool is_held(const struct slot *s, int64_t seq)
{
    return s->state == SLOT_HELD && s->seq == seq;
}

static void slot_release(struct depacketiser *d, struct slot *s, enum slot_state state)
{
    if (s->state == SLOT_HELD) {
        d->held_bytes -= s->len;
        free(s->data);
        s->data = NULL;
    }
    s->state = state;
}

static struct received_frame *ready_take(struct depacketiser *d)
{
    if (d->ready_count == 0)
        return NULL;
    struct received_frame *f = d->ready[d->ready_first];
    d->ready_first = (d->ready_first + 1) % MAX_READY;
    d->ready_count--;
    return f;
}

void depacketiser_free(struct depacketiser *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->window; i++)
        slot_release(d, &d->slots[i], SLOT_EMPTY);
    for (struct received_frame *f; (f = ready_take(d)) != NULL;)
        received_frame_free(f);
    free(d->slots);
    free(d->memory);
    free(d);
}

// Returns false if the payloads do not continue each other, or if the frame is empty or too large.
static bool unpack_run(struct depacketiser *d, int64_t from, int64_t to, struct unpacker *u)
{
    for (int64_t seq = from; seq <= to; seq++) {
        const struct slot *s = slot_at(d, seq);
        if (!d->format->unpack(u, s->data, s->len) || u->bytes > DEPACKETISER_MAX_FRAME)
            return false;
    }
    if (d->format->finish)
        d->format->finish(u);
    return !u->in_fragments && u->bytes > 0;
}

static struct received_frame *describe_run(struct depacketiser *d, int64_t from, int64_t to)
{
    struct received_frame *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    const struct slot *s = slot_at(d, from);
    f->number = seq32_extend(d->frame_reference, s->adu.frame);
    f->reorder = s->adu.reorder;
    f->size_id = s->adu.size_id;
    f->temporal_id = s->adu.temporal_id;
    f->level = s->adu.level;
    f->key = s->adu.key;
    f->on_lower = s->adu.on_lower;
    f->depends_on = s->adu.depends == 0 ? -1 : f->number - s->adu.depends;
    f->rtp_timestamp = s->timestamp;
    f->first_written_us = f->last_written_us = s->adu.written_us;
    f->first_arrived = f->last_arrived = s->arrived;
    f->first_seq = from;
    f->packets = (int)(to - from + 1);
    for (int64_t seq = from; seq <= to; seq++) {
        s = slot_at(d, seq);
        if ((int32_t)(s->adu.written_us - f->first_written_us) < 0)
            f->first_written_us = s->adu.written_us;
        if ((int32_t)(s->adu.written_us - f->last_written_us) > 0)
            f->last_written_us = s->adu.written_us;
        f->first_arrived = usec_min(f->first_arrived, s->arrived);
        f->last_arrived = usec_max(f->last_arrived, s->arrived);
        if (f->capture_wall == 0)
            f->capture_wall = s->capture_wall;
        f->made = usec_max(f->made, s->made.ms * USEC_PER_MSEC);
        f->is_slow |= s->made.is_slow;
    }
    return f;
}

static int assemble(struct depacketiser *d, int64_t from, int64_t to)
{
    struct unpacker count = {.memory = d->memory};
    if (!unpack_run(d, from, to, &count)) {
        d->malformed++;
        return ERR_MALFORMED;
    }
    struct received_frame *f = describe_run(d, from, to);
    if (!f)
        return ERR_NO_MEMORY;
    if (f->number < 0 || (f->depends_on < 0 && slot_at(d, from)->adu.depends != 0)) {
        received_frame_free(f); // the frame, or the one it depends on, has a negative number
        d->malformed++;
        return ERR_MALFORMED;
    }
    f->data = malloc(count.bytes + FRAME_TAIL);
    if (!f->data) {
        received_frame_free(f);
        return ERR_NO_MEMORY;
    }
    struct unpacker write = {.out = f->data, .memory = d->memory};
    unpack_run(d, from, to, &write);
    f->bytes = write.bytes;
    memset(f->data + f->bytes, 0, FRAME_TAIL);
    d->frame_reference = f->number;
    if (d->ready_count == MAX_READY)
        received_frame_free(ready_take(d));
    d->ready[(d->ready_first + d->ready_count++) % MAX_READY] = f;
    return 0;
}

// Assembles the frame. Its packets leave the ring in any case, so that no frame is output twice.
static int take_frame(struct depacketiser *d, int64_t from, int64_t to)
{
    if (to - from >= d->window)
        return 0;
    for (int64_t seq = from; seq <= to; seq++)
        if (!is_held(slot_at(d, seq), seq))
            return 0; // the ring has overwritten a packet: the frame is lost
    int err = assemble(d, from, to);
    for (int64_t seq = from; seq <= to; seq++)
        slot_release(d, slot_at(d, seq), SLOT_TAKEN);
    return err;
}

static bool same_frame(const struct slot *a, const struct slot *b)
{
    return a->adu.frame == b->adu.frame && a->timestamp == b->timestamp &&
           a->adu.size_id == b->adu.size_id && a->adu.temporal_id == b->adu.temporal_id &&
           a->adu.level == b->adu.level && a->adu.key == b->adu.key &&
           a->adu.depends == b->adu.depends && a->adu.reorder == b->adu.reorder &&
           a->adu.on_lower == b->adu.on_lower;
}

// Joins the packet at `seq` with the runs on both sides. If that completes a frame, takes the frame
// and returns the result of take_frame.
static int join(struct depacketiser *d, int64_t seq)
{
    struct slot *s = slot_at(d, seq);
    const struct slot *before = slot_at(d, seq - 1);
    const struct slot *after = slot_at(d, seq + 1);
    int64_t from = seq, to = seq;
    if (is_held(before, seq - 1) && !s->adu.first && !before->adu.last && same_frame(before, s))
        from = before->run_end;
    if (is_held(after, seq + 1) && !s->adu.last && !after->adu.first && same_frame(s, after))
        to = after->run_end;
    struct slot *left = slot_at(d, from);
    struct slot *right = slot_at(d, to);
    s->run_end = seq;
    if (is_held(left, from))
        left->run_end = to;
    if (is_held(right, to))
        right->run_end = from;
    if (is_held(left, from) && is_held(right, to) && left->adu.first && right->adu.last)
        return take_frame(d, from, to);
    return 0;
}

static int hold(struct depacketiser *d, const struct rtp_packet *p, int64_t seq, usec_t now)
{
    if (d->held_bytes + p->payload_len > MAX_HELD_BYTES)
        for (int i = 0; i < d->window; i++)
            if (d->slots[i].state == SLOT_HELD)
                slot_release(d, &d->slots[i], SLOT_EMPTY);
    uint8_t *data = malloc(p->payload_len + 1); // not 0
    if (!data)
        return ERR_NO_MEMORY;
    if (p->payload_len)
        memcpy(data, p->payload, p->payload_len);
    struct slot *s = slot_at(d, seq);
    slot_release(d, s, SLOT_EMPTY);
    *s = (struct slot){
        .state = SLOT_HELD,
        .seq = seq,
        .adu = p->adu,
        .timestamp = p->timestamp,
        .capture_wall = p->has_capture ? p->capture_wall : 0,
        .made = p->made,
        .arrived = now,
        .data = data,
        .len = p->payload_len,
    };
    d->held_bytes += p->payload_len;
    return 0;
}

int depacketiser_push(struct depacketiser *d, const struct rtp_packet *p, int64_t ext_seq,
                      usec_t now)
{
    if (!d->started) {
        d->started = true;
        d->highest_seq = ext_seq;
        d->frame_reference = p->adu.frame;
    }
    if (ext_seq <= d->highest_seq - d->window)
        return ERR_RANGE;
    const struct slot *s = slot_at(d, ext_seq);
    if (s->state != SLOT_EMPTY && s->seq == ext_seq)
        return 0; // duplicate
    if (!d->format->is_valid(p->payload, p->payload_len)) {
        d->malformed++;
        return ERR_MALFORMED;
    }
    int err = hold(d, p, ext_seq, now);
    if (err)
        return err;
    if (ext_seq > d->highest_seq)
        d->highest_seq = ext_seq;
    return join(d, ext_seq);
}

struct received_frame *depacketiser_pull(struct depacketiser *d)
{
    return ready_take(d);
}

uint64_t depacketiser_malformed(const struct depacketiser *d)
{
    return d->malformed;
}
