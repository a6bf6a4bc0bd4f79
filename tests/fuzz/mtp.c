// SPDX-License-Identifier: GPL-2.0-or-later
// MTP. First byte even: a payload header; what decodes encodes to the same bytes. Odd: a sender and
// a receiver, joined by a path that loses, doubles and reorders as the bytes say, and an enemy that
// forges ACKs. Whatever happens: nothing beyond the window is sent, nothing arrives twice or
// altered, the books stay true, and once the path is good again and no lie is told, all comes to
// rest.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/mtp/mtp_probe.h"
#include "common/mtp/mtp_reassembly.h"
#include "common/mtp/mtp_receiver.h"
#include "common/mtp/mtp_sender.h"
#include "common/wire/mtp_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLYING = 64, FRAMES = 4096, SLOT = 8, RECORD = MTP_HEADER_BYTES + SLOT };

struct world {
    struct mtp_sender s;
    struct mtp_receiver r;
    struct mtp_reassembly slots;
    uint8_t delivered[FRAMES / 8];
    uint8_t packets[FLYING][RECORD];
    int64_t offsets[FLYING]; // where in the byte sequence; < 0: none
    struct mtp_ack acks[FLYING];
    int packet_count, ack_count;
    int64_t edge, written;
    usec_t now;
};

static void check(const struct world *w)
{
    const struct mtp_sender *s = &w->s;
    assert(s->cum <= s->next && s->base <= s->next && s->send_at <= s->next);
    assert(s->cum <= s->send_at || s->state == MTP_TIMEOUT);
    assert(s->next - s->cum <= (int64_t)s->config.history);
    assert(s->cwnd >= 1 && s->ssthresh >= 2 && s->dups >= 0 && s->inflation >= 0);
    assert(s->rto_at != USEC_NEVER || s->next == s->cum);
    assert(mtp_sender_replacements(s) == (s->state == MTP_TIMEOUT ? 0 : s->inflation));
    int64_t last = s->cum;
    for (int i = 0; i < s->sacked.count; i++) {
        assert(s->sacked.at[i].begin >= last && s->sacked.at[i].end > s->sacked.at[i].begin);
        last = s->sacked.at[i].end + 1;
    }
    assert(last <= s->next + 1);
    struct mtp_info info = mtp_sender_info(s);
    assert(info.flight >= 0 && info.holes >= 0 && info.rto > 0);
}

static void write_one(struct world *w)
{
    if (w->written == FRAMES)
        return;
    uint8_t bytes[SLOT] = {0};
    store_be64(bytes, (uint64_t)w->written);
    (void)mtp_sender_push(&w->s, bytes, SLOT, w->written++, false, w->now);
}

static void pull(struct world *w)
{
    struct mtp_out out;
    while (mtp_sender_pull(&w->s, &out, w->now)) {
        assert(out.slot < w->edge && out.slot >= -1);
        if (w->packet_count == FLYING) // the path's queue is full
            continue;
        struct mtp_header h = {out.flags, out.len, (uint32_t)out.number, (uint32_t)out.slot,
                               (uint32_t)out.time};
        uint8_t *record = w->packets[w->packet_count];
        memset(record, 0, RECORD);
        mtp_header_encode(&h, record);
        if (out.len > 0)
            memcpy(record + MTP_HEADER_BYTES, out.bytes, out.len);
        w->offsets[w->packet_count++] = out.slot * RECORD;
    }
}

static void receive(struct world *w, const uint8_t *record, bool honest)
{
    struct mtp_header h;
    if (mtp_header_decode(record, RECORD, &h) != 0) {
        assert(!honest);
        return;
    }
    enum mtp_verdict v = mtp_receiver_packet(&w->r, &h);
    assert(v != MTP_BEYOND || !honest);
    if (v == MTP_DELIVER && honest) {
        uint64_t frame = load_be64(record + MTP_HEADER_BYTES);
        assert(frame < (uint64_t)w->written && !(w->delivered[frame / 8] >> (frame & 7) & 1));
        w->delivered[frame / 8] |= (uint8_t)(1 << (frame & 7));
    }
    if (w->ack_count < FLYING)
        mtp_receiver_ack(&w->r, &w->acks[w->ack_count++]);
}

