// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_flow.h"

#include <assert.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/scan.h"

enum {
    MIN_QUEUE_BYTES = 2000, // the size of one packet
    MAX_QUEUE_BYTES = 1 << 24,
    MAX_QUEUE_MS = 10000,
    RTP_TIMESTAMP_AT = 4, // offset in the header, RFC 3550, 5.1
};

// ---- Parameters

enum {
    GIVEN_MODE = 1,
    GIVEN_MINBUF = 2,
    GIVEN_QUEUE = 4,
    GIVEN_FRAMES = 8,
    GIVEN_BLOCK = 16,
    GIVEN_PAPER = 32,
    GIVEN_SWITCH = 64, // and the bits above, one for each switch
};

enum { SWITCHES = 8, PAPER_SWITCHES = 7 };

// The switches, in one order, those of `paper` first: their words, and where they are stored.
static const char *const switch_words[SWITCHES] = {"nonewreno", "norack", "noabc",   "nocwv",
                                                   "nortomax",  "noiw10", "nobytes", "noecn"};

static bool *switch_of(struct mtp_options *o, int i)
{
    bool *const switches[SWITCHES] = {&o->no_newreno, &o->no_rack, &o->no_abc,   &o->no_cwv,
                                      &o->no_rto_max, &o->no_iw10, &o->no_bytes, &o->no_ecn};
    return switches[i];
}

// Reads "B" of "A,B" from `rest`; `a` holds "A".
static int read_minbuf(struct scan a, struct scan *rest, struct minbuf *m)
{
    struct scan b = scan_until(rest, ',');
    int64_t numbers[2];
    if (!scan_int(&a, INT32_MAX, &numbers[0]) || !scan_end(&a) ||
        !scan_int(&b, INT32_MAX, &numbers[1]) || !scan_end(&b))
        return ERR_MALFORMED;
    if (numbers[0] < 1 || numbers[0] > MINBUF_MAX_A || numbers[1] > MINBUF_MAX_B)
        return ERR_RANGE;
    *m = (struct minbuf){.a = (int)numbers[0], .b = (int)numbers[1]};
    return 0;
}

static int read_queue(struct scan value, struct mtp_options *o)
{
    int64_t number;
    if (!scan_int(&value, INT32_MAX, &number))
        return ERR_MALFORMED;
    bool is_time = scan_word(&value, "ms");
    if (!scan_end(&value))
        return ERR_MALFORMED;
    // With a time bound alone, the byte bound is the max that can be configured.
    o->queue.bytes = is_time ? MAX_QUEUE_BYTES : (size_t)number;
    o->queue.wait = is_time ? number * USEC_PER_MSEC : 0;
    int64_t min = is_time ? 1 : MIN_QUEUE_BYTES;
    int64_t max = is_time ? MAX_QUEUE_MS : MAX_QUEUE_BYTES;
    return number >= min && number <= max ? 0 : ERR_RANGE;
}

const char *mtp_mode_name(enum mtp_mode mode)
{
    static const char *const names[] = {"strict", "fill", "resend"};
    assert(mode >= MTP_STRICT && mode <= MTP_RESEND);
    return names[mode];
}

static int read_part(struct scan part, struct scan *rest, struct mtp_options *o, unsigned *given)
{
    unsigned what = 0;
    int err = 0;
    for (int i = 0; i < 3; i++) {
        if (scan_is(part, mtp_mode_name((enum mtp_mode)i))) {
            o->mode = (enum mtp_mode)i;
            o->named = true;
            what = GIVEN_MODE;
        }
    }
    for (int i = 0; i < SWITCHES; i++) {
        if (scan_is(part, switch_words[i])) {
            *switch_of(o, i) = true;
            what = (unsigned)GIVEN_SWITCH << i;
        }
    }
    if (scan_is(part, "frames")) {
        o->queue.whole_frames = true;
        what = GIVEN_FRAMES;
    } else if (scan_is(part, "block")) {
        what = GIVEN_BLOCK;
    } else if (scan_is(part, "paper")) {
        what = GIVEN_PAPER;
    } else if (scan_word(&part, "queue=")) {
        what = GIVEN_QUEUE;
        err = read_queue(part, o);
    } else if (!what) {
        what = GIVEN_MINBUF;
        err = read_minbuf(part, rest, &o->queue.minbuf);
    }
    if (*given & what)
        return ERR_MALFORMED;
    *given |= what;
    return err;
}

