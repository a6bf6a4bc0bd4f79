// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_sender.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/mtp/mtp_books.h"
#include "common/wire/mtp_header.h"

enum { FIRST_CWND = 4 }; // RFC 5681, 3.1, for slots of up to 1095 bytes

static const usec_t LEAST_RTO = USEC_PER_SEC; // RFC 6298, 2.4

int mtp_sender_init(struct mtp_sender *s, const struct mtp_sender_config *config, usec_t now)
{
    assert(now >= 0 && config->slot_bytes > 0 && config->window >= 0 && config->cwnd >= 0);
    *s = (struct mtp_sender){
        .config = *config,
        .mode = config->mode,
        .edge = config->window,
        .ssthresh = config->ssthresh > 0 ? config->ssthresh : INT_MAX,
        .rto_at = USEC_NEVER,
        .rack_at = USEC_NEVER,
        .sampled = -1,
        .timed = -1,
        .recover = -1,
        .replaced_at = -1,
    };
    if (s->config.cwnd == 0)
        s->config.cwnd = FIRST_CWND;
    s->cwnd = s->config.cwnd;
    size_t *history = &s->config.history;
    if (*history == 0)
        *history = MTP_HISTORY;
    assert(*history <= MTP_MAX_HISTORY && (*history & (*history - 1)) == 0);
    rto_init(&s->rto, config->least_rto > 0 ? config->least_rto : LEAST_RTO, config->most_rto);
    mtp_queue_init(&s->queue, &config->queue);
    s->sent = calloc(*history, sizeof(*s->sent));
    return s->sent ? 0 : ERR_NO_MEMORY;
}

void mtp_sender_set_window(struct mtp_sender *s, int64_t slots)
{
    assert(s->next == 0 && slots >= 0);
    s->edge = slots;
}

void mtp_sender_begin(struct mtp_sender *s, enum mtp_mode mode, int64_t next, int64_t hole,
                      usec_t rtt, usec_t now)
{
    assert(s->next == 0 && next <= (int64_t)s->config.history && next <= s->edge);
    for (int64_t slot = 0; slot < next; slot++)
        *books_of(s, slot) = (struct mtp_sent){.number = slot, .at = now, .lost = slot == hole};
    bool strict = mode == MTP_STRICT;
    s->mode = mode;
    s->state = strict ? MTP_OPEN : MTP_GO_BACK;
    s->next = s->next_number = s->point = next;
    s->send_at = strict ? next : 0;
    if (!strict) // what was sent behind the hole is under way no more (and RFC 6928 allows 10)
        s->cwnd += (int)(next - hole) - 1;
    s->sent_at = now;
    if (rtt > 0)
        rto_sample(&s->rto, rtt);
    books_arm(s, now);
}

void mtp_sender_destroy(struct mtp_sender *s)
{
    for (int64_t slot = s->cum; slot < s->next; slot++)
        free(books_of(s, slot)->packet);
    free(s->sent);
    mtp_queue_destroy(&s->queue);
    *s = (struct mtp_sender){0};
}

// The flow as MIN_BUF sees it, without the queue.
static struct tcp_snapshot snapshot(const struct mtp_sender *s)
{
    return (struct tcp_snapshot){
        .cwnd = (uint32_t)s->cwnd,
        .unacked = (uint32_t)(s->next - s->cum),
        .sacked = (uint32_t)mtp_ranges_within(&s->sacked, s->cum, s->next),
        .mss = s->config.slot_bytes,
        .srtt = s->rto.srtt,
    };
}

int mtp_sender_push(struct mtp_sender *s, const uint8_t *data, size_t len, int64_t frame, bool ctrl,
                    usec_t now)
{
    if (len == 0 || len > s->config.slot_bytes)
        return ERR_TOO_BIG;
    struct tcp_snapshot net = snapshot(s);
    int err = mtp_queue_push(&s->queue, data, (uint16_t)len, frame, ctrl, &net, now);
    books_arm(s, now);
    return err;
}

bool mtp_sender_has_room(struct mtp_sender *s, usec_t now)
{
    struct tcp_snapshot net = snapshot(s);
    return mtp_queue_has_room(&s->queue, s->config.slot_bytes, &net, now);
}

static void put_out(const struct mtp_sender *s, int64_t slot, struct mtp_out *out)
{
    const struct mtp_sent *e = books_of(s, slot);
    *out = (struct mtp_out){
        .slot = slot,
        .number = e->number,
        .flags = e->flags,
        .bytes = e->packet ? e->packet->bytes : NULL,
        .len = e->packet ? e->packet->len : 0,
        .time = e->at,
    };
}

// A packet with a number of its own, empty when there is none to send, goes into the slot.
static void send_packet(struct mtp_sender *s, int64_t slot, struct mtp_packet *p, unsigned flags,
                        struct mtp_out *out, usec_t now)
{
    if (p) {
        p->number = s->next_number;
        flags |= p->ctrl ? MTP_CTRL : 0;
        s->counts.packets++;
        s->counts.bytes += p->len;
    } else {
        s->counts.empties++;
    }
    *books_of(s, slot) = (struct mtp_sent){
        .packet = p,
        .number = s->next_number++,
        .at = now,
        .flags = (uint8_t)flags,
        .inflates = flags & MTP_R && s->state == MTP_FAST,
    };
    s->counts.replacements += (flags & MTP_R) != 0;
    s->sent_at = now;
    put_out(s, slot, out);
    books_arm(s, now);
}