// One of the packets under way arrives, whole or in two segments; `keep`: a copy stays.
static void arrive(struct world *w, int which, size_t cut, bool keep)
{
    uint8_t record[RECORD];
    memcpy(record, w->packets[which], RECORD);
    int64_t offset = w->offsets[which];
    if (!keep) {
        w->packet_count--;
        memmove(w->packets[which], w->packets[which + 1],
                (size_t)(w->packet_count - which) * RECORD);
        memmove(&w->offsets[which], &w->offsets[which + 1],
                (size_t)(w->packet_count - which) * sizeof(w->offsets[0]));
    }
    if (offset < 0) { // a probe stands before the first slot
        receive(w, record, true);
        return;
    }
    int64_t slot;
    const uint8_t *bytes;
    struct mtp_piece first = {offset, record, cut};
    struct mtp_piece second = {offset + (int64_t)cut, record + cut, RECORD - cut};
    while (mtp_reassembly_next(&w->slots, &first, &slot, &bytes) ||
           mtp_reassembly_next(&w->slots, &second, &slot, &bytes)) {
        assert(slot == offset / RECORD && memcmp(bytes, record, RECORD) == 0);
        receive(w, bytes, true);
    }
}

static void acknowledge(struct world *w, int which, bool keep)
{
    struct mtp_ack ack = w->acks[which];
    if (!keep) {
        w->ack_count--;
        memmove(&w->acks[which], &w->acks[which + 1], (size_t)(w->ack_count - which) * sizeof(ack));
    }
    if (ack.cum + ack.window > w->edge)
        w->edge = ack.cum + ack.window;
    mtp_sender_ack(&w->s, &ack, w->now);
}

// An ACK that the receiver never sent. It does not go beyond what the receiver has: that would be
// believed, as it must be.
static void forge(struct world *w, const uint8_t *b)
{
    struct mtp_ack ack = {
        .cum = b[0] & 1 ? w->s.cum - (b[0] >> 4) : w->s.next + 1 + (b[0] >> 1),
        .window = b[0] & 2 ? -1 - b[1] : 0,
        .has_echo = b[0] & 4,
        .echo_us = load_be32(b + 1),
        .count = b[5] % (MTP_ACK_RANGES + 3) - 1,
    };
    for (int i = 0; i < ack.count && i < MTP_ACK_RANGES; i++) {
        ack.ranges[i] =
            (struct mtp_range){w->s.cum + (int8_t)b[6 + i % 4],
                               w->s.cum + (int8_t)b[7 + i % 4] * (i == 3 ? 1 << 20 : 1)};
    }
    mtp_sender_ack(&w->s, &ack, w->now);
}

static void act(struct world *w, struct bytes *in)
{
    unsigned op = bytes_u8(in);
    unsigned arg = op >> 4;
    w->now += 1 + (usec_t)arg * 500;
    switch (op & 15) {
    case 0:
    case 1:
        for (unsigned i = 0; i <= arg; i++)
            write_one(w);
        break;
    case 2:
    case 3:
    case 4:
    case 5:
        if (w->packet_count > 0)
            arrive(w, (int)(op & 15) < 4 ? 0 : (int)arg % w->packet_count, RECORD - (op & 1) * arg,
                   (op & 15) == 5);
        break;
    case 6:
    case 7:
    case 8:
        if (w->ack_count > 0)
            acknowledge(w, (op & 15) == 6 ? 0 : (int)arg % w->ack_count, (op & 15) == 8);
        break;
    case 9:
        w->packet_count -= w->packet_count > 0;
        break;
    case 10:
        w->ack_count -= w->ack_count > 0;
        break;
    case 11:
    case 12:
        if (mtp_sender_next_timeout(&w->s) != USEC_NEVER) {
            w->now = usec_max(w->now, mtp_sender_next_timeout(&w->s));
            mtp_sender_timeout(&w->s, w->now);
        }
        break;
    case 13:
        mtp_sender_set_mode(&w->s, (enum mtp_mode)(arg % 3), w->now);
        break;
    default:
        if (bytes_left(in) >= 12)
            forge(w, bytes_take(in, 12));
    }
}

