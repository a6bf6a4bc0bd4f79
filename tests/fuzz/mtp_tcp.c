// SPDX-License-Identifier: GPL-2.0-or-later
// MTP in TCP segments: a client and a server after the handshake, joined by a path that loses,
// duplicates, reorders and splits segments as the input says, and a third party whose segments have
// almost the right numbers. Invariants: slots arrive as they were sent, nothing is acknowledged
// that did not arrive, nothing leaves beyond the window.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/mtp/mtp_tcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOT = 64, SLOTS = 200, FLYING = 32, WINDOW = 16 };

struct flying {
    bool to_server;
    struct tcp_segment s;
    uint8_t data[SLOT + MTP_TCP_HELLO];
};

struct world {
    struct mtp_tcp client, server;
    struct flying path[FLYING];
    int count;
    int64_t next_slot, cum;
    usec_t now;
};

static void launch(struct world *w, const struct tcp_segment *s, bool to_server)
{
    if (w->count == FLYING)
        return;
    struct flying *f = &w->path[w->count++];
    f->to_server = to_server;
    f->s = *s;
    assert(s->len <= sizeof(f->data));
    if (s->len > 0)
        memcpy(f->data, s->data, s->len);
}

static void drain(struct world *w)
{
    struct tcp_segment s;
    while (mtp_tcp_pull(&w->client, &s, w->now))
        launch(w, &s, true);
    while (mtp_tcp_pull(&w->server, &s, w->now)) {
        assert(!s.len || w->server.finishing || w->server.sent <= w->server.edge);
        launch(w, &s, false);
    }
    assert(w->client.taken <= w->client.received && w->server.acked <= w->server.sent);
}

static void deliver(struct world *w, struct tcp_segment *s, bool to_server)
{
    struct mtp_ack ack;
    int64_t slot;
    const uint8_t *record;
    if (to_server) {
        if (mtp_tcp_input(&w->server, s, &ack, w->now) & MTP_TCP_ACKED)
            assert(ack.cum >= 0 && ack.window >= 0 && ack.count <= MTP_ACK_RANGES);
        return;
    }
    if (!(mtp_tcp_input(&w->client, s, &ack, w->now) & MTP_TCP_SLOTS))
        return;
    while (mtp_tcp_next(&w->client, &slot, &record)) {
        assert(slot >= 0 && slot < SLOTS && record[0] == (uint8_t)slot);
        if (slot == w->cum)
            w->cum++;
        struct mtp_ack due = {.cum = w->cum, .count = slot > w->cum};
        due.ranges[0] = (struct mtp_range){slot, slot + 1};
        mtp_tcp_acknowledge(&w->client, &due);
        drain(w);
    }
}

static void arrive(struct world *w, int which, unsigned cut, bool keep)
{
    struct flying f = w->path[which];
    if (!keep) {
        w->count--;
        memmove(&w->path[which], &w->path[which + 1],
                (size_t)(w->count - which) * sizeof(w->path[0]));
    }
    f.s.data = f.data;
    size_t len = f.s.len;
    if (cut < len && !(f.s.flags & TCP_SEGMENT_FIN)) { // a middlebox splits the segment
        f.s.len = cut;
        deliver(w, &f.s, f.to_server);
        f.s.seq += cut;
        f.s.data += cut;
        f.s.len = len - cut;
    }
    deliver(w, &f.s, f.to_server);
}

static void forge(struct world *w, struct bytes *in)
{
    unsigned what = bytes_u8(in);
    const struct mtp_tcp *victim = what & 1 ? &w->client : &w->server;
    int8_t near = (int8_t)bytes_u8(in);
    struct tcp_segment s = {
        .seq = victim->irs + (uint32_t)(victim->taken + near),
        .ack = victim->isn + (uint32_t)(victim->sent + (int8_t)bytes_u8(in)),
        .flags = bytes_u8(in),
        .window = bytes_u16(in),
        .has_times = what & 2,
        .time = victim->peer_time + (what >> 4),
        .time_echo = mtp_tcp_time(victim->time_offset, w->now) - (what >> 5),
        .sack_count = what >> 2 & 1,
        .data = in->at,
        .len = bytes_left(in) < SLOT ? bytes_left(in) : SLOT,
    };
    s.sack[0] = (struct tcp_sack){s.ack + bytes_u8(in), s.ack + bytes_u8(in)};
    deliver(w, &s, !(what & 1));
}

static void act(struct world *w, struct bytes *in)
{
    unsigned op = bytes_u8(in);
    unsigned arg = op >> 4;
    uint8_t record[8];
    w->now += 1 + arg * arg * 1000;
    switch (op & 15) {
    case 0:
    case 1:
    case 2:
        memset(record, (int)w->next_slot, sizeof(record));
        if (w->next_slot < SLOTS)
            w->next_slot += mtp_tcp_send(&w->server, w->next_slot, record, sizeof(record)) == 0;
        break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        if (w->count > 0)
            arrive(w, (op & 15) < 6 ? 0 : (int)arg % w->count, arg * 4 + 1, (op & 15) == 7);
        break;
    case 8:
        w->count -= w->count > 0;
        break;
    case 9:
    case 10: {
        struct mtp_tcp *c = arg & 1 ? &w->client : &w->server;
        if (mtp_tcp_next_timeout(c) != USEC_NEVER) {
            w->now = usec_max(w->now, mtp_tcp_next_timeout(c));
            mtp_tcp_timeout(c, w->now);
        }
        break;
    }
    case 11:
        if (arg == 0)
            mtp_tcp_close(&w->server, w->now);
        else if (arg == 1)
            mtp_tcp_close(&w->client, w->now);
        else if (arg == 2)
            mtp_tcp_abort(&w->server);
        break;
    default:
        if (bytes_left(in) >= 8)
            forge(w, in);
    }
    drain(w);
}

static void shake_hands(struct world *w)
{
    struct mtp_tcp_config config = {
        .secret = {{1, 2}}, .token = 3, .slot_bytes = SLOT, .window = WINDOW};
    struct tcp_path path = {.source.port = 1, .destination.port = 2};
    struct tcp_segment syn, answer, hello;
    struct mtp_tcp_accepted a;
    int failed = mtp_tcp_connect(&w->client, &config, &path, w->now);
    bool good = !failed && mtp_tcp_pull(&w->client, &syn, w->now);
    good &= mtp_tcp_listen(&config.secret, &syn, &answer, &a, w->now) == MTP_TCP_REPLY;
    mtp_tcp_input(&w->client, &answer, NULL, w->now);
    good &= mtp_tcp_pull(&w->client, &hello, w->now);
    good &= mtp_tcp_listen(&config.secret, &hello, &answer, &a, w->now) == MTP_TCP_ACCEPT;
    good &= mtp_tcp_accept(&w->server, &config, &a, w->now) == 0;
    assert(good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096)
        return 0;
    struct world *w = calloc(1, sizeof(*w));
    assert(w);
    struct bytes in = bytes_of(data, size);
    w->now = USEC_PER_SEC;
    shake_hands(w);
    drain(w);
    while (bytes_left(&in) > 0)
        act(w, &in);
    mtp_tcp_destroy(&w->client);
    mtp_tcp_destroy(&w->server);
    free(w);
    return 0;
}