int mtp_options_parse(const char *params, struct mtp_options *o)
{
    *o = (struct mtp_options){.mode = MTP_STRICT, .queue.minbuf = {.a = 1, .b = 3}};
    size_t len = strlen(params);
    struct scan rest = scan_of(params, len);
    unsigned given = 0;
    if (len > 0 && params[len - 1] == ',')
        return ERR_MALFORMED;
    while (!scan_end(&rest)) {
        struct scan part = scan_until(&rest, ',');
        int err = read_part(part, &rest, o, &given);
        if (err)
            return err;
    }
    bool blocks = given & GIVEN_BLOCK;
    if ((given & (GIVEN_FRAMES | GIVEN_BLOCK) && !(given & GIVEN_QUEUE)) ||
        (given & GIVEN_FRAMES && blocks))
        return ERR_MALFORMED;
    for (int i = 0; i < PAPER_SWITCHES && given & GIVEN_PAPER; i++)
        *switch_of(o, i) = true;
    o->drops = given & GIVEN_QUEUE && !blocks;
    o->waits = blocks || (given & GIVEN_MINBUF && !o->drops);
    o->queue.block = !o->drops;
    o->queue.dynamic = given & GIVEN_MINBUF || !(given & GIVEN_QUEUE);
    return 0;
}

// ---- The flow

// As in Linux, where it also is the slack. A flow with an RTO of 1 s (RFC 6298, 2.4) would get a
// smaller share than TCPs with 200 ms.
static const usec_t MIN_RTO = 200 * USEC_PER_MSEC;

// RFC 6928, 2, as in Linux: with parameter sets and audio, four packets hold no key frame, and the
// first picture waits for one more round trip or two. The bytes of ten packets may be more packets,
// as TCP would put several of audio into a segment. A slot has at most 1460 bytes.
enum { FIRST_CWND = 10 };

int mtp_flow_init(struct mtp_flow *f, const struct mtp_options *o, uint64_t token,
                  uint16_t packet_bytes, usec_t now)
{
    int first_cwnd = o->no_iw10 ? 0 : FIRST_CWND;
    struct mtp_sender_config config = {
        .mode = o->mode,
        .slot_bytes = packet_bytes,
        .window = MTP_FLOW_WINDOW,
        .cwnd = o->cwnd ? o->cwnd : first_cwnd,
        .first_bytes = o->no_iw10 ? 0 : FIRST_CWND * packet_bytes,
        .min_rto = o->min_rto ? o->min_rto : MIN_RTO,
        .rto_slack = o->min_rto || o->no_rto_max ? 0 : MIN_RTO,
        .max_rto = o->no_rto_max ? 0 : RTO_MAX_LIVE,
        .once_a_window = o->no_newreno,
        .karn = o->karn,
        .counts_slots = !o->no_abc,
        .counts_bytes = !o->no_bytes && !o->no_abc,
        .newreno = !o->no_newreno, // like competing TCPs with SACK, which halve cwnd once a window
        .rack = !o->no_rack,
        .keeps_window = !o->no_cwv,
        .queue = o->queue,
    };
    *f = (struct mtp_flow){.phase = MTP_FLOW_OPEN, .token = token, .options = *o, .heard_at = now};
    mtp_probe_init(&f->probe);
    mtp_mode_control_init(&f->steps, o->mode);
    return mtp_sender_init(&f->sender, &config, now);
}

void mtp_flow_destroy(struct mtp_flow *f)
{
    mtp_sender_destroy(&f->sender);
}

void mtp_flow_adapt(struct mtp_flow *f)
{
    assert(f->sender.next == 0);
    f->adapts = true;
    f->sender.config.stamps_resends = true;
    f->phase = f->options.named ? MTP_FLOW_OPEN : MTP_FLOW_TO_PROBE;
}

static bool on_leaves(void *owner, struct mtp_packet *p)
{
    const struct media_transport *t = ((struct mtp_flow *)owner)->media;
    return !t->queue || t->queue->leaves(t->queue_ctx, p->bytes, p->len);
}

// Losses in the network have a number, and are the viewer's to report.
static void on_lost(void *owner, const struct mtp_packet *p)
{
    const struct media_transport *t = ((struct mtp_flow *)owner)->media;
    if (t->queue && p->number < 0)
        t->queue->dropped(t->queue_ctx, p->bytes, p->len);
}

void mtp_flow_tell(struct mtp_flow *f, const struct media_transport *media)
{
    struct mtp_queue_config *queue = &f->sender.queue.config;
    f->media = media;
    queue->leaves = on_leaves;
    queue->lost = on_lost;
    queue->owner = f;
}

bool mtp_flow_room(struct mtp_flow *f, usec_t now)
{
    if (f->options.drops)
        return true;
    if (f->options.waits)
        return mtp_sender_has_room(&f->sender, now);
    if (f->phase != MTP_FLOW_OPEN)
        return false;
    return f->sender.queue.packets == 0 && mtp_sender_wants(&f->sender);
}

bool mtp_flow_use_ecn(struct mtp_flow *f)
{
    assert(f->sender.next == 0);
    f->sender.config.ecn = !f->options.no_ecn;
    return f->sender.config.ecn;
}

void mtp_flow_set_window(struct mtp_flow *f, int64_t slots)
{
    mtp_sender_set_window(&f->sender, slots < MTP_FLOW_WINDOW ? slots : MTP_FLOW_WINDOW);
}