static void send_new(struct mtp_sender *s, struct mtp_packet *p, unsigned flags,
                     struct mtp_out *out, usec_t now)
{
    int64_t slot = s->next++;
    s->send_at = s->next;
    if (s->timed < 0 && !(flags & MTP_R)) {
        s->timed = slot;
        s->timed_since = now;
    }
    send_packet(s, slot, p, flags, out, now);
}

// Where Reno retransmits. `strict` comes here when its replacement does not fit.
static void send_again(struct mtp_sender *s, int64_t slot, struct mtp_out *out, usec_t now)
{
    if (s->mode == MTP_RESEND) {
        s->counts.resends++;
        if (!s->config.stamps_resends)
            s->sampled = now;
        put_out(s, slot, out);
        return;
    }
    books_lose(s, slot);
    struct mtp_sent *e = books_of(s, slot);
    bool inflates = e->inflates; // its slot still counts as it did
    free(e->packet);
    s->counts.fills++;
    send_packet(s, slot, mtp_queue_pop(&s->queue, now), MTP_FILL, out, now);
    books_of(s, slot)->inflates = inflates;
}

// II-A: at the third duplicate ACK, whatever the window says.
static void replace(struct mtp_sender *s, struct mtp_out *out, usec_t now)
{
    s->replacement_due = false;
    if (s->mode != MTP_STRICT || !books_have_room(s)) {
        send_again(s, s->cum, out, now);
        return;
    }
    books_lose(s, s->cum);
    s->inflation++;
    bool first = s->recover == s->next;
    if (!s->fast_end)
        s->fast_end = s->next + 1;
    s->replaced_at = s->next;
    send_new(s, mtp_queue_pop(&s->queue, now), MTP_R, out, now);
    if (first)
        s->recover = s->next;
}

// An old slot, empty: the answer tells of the window. Beyond it nothing may be sent.
static void probe(struct mtp_sender *s, struct mtp_out *out, usec_t now)
{
    s->probe_due = false;
    s->counts.probes++;
    *out = (struct mtp_out){.slot = s->cum - 1, .number = s->next_number++, .time = now};
}

// RFC 5681, 4.1: after silence there is no ACK clock, and what was learnt of the path is old.
static void restart_after_idle(struct mtp_sender *s, usec_t now)
{
    bool idle = s->next == s->cum && now - s->sent_at > rto_value(&s->rto);
    if (idle && s->cwnd > s->config.cwnd)
        s->cwnd = s->config.cwnd;
}

static bool cwnd_has_room(const struct mtp_sender *s)
{
    int dups = s->state == MTP_FAST || s->dups < 2 ? s->dups : 2; // RFC 3042
    return s->send_at - s->base < (int64_t)s->cwnd + dups + s->inflation;
}

bool mtp_sender_wants(const struct mtp_sender *s)
{
    if (s->probe_due)
        return false;
    if (s->replacement_due)
        return s->mode != MTP_RESEND;
    if (!cwnd_has_room(s))
        return false;
    if (mtp_ranges_skip(&s->sacked, s->send_at) < s->next) // in MTP_GO_BACK
        return s->mode != MTP_RESEND;
    return books_have_room(s);
}

bool mtp_sender_pull(struct mtp_sender *s, struct mtp_out *out, usec_t now)
{
    if (s->probe_due) {
        probe(s, out, now);
        return true;
    }
    if (s->replacement_due) {
        replace(s, out, now);
        return true;
    }
    if (s->send_at < s->next) // only in MTP_GO_BACK
        s->send_at = mtp_ranges_skip(&s->sacked, s->send_at);
    restart_after_idle(s, now);
    if (!cwnd_has_room(s))
        return false;
    if (s->send_at < s->next) {
        send_again(s, s->send_at++, out, now);
        return true;
    }
    if (!books_have_room(s))
        return false;
    bool recovering = s->state == MTP_TIMEOUT;
    struct mtp_packet *p = mtp_queue_pop(&s->queue, now);
    if (!p && !(recovering && books_holes_left(s) > 0))
        return false;
    send_new(s, p, recovering ? MTP_R : 0, out, now);
    if (recovering)
        s->settled_at = s->next;
    return true;
}

usec_t mtp_sender_next_timeout(const struct mtp_sender *s)
{
    return usec_min(s->rto_at, s->rack_at);
}

struct mtp_info mtp_sender_info(const struct mtp_sender *s)
{
    int64_t sacked = mtp_ranges_within(&s->sacked, s->cum, s->next);
    int64_t highest = s->sacked.count > 0 ? s->sacked.at[s->sacked.count - 1].end : s->cum;
    int64_t unseen = s->next - s->cum - sacked;
    int64_t replaced = s->state == MTP_TIMEOUT ? s->next - s->point : s->inflation;
    return (struct mtp_info){
        .mode = s->mode,
        .state = s->state,
        .cwnd = s->cwnd,
        .ssthresh = s->ssthresh,
        .flight = unseen > replaced ? unseen - replaced : 0,
        .holes = highest - s->cum - sacked,
        .sacked = sacked,
        .srtt = s->rto.srtt,
        .rto = rto_value(&s->rto),
        .should_step_down = s->stuck >= MTP_STUCK,
        .queued = s->queue.packets,
        .queued_bytes = s->queue.bytes,
        .dropped = s->queue.dropped,
        .counts = s->counts,
    };
}
