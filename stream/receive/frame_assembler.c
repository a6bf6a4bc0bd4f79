// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/frame_assembler.h"

#include <stdlib.h>
#include <string.h>

#include "stream/receive/payload_nature.h"

enum { DEFAULT_FPS = 25, FOREIGN_SAME = 3 };

// A list of packets in order.
struct list {
    struct foreign_packet at[FOREIGN_MAX_PACKETS];
    int count;
};

struct frame_assembler {
    nature_reader *nature;
    struct list waiting;        // packets that wait for a hole before them
    struct list frame;          // packets of the frame that has not ended yet
    int body;                   // these end with the frame's last slice; a tail follows
    struct payload_nature all;  // of the body
    struct payload_nature tail; // of units after it, with which a frame begins
    struct nature_scan scan;
    struct list ready;
    int ready_next;
    size_t bytes; // bytes in all three lists
    bool started;
    int64_t next_seq;
    bool gap;          // true: packets are missing before the next packet
    bool frame_gap;    // packets are missing before the frame, or in it
    bool frame_broken; // the frame is incomplete
    bool marked;       // a marker has ended a frame of this time stamp
    bool markers_lie;
    bool markers_lied;   // before the second picture of this time stamp
    bool stamps_lie;     // more pictures than two fields have this time stamp
    int begun;           // pictures with this time stamp, at most FOREIGN_SAME
    usec_t begun_at;     // arrival of the newest picture's first packet
    int64_t number;      // number of the last frame; -1: none yet
    int64_t reference;   // number of the last reference frame
    uint32_t timestamp;  // time stamp of the last frame, or of the one being received
    uint32_t last_stamp; // time stamp of the last frame that ended
    int32_t interval;    // smallest number of ticks between two frames
    uint32_t shift;      // offset added to time stamps
    usec_t arrived;      // arrival of the previous packet
};

struct frame_assembler *frame_assembler_new(enum sdp_codec codec, struct fps fps)
{
    struct frame_assembler *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->nature = nature_reader_of(codec);
    f->number = f->reference = -1;
    bool told = fps.num > 0 && fps.den > 0 && fps_value(fps) >= 1 && fps_value(fps) <= 240;
    f->interval = (int32_t)(RTP_CLOCK_RATE / (told ? fps_value(fps) : DEFAULT_FPS));
    return f;
}

// ---- Lists ----

static void drop(struct frame_assembler *f, const struct list *l, int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct rtp_packet *p = &l->at[i].packet;
        f->bytes -= p->payload_len;
        free((void *)(uintptr_t)p->payload);
    }
}

static void drop_all(struct frame_assembler *f, struct list *l, int from)
{
    drop(f, l, from, l->count);
    l->count = 0;
}

void frame_assembler_free(struct frame_assembler *f)
{
    if (!f)
        return;
    drop_all(f, &f->waiting, 0);
    drop_all(f, &f->frame, 0);
    drop_all(f, &f->ready, f->ready_next);
    free(f);
}

static void forget_natures(struct frame_assembler *f)
{
    f->body = 0;
    f->all = f->tail = (struct payload_nature){0};
}

static void give_up(struct frame_assembler *f)
{
    drop_all(f, &f->waiting, 0);
    drop_all(f, &f->frame, 0);
    forget_natures(f);
    f->gap = true;
}

// ---- Frames ----

// Returns how many frames are missing before the frame that ends now.
static int64_t missing_before(const struct frame_assembler *f)
{
    int32_t apart = (int32_t)(f->timestamp - f->last_stamp);
    if (!f->frame_gap || f->number < 0 || apart <= 0)
        return 0;
    int64_t missing = ((int64_t)apart + f->interval / 2) / f->interval - 1;
    return missing < 0 ? 0 : missing > FOREIGN_MAX_MISSING ? FOREIGN_MAX_MISSING : missing;
}

static void learn_interval(struct frame_assembler *f)
{
    int32_t apart = (int32_t)(f->timestamp - f->last_stamp);
    enum { LEAST = RTP_CLOCK_RATE / 240 };
    if (f->number >= 0 && !f->frame_gap && apart >= LEAST && apart < f->interval)
        f->interval = apart;
}

// All packets of a frame get the time stamp of its picture: units before the slices may have
// another one.
static void hand_out(struct frame_assembler *f, const struct adu_ext *adu)
{
    if (f->ready.count + f->body > FOREIGN_MAX_PACKETS) { // the caller does not pull packets
        drop(f, &f->frame, 0, f->body);
        return;
    }
    for (int i = 0; i < f->body; i++) {
        struct foreign_packet *p = &f->frame.at[i];
        p->packet.timestamp = f->timestamp;
        p->packet.has_adu = true;
        p->packet.adu = *adu;
        p->packet.adu.first = i == 0;
        p->packet.adu.last = i == f->body - 1;
        f->ready.at[f->ready.count++] = *p;
    }
}

