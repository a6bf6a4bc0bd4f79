// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/bridge.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "stream/playout/reference_tracker.h"

enum {
    WINDOW = 1024, // frame numbers of which is known what was forwarded; a power of two
    HEADERS = 40,  // bytes of a packet beside its payload
    LEFT_OUT = 64, // frames that were left out, of which is known where they were
};

static const usec_t UNKNOWN_RTT = 150 * USEC_PER_MSEC;
static const usec_t MAX_HOLD = USEC_PER_SEC;

struct held_frame {
    struct shared_frame *frame; // one reference
    int level;
    usec_t until;
};

struct left_out {
    int64_t first_seq;
    int packets; // 0: none
};

struct forwarded {
    int64_t number;
    unsigned sizes; // bit i: the frame of size i was forwarded
};

struct bridge {
    struct bridge_config config;
    struct reflection reflection;
    struct reference_tracker *tracker; // owned; of what came, for requests of key frames
    struct forwarded forwarded[WINDOW];
    int64_t next_seq; // number after the last packet of what was forwarded; -1: none yet
    usec_t rtt;
    unsigned left_out_count;
    struct left_out left_out[LEFT_OUT];
    int held_count;
    struct held_frame held[BRIDGE_MAX_HELD]; // in the order of arrival
    struct bridge_stats stats;
};

struct bridge *bridge_new(const struct bridge_config *config, usec_t now)
{
    struct bridge *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->tracker = reference_tracker_new(config->ladder);
    if (!b->tracker) {
        free(b);
        return NULL;
    }
    b->config = *config;
    b->next_seq = -1;
    for (int i = 0; i < WINDOW; i++)
        b->forwarded[i].number = -1;
    reflection_init(&b->reflection, config->reflect, config->target, config->blocking,
                    config->ladder, now);
    return b;
}

static void drop_held(struct bridge *b)
{
    while (b->held_count)
        shared_frame_unref(b->held[--b->held_count].frame);
}

void bridge_free(struct bridge *b)
{
    if (!b)
        return;
    drop_held(b);
    reference_tracker_free(b->tracker);
    free(b);
}

void bridge_set_rtt(struct bridge *b, usec_t rtt)
{
    b->rtt = rtt;
    reflection_set_rtt(&b->reflection, rtt);
}

void bridge_restart(struct bridge *b)
{
    drop_held(b);
    memset(b->left_out, 0, sizeof(b->left_out));
    b->next_seq = -1;
}

void bridge_nacked(struct bridge *b, usec_t now)
{
    reference_tracker_nacked(b->tracker, now);
}

// ---- What was forwarded

static struct forwarded *entry_of(struct bridge *b, int64_t number)
{
    return &b->forwarded[number % WINDOW];
}

static bool was_forwarded(struct bridge *b, int64_t number, int size_id)
{
    const struct forwarded *e = number >= 0 ? entry_of(b, number) : NULL;
    return e && e->number == number && (e->sizes & 1u << size_id);
}

static bool can_be_decoded(struct bridge *b, const struct received_frame *f)
{
    if (f->key)
        return true;
    if (f->on_lower && !was_forwarded(b, f->number, f->size_id - 1))
        return false;
    // The first frame of a larger size depends on the smaller one alone.
    return (f->depends_on < 0 && f->on_lower) || was_forwarded(b, f->depends_on, f->size_id);
}

static void note_forwarded(struct bridge *b, const struct received_frame *f)
{
    struct forwarded *e = entry_of(b, f->number);
    if (e->number != f->number)
        *e = (struct forwarded){.number = f->number};
    e->sizes |= 1u << f->size_id;
}

// The viewer counts as lost what the backbone lost, and what cannot be decoded for that reason.
static void report_gap(struct bridge *b, const struct received_frame *f, usec_t now)
{
    int64_t gap = b->next_seq < 0 ? 0 : f->first_seq - b->next_seq;
    int64_t next = f->first_seq + f->packets, whole = gap;
    b->next_seq = next > b->next_seq ? next : b->next_seq;
    for (int i = 0; i < LEFT_OUT && gap > 0; i++)
        if (b->left_out[i].packets && b->left_out[i].first_seq >= f->first_seq - whole &&
            b->left_out[i].first_seq < f->first_seq)
            gap -= b->left_out[i].packets;
    if (gap <= 0)
        return;
    b->stats.lost += (uint64_t)gap;
    b->config.ops->lost(b->config.ctx, gap < INT_MAX ? (int)gap : INT_MAX, now);
}

// Takes over the reference.
static void forward(struct bridge *b, struct shared_frame *f, int level, usec_t now)
{
    struct coded_frame *out = shared_frame_at(f, level);
    if (out) {
        report_gap(b, &f->head, now);
        note_forwarded(b, &f->head);
        b->stats.frames++;
        b->stats.bytes += out->bytes;
        b->config.ops->forward(b->config.ctx, out, now);
        coded_frame_unref(out);
    }
    shared_frame_unref(f);
}