// A good path and true ACKs: it comes to rest.
static void settle(struct world *w)
{
    for (int i = 0; w->s.next > w->s.cum || w->s.queue.packets > 0; i++) {
        assert(i < 100000);
        if (w->packet_count > 0) {
            arrive(w, 0, RECORD, false);
        } else if (w->ack_count > 0) {
            acknowledge(w, 0, false);
        } else {
            w->now = mtp_sender_next_timeout(&w->s);
            assert(w->now != USEC_NEVER);
            mtp_sender_timeout(&w->s, w->now);
        }
        w->now++;
        pull(w);
        check(w);
    }
}

// Behind a probe: what of its flight came, and the acknowledgements, the bits of `came` say.
static void begin(struct world *w, enum mtp_mode mode, unsigned came)
{
    struct mtp_probe p;
    struct mtp_out out;
    mtp_probe_init(&p);
    for (; mtp_probe_pull(&p, &out, w->now); came >>= 1) {
        struct mtp_header h = {out.flags, out.len, (uint32_t)out.number, (uint32_t)out.slot,
                               (uint32_t)out.time};
        if (!(came & 1))
            continue;
        enum mtp_verdict v = mtp_receiver_packet(&w->r, &h);
        assert(v == MTP_EMPTY || v == MTP_DUPLICATE);
        mtp_receiver_ack(&w->r, &w->acks[w->ack_count++]);
    }
    mtp_sender_begin(&w->s, mode, MTP_PROBE_SLOTS, MTP_PROBE_HOLE, 0, w->now);
}

static void run(struct world *w, struct bytes *in)
{
    uint8_t first = bytes_u8(in), second = bytes_u8(in);
    int64_t window = 1 + second % 64;
    struct mtp_sender_config config = {
        .mode = (enum mtp_mode)(first % 3),
        .slot_bytes = SLOT,
        .history = 32,
        .window = second & 128 ? window : 0,
        .cwnd = 1 + (first >> 2 & 7),
        .first_bytes = bytes_left(in) >> 4 & 1 ? 10 * SLOT : 0,
        .ssthresh = 2 + (first >> 5),
        .once_a_window = bytes_left(in) & 1,
        .karn = bytes_left(in) >> 3 & 1,
        .newreno = bytes_left(in) >> 1 & 1,
        .counts_slots = bytes_left(in) >> 2 & 1,
        .queue = {.bytes = 400, .block = second & 64},
    };
    int failed = mtp_sender_init(&w->s, &config, 0) | mtp_reassembly_init(&w->slots, RECORD);
    assert(!failed);
    mtp_receiver_init(&w->r, window);
    w->edge = config.window;
    if (config.window >= MTP_PROBE_SLOTS && bytes_left(in) & 2)
        begin(w, config.mode, bytes_u8(in));
    while (bytes_left(in) > 0) {
        act(w, in);
        pull(w);
        check(w);
    }
    settle(w);
    mtp_reassembly_destroy(&w->slots);
    mtp_sender_destroy(&w->s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (!(data[0] & 1)) {
        struct mtp_header h;
        uint8_t again[MTP_HEADER_BYTES];
        if (mtp_header_decode(data + 1, size - 1, &h) == 0) {
            assert(h.length <= size - 1 - MTP_HEADER_BYTES);
            mtp_header_encode(&h, again);
            assert(memcmp(again, data + 1, MTP_HEADER_BYTES) == 0);
        }
        return 0;
    }
    struct bytes in = bytes_of(data + 1, size - 1);
    if (size < 3 || size > 4096)
        return 0;
    struct world *w = calloc(1, sizeof(*w));
    assert(w);
    run(w, &in);
    free(w);
    return 0;
}