// Ends the frame with its body. Its tail, if any, begins the next one.
static void end_frame(struct frame_assembler *f)
{
    struct payload_nature n = f->all;
    int64_t missing = missing_before(f);
    learn_interval(f);
    f->number += 1 + missing;
    f->last_stamp = f->timestamp;
    int64_t needs = missing || f->reference < 0 ? f->number - 1 : f->reference;
    int64_t apart = f->number - needs;
    struct adu_ext adu = {.frame = (uint32_t)f->number,
                          .temporal_id = !n.reference && !n.key,
                          .key = n.key,
                          .depends = n.key                ? 0
                                     : apart <= INT16_MAX ? (int16_t)apart
                                                          : INT16_MAX};
    bool orphan = !n.key && needs < 0; // no key frame has arrived yet
    if (f->frame_broken || orphan)
        drop(f, &f->frame, 0, f->body);
    else
        hand_out(f, &adu);
    if (n.reference || n.key || f->frame_broken)
        f->reference = f->number;
    f->frame_gap = f->frame_broken = false;
    f->frame.count -= f->body;
    memmove(&f->frame.at[0], &f->frame.at[f->body],
            (size_t)f->frame.count * sizeof(f->frame.at[0]));
    n = f->tail;
    forget_natures(f);
    f->all = n;
    f->body = f->frame.count;
}

// Ends the frame where the next packet does not belong to it.
static void end_before(struct frame_assembler *f)
{
    // A tail shows that the frame is whole, but cannot continue after a hole.
    if (f->gap && f->body < f->frame.count) {
        drop(f, &f->frame, f->body, f->frame.count);
        f->frame.count = f->body;
        f->tail = (struct payload_nature){0};
    } else {
        f->frame_broken |= f->gap;
    }
    // Parameter sets with a time stamp of their own belong to the next frame.
    bool alone = !f->all.vcl && !f->gap && f->frame.count < FOREIGN_MAX_PACKETS;
    if (!alone)
        end_frame(f);
}

static void add_nature(struct payload_nature *all, const struct payload_nature *n)
{
    all->vcl |= n->vcl;
    all->key |= n->key;
    all->reference |= n->reference;
}

// Adds the packet to the frame. Parameter sets, SEI and delimiters after slices are the next
// picture's (H.264, 7.4.1.2.3; H.265, 7.4.2.4.4), whatever their time stamp, unless another slice
// of this one follows.
static void append(struct frame_assembler *f, const struct foreign_packet *p,
                   const struct payload_nature *n)
{
    bool has_tail = f->body < f->frame.count;
    f->frame.at[f->frame.count++] = *p;
    if (f->all.vcl && !n->vcl && (n->begins || has_tail)) {
        add_nature(&f->tail, n);
        return;
    }
    add_nature(&f->all, &f->tail);
    add_nature(&f->all, n);
    f->tail = (struct payload_nature){0};
    f->body = f->frame.count;
}

// Converts the packet's time stamp to the output's time line.
static void stamp(struct frame_assembler *f, struct foreign_packet *p)
{
    usec_t passed = usec_max(p->arrived - f->arrived, 0);
    uint32_t stamp = p->packet.timestamp + f->shift;
    usec_t leap = rtp_usec((int32_t)(stamp - f->timestamp), RTP_CLOCK_RATE);
    if (f->started && (leap > passed + FOREIGN_LEAP || leap < -FOREIGN_LEAP)) {
        uint32_t apart = rtp_ticks(usec_min(passed, FOREIGN_LEAP));
        // at least one frame is missing after a gap
        uint32_t least = (uint32_t)f->interval * (f->gap ? 2 : 1);
        f->shift += f->timestamp + (apart > least ? apart : least) - stamp;
        stamp = p->packet.timestamp + f->shift;
    }
    p->packet.timestamp = stamp;
    f->arrived = p->arrived;
}

// Returns true if a picture begins with the packet although its time stamp is that of the picture
// before. Field pairs are two pictures of one time stamp, so the third one shows that stamps lie.
static bool begins_within(struct frame_assembler *f, const struct payload_nature *n, bool same)
{
    bool is_first = n->vcl && n->begins;
    if (!same) {
        f->stamps_lie = false;
        f->begun = 0;
        f->markers_lied = f->markers_lie;
    }
    f->begun += is_first && f->begun < FOREIGN_SAME;
    if (is_first && f->begun == FOREIGN_SAME && !f->stamps_lie) {
        f->stamps_lie = true;
        f->markers_lie = f->markers_lied; // it was the stamps that did
    }
    return f->stamps_lie && n->begins && (f->all.vcl || !f->frame.count);
}

// Gives a picture that has the time stamp of the one before a later one, as it arrived later.
static void stamp_by_arrival(struct frame_assembler *f, struct foreign_packet *p)
{
    uint32_t apart = rtp_ticks(usec_min(usec_max(p->arrived - f->begun_at, 0), FOREIGN_LEAP));
    apart += !apart;
    f->shift += apart;
    p->packet.timestamp += apart;
}