// All packets of a frame have the same timestamp (RFC 6184, 5.1).
int mtp_flow_push(struct mtp_flow *f, const uint8_t *rtp, size_t len, usec_t now)
{
    int64_t frame = len >= RTP_TIMESTAMP_AT + 4 ? load_be32(rtp + RTP_TIMESTAMP_AT) : 0;
    return mtp_sender_push(&f->sender, rtp, len, frame, false, now);
}

static bool is_under_way(const struct mtp_flow *f)
{
    return f->sender.next > f->sender.cum;
}

// Fills the slot that the probe skipped. Its packet is useless to the viewer, but middleboxes see a
// sequence without a gap.
static void close_gap(struct mtp_flow *f, struct mtp_out *o, usec_t now)
{
    f->gap_due = false;
    *o = (struct mtp_out){.slot = MTP_PROBE_HOLE, .number = MTP_PROBE_HOLE, .time = now};
}

static bool pull(struct mtp_flow *f, struct mtp_out *o, usec_t now)
{
    if (f->phase == MTP_FLOW_TO_PROBE) // a smaller window has no room for the probe
        f->phase = f->sender.edge < MTP_PROBE_SLOTS ? MTP_FLOW_OPEN : MTP_FLOW_PROBING;
    if (f->phase == MTP_FLOW_PROBING)
        return mtp_probe_pull(&f->probe, o, now);
    if (f->gap_due) {
        close_gap(f, o, now);
        return true;
    }
    return mtp_sender_pull(&f->sender, o, now);
}

size_t mtp_flow_pull(struct mtp_flow *f, uint8_t *out, int64_t *slot, usec_t now)
{
    struct mtp_out o;
    bool waited = is_under_way(f);
    if (!pull(f, &o, now))
        return 0;
    if (!waited)
        f->heard_at = now;
    struct mtp_header h = {.flags = o.flags,
                           .length = o.len,
                           .number = (uint32_t)o.number,
                           .slot = (uint32_t)o.slot,
                           .time_us = (uint32_t)o.time};
    *slot = o.slot;
    f->ect = o.ect;
    f->cwr = o.flags & MTP_CWR;
    return mtp_record_encode(&h, f->token, o.bytes, out);
}

static void note_step(struct mtp_flow *f, enum mtp_mode from)
{
    f->step = (struct mtp_step){from, f->steps.mode, f->steps.reason};
    f->step_due = true;
}

static void change_mode(struct mtp_flow *f, usec_t now)
{
    note_step(f, f->sender.mode);
    mtp_sender_set_mode(&f->sender, f->steps.mode, now);
}

// The flow begins after the probe's slots, which are acknowledged like all others.
static void end_probe(struct mtp_flow *f, usec_t now)
{
    struct mtp_ack ack = f->probe.ack;
    ack.has_echo = false; // its round trip was measured on arrival
    mtp_mode_control_probed(&f->steps, mtp_probe_result(&f->probe), now);
    note_step(f, f->sender.mode);
    f->phase = MTP_FLOW_OPEN;
    f->gap_due = f->steps.mode == MTP_STRICT;
    f->heard_at = now;
    mtp_sender_begin(&f->sender, f->steps.mode, MTP_PROBE_SLOTS, MTP_PROBE_HOLE, f->probe.rtt, now);
    if (f->probe.rtt)
        mtp_sender_ack(&f->sender, &ack, now);
}

void mtp_flow_ack(struct mtp_flow *f, const struct mtp_ack *ack, usec_t now)
{
    if (f->phase != MTP_FLOW_OPEN) {
        if (mtp_probe_ack(&f->probe, ack, now))
            end_probe(f, now);
        return;
    }
    int64_t cum = f->sender.cum;
    usec_t sampled = f->sender.sampled;
    mtp_sender_ack(&f->sender, ack, now);
    if (f->sender.cum > cum || f->sender.sampled > sampled)
        f->heard_at = now;
    if (f->adapts && mtp_mode_control_ack(&f->steps, &f->sender, ack, cum, now))
        change_mode(f, now);
}

usec_t mtp_flow_next_timeout(const struct mtp_flow *f)
{
    if (f->phase == MTP_FLOW_OPEN)
        return mtp_sender_next_timeout(&f->sender);
    return mtp_probe_next_timeout(&f->probe);
}

void mtp_flow_timeout(struct mtp_flow *f, usec_t now)
{
    if (now < mtp_flow_next_timeout(f))
        return;
    if (f->phase != MTP_FLOW_OPEN) {
        end_probe(f, now);
        return;
    }
    mtp_sender_timeout(&f->sender, now);
    if (f->adapts && mtp_mode_control_timeout(&f->steps, &f->sender, now))
        change_mode(f, now);
}

bool mtp_flow_stepped(struct mtp_flow *f, struct mtp_step *step)
{
    bool due = f->step_due;
    f->step_due = false;
    *step = f->step;
    return due;
}

usec_t mtp_flow_unheard(const struct mtp_flow *f, usec_t now)
{
    return is_under_way(f) ? now - f->heard_at : 0;
}