// ---- Frames that wait

static struct held_frame take_held(struct bridge *b, int i)
{
    struct held_frame h = b->held[i];
    b->held_count--;
    memmove(b->held + i, b->held + i + 1, (size_t)(b->held_count - i) * sizeof(*b->held));
    return h;
}

static void drop_badput(struct bridge *b, int i)
{
    struct held_frame h = take_held(b, i);
    b->stats.badput_frames++;
    b->stats.badput_bytes += h.frame->head.bytes;
    shared_frame_unref(h.frame);
}

static void hold(struct bridge *b, struct shared_frame *f, int level, usec_t now)
{
    usec_t repair = 2 * (b->rtt > 0 ? b->rtt : UNKNOWN_RTT) + BRIDGE_REPAIR;
    if (b->held_count == BRIDGE_MAX_HELD)
        drop_badput(b, 0);
    b->held[b->held_count++] = (struct held_frame){f, level, now + usec_min(repair, MAX_HOLD)};
}

// A frame was forwarded: those that waited for it follow.
static void release_held(struct bridge *b, usec_t now)
{
    for (int i = 0; i < b->held_count;) {
        if (!can_be_decoded(b, &b->held[i].frame->head)) {
            i++;
            continue;
        }
        struct held_frame h = take_held(b, i);
        forward(b, h.frame, h.level, now);
        i = 0;
    }
}

static void request_key(struct bridge *b, usec_t now)
{
    if (reference_tracker_pli(b->tracker, b->rtt, now))
        b->config.ops->request_key(b->config.ctx, now);
}

void bridge_shared_frame(struct bridge *b, struct shared_frame *f, int level, usec_t now)
{
    if (!f->coded) {
        b->stats.malformed++;
        return;
    }
    struct received_frame head = f->head;
    head.level = level;
    reflection_arrived(&b->reflection, head.bytes + (size_t)head.packets * HEADERS);
    if (reference_tracker_can_be(b->config.ladder, &head))
        reference_tracker_arrived(b->tracker, &head);
    if (b->config.keeps_badput || can_be_decoded(b, &head)) {
        forward(b, shared_frame_ref(f), level, now);
        release_held(b, now);
    } else {
        hold(b, shared_frame_ref(f), level, now);
    }
    request_key(b, now);
}

void bridge_frame(struct bridge *b, struct received_frame *f, usec_t captured, usec_t now)
{
    int level = f->level;
    struct shared_frame *s = shared_frame_new(f, b->config.ladder, b->config.is_annexb, captured);
    if (s)
        bridge_shared_frame(b, s, level, now);
    else
        b->stats.malformed++;
    shared_frame_unref(s);
}

void bridge_leave_out(struct bridge *b, const struct received_frame *f)
{
    b->left_out[b->left_out_count++ % LEFT_OUT] = (struct left_out){f->first_seq, f->packets};
}

usec_t bridge_next_timeout(const struct bridge *b)
{
    usec_t when = reference_tracker_next_timeout(b->tracker, b->rtt);
    for (int i = 0; i < b->held_count; i++)
        when = usec_min(when, b->held[i].until);
    return when;
}

void bridge_on_timeout(struct bridge *b, usec_t now)
{
    for (int i = b->held_count - 1; i >= 0; i--)
        if (b->held[i].until <= now)
            drop_badput(b, i);
    request_key(b, now);
}

// ---- The access

void bridge_access(struct bridge *b, const struct reflect_access *access, usec_t now)
{
    const struct bridge_ops *ops = b->config.ops;
    struct reflect_orders orders = reflection_update(&b->reflection, access, now);
    if (orders.sends_limit)
        ops->limit(b->config.ctx, orders.limit_bps, now);
    if (orders.marks) {
        b->stats.marks += (uint64_t)orders.marks;
        ops->mark(b->config.ctx, orders.marks, now);
    }
    if (orders.sends_stop) {
        b->stats.stops += orders.stop;
        ops->stop_reading(b->config.ctx, orders.stop, now);
    }
}

bool bridge_access_is_idle(const struct bridge *b)
{
    return reflection_is_idle(&b->reflection);
}

void bridge_origin_forgot(struct bridge *b)
{
    reflection_origin_forgot(&b->reflection);
}

void bridge_read(const struct bridge *b, struct bridge_stats *out)
{
    const struct reflection *r = &b->reflection;
    *out = b->stats;
    out->held = b->held_count;
    out->limit_bps = r->mode == REFLECT_LIMIT ? r->sent_bps : r->limit_bps;
    out->reason = r->reason;
    out->queue = r->queue;
    out->access_bps = r->rate_bps;
}