// Processes the next packet in order; takes it over.
static void accept(struct frame_assembler *f, struct foreign_packet *p)
{
    if (f->gap)
        f->scan = (struct nature_scan){0};
    struct payload_nature n = f->nature(&f->scan, p->packet.payload, p->packet.payload_len);
    stamp(f, p);
    bool same = f->started && p->packet.timestamp == f->timestamp;
    if (begins_within(f, &n, same)) {
        stamp_by_arrival(f, p);
        same = false;
    }
    if (!same)
        f->begun_at = p->arrived;
    f->marked &= same;
    if (f->frame.count && (!same || f->frame.count == FOREIGN_MAX_PACKETS)) {
        end_before(f);
    } else if (f->marked && n.vcl && !f->all.vcl && !f->gap) {
        f->markers_lie = true;
        f->frame_broken = !n.begins;
    }
    if (!f->frame.count) {
        f->frame_gap |= f->gap || !f->started;
        f->frame_broken |= (f->gap || !f->started) && !n.begins;
    } else if (f->gap) {
        f->frame_gap = f->frame_broken = true;
    }
    f->gap = false;
    f->started = true;
    f->timestamp = p->packet.timestamp;
    append(f, p, &n);
    if (p->packet.marker && !f->markers_lie && f->all.vcl) {
        end_frame(f);
        f->marked = true;
    }
}

// ---- Order ----

static bool hold(struct frame_assembler *f, const struct rtp_packet *p, int64_t ext_seq, usec_t now)
{
    uint8_t *copy = malloc(p->payload_len + 1);
    if (!copy)
        return false;
    if (p->payload_len)
        memcpy(copy, p->payload, p->payload_len);
    struct list *l = &f->waiting;
    int i = l->count;
    while (i > 0 && l->at[i - 1].ext_seq > ext_seq)
        i--;
    memmove(&l->at[i + 1], &l->at[i], (size_t)(l->count - i) * sizeof(l->at[0]));
    l->at[i] = (struct foreign_packet){.packet = *p, .ext_seq = ext_seq, .arrived = now};
    l->at[i].packet.payload = copy;
    l->at[i].packet.has_capture = false; // useless without the sender's clock
    l->count++;
    f->bytes += p->payload_len;
    return true;
}

// Returns true if the packet belongs before the first packet received, which has not been used yet.
static bool comes_first(const struct frame_assembler *f, int64_t ext_seq)
{
    if (!f->started || f->number >= 0 || f->shift || !f->frame.count)
        return false;
    int64_t before = f->frame.at[0].ext_seq - ext_seq;
    return before > 0 && before < FOREIGN_REORDER &&
           f->frame.count + f->waiting.count < FOREIGN_MAX_PACKETS;
}

static void begin_anew(struct frame_assembler *f)
{
    struct list *l = &f->waiting;
    memmove(&l->at[f->frame.count], &l->at[0], (size_t)l->count * sizeof(l->at[0]));
    memcpy(&l->at[0], &f->frame.at[0], (size_t)f->frame.count * sizeof(l->at[0]));
    l->count += f->frame.count;
    f->frame.count = 0;
    forget_natures(f);
    f->scan = (struct nature_scan){0};
    f->started = f->gap = f->frame_gap = f->frame_broken = f->marked = f->markers_lie = false;
    f->begun = 0;
}

void frame_assembler_push(struct frame_assembler *f, const struct rtp_packet *p, int64_t ext_seq,
                          usec_t now)
{
    if (comes_first(f, ext_seq))
        begin_anew(f);
    if (f->started && ext_seq < f->next_seq)
        return; // the wait for it has ended
    if (f->waiting.count == FOREIGN_MAX_PACKETS || f->bytes + p->payload_len > FOREIGN_MAX_BYTES)
        give_up(f);
    if (!hold(f, p, ext_seq, now))
        return;
    struct list *l = &f->waiting;
    int taken = 0;
    while (taken < l->count) {
        bool in_order = !f->started || l->at[taken].ext_seq == f->next_seq;
        usec_t waited = now - l->at[taken].arrived;
        if (!in_order && l->count - taken < FOREIGN_REORDER && waited < FOREIGN_WAIT)
            break;
        f->gap |= !in_order;
        f->next_seq = l->at[taken].ext_seq + 1;
        accept(f, &l->at[taken++]);
    }
    l->count -= taken;
    memmove(&l->at[0], &l->at[taken], (size_t)l->count * sizeof(l->at[0]));
}

bool frame_assembler_pull(struct frame_assembler *f, struct foreign_packet *out)
{
    if (f->ready_next == f->ready.count) {
        f->ready_next = f->ready.count = 0;
        return false;
    }
    *out = f->ready.at[f->ready_next++];
    f->bytes -= out->packet.payload_len;
    return true;
}

uint32_t frame_assembler_shift(const struct frame_assembler *f)
{
    return f->shift;
}
