// SPDX-License-Identifier: GPL-2.0-or-later
// Reports from any compound are written and read back, and told to a datagram sender. Each is led
// by two bytes: packets to send before it, and the time that passes (2^n us, n < 32).
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/protocol/datagram_sender.h"
#include "common/wire/rtcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Always lets packets out; checks that what it is told keeps controller.h.
struct checker {
    struct controller base;
    uint64_t arrived, lost;
    int64_t highest_sent;
};

static void on_sent(struct controller *c, const struct cc_sent *s, usec_t now)
{
    (void)now;
    assert(s->number == ++((struct checker *)c)->highest_sent);
}

static void on_feedback(struct controller *c, const struct cc_feedback *f, usec_t now)
{
    struct checker *k = (struct checker *)c;
    assert(f->highest_sent == k->highest_sent && f->highest_arrived <= f->highest_sent);
    assert(f->rtt >= 0 && f->rtt <= now + 1 && (f->rtt == 0 || f->srtt > 0));
    for (size_t i = 0; i < f->count; i++) {
        const struct cc_packet *p = &f->packets[i];
        assert(p->number >= 0 && p->number <= f->highest_sent && p->sent_at <= now);
        assert(i == 0 || p->number > p[-1].number);
        assert(p->lost ? p->arrived_at == 0 : p->number <= f->highest_arrived);
        k->lost += p->lost;
        k->arrived += !p->lost;
    }
}

static void on_rto(struct controller *c, int consecutive, usec_t now)
{
    (void)c;
    (void)now;
    assert(consecutive > 0);
}

static usec_t on_next_send(struct controller *c, usec_t now)
{
    (void)c;
    return now;
}

static const struct controller_ops checker_ops = {
    .sent = on_sent, .feedback = on_feedback, .rto = on_rto, .next_send = on_next_send};

static void check_books(const struct datagram_sender *s)
{
    const struct checker *k = (const struct checker *)s->controller;
    const struct datagram_counts *c = &s->counts;
    assert(s->oldest >= 0 && s->oldest <= s->next_number);
    assert(s->next_number - s->oldest <= (int64_t)s->history);
    assert(s->highest_arrived < s->next_number);
    assert(c->arrived == k->arrived && c->lost == k->lost && c->late <= c->lost);
    assert(c->arrived + c->lost + c->unreported <= c->packets && c->lies <= c->reports);
    uint64_t open = c->packets - c->arrived - c->lost - c->unreported;
    assert((open > 0) == (s->oldest < s->next_number) && s->flight_bytes <= open * 100);
    assert((s->rto_at == USEC_NEVER) == (open == 0) && (s->silent > 0 || !s->probe));
}

static void check_wire(const struct ccfb *report)
{
    static struct ccfb back;
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = 0;
    int err = ccfb_append(report, out, sizeof(out), &len);
    assert(err == 0 && len == ccfb_bytes(report->count));
    err = ccfb_decode(out, len, &back);
    assert(err == 0 && back.count == report->count && back.timestamp == report->timestamp);
    assert(memcmp(back.metric, report->metric, back.count * sizeof(back.metric[0])) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ccfb report;
    struct checker *k = calloc(1, sizeof(*k));
    assert(k);
    k->base.ops = &checker_ops;
    k->highest_sent = -1;
    struct datagram_sender s;
    struct datagram_sender_config config = {
        .first_seq = 0xfffe, .history = 256, .max_rto = RTO_MAX_LIVE};
    int err = datagram_sender_init(&s, &k->base, &config, 0);
    assert(err == 0);
    usec_t now = 0;
    for (struct bytes in = bytes_of(data, size); bytes_left(&in) >= 2;) {
        for (int i = bytes_u8(&in); i > 0 && datagram_sender_room(&s, now); i--)
            datagram_sender_sent(&s, 100, now);
        now += (usec_t)1 << (bytes_u8(&in) & 31);
        while (datagram_sender_next_timeout(&s) <= now)
            datagram_sender_timeout(&s, now);
        size_t at = 0;
        int got = ccfb_next(in.at, bytes_left(&in), &at, &report);
        if (got == 1) {
            check_wire(&report);
            datagram_sender_feedback(&s, &report, now);
        }
        bytes_take(&in, at);
        check_books(&s);
    }
    datagram_sender_destroy(&s);
    return 0;
}
