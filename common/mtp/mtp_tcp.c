// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_tcp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/seq.h"

static const usec_t MTP_TCP_HELLO_RETRY = 300 * USEC_PER_MSEC;
static const usec_t MTP_TCP_LINGER =
    USEC_PER_SEC; // time for which a repeated FIN of the peer is still answered

static void mtp_tcp_close_with(struct mtp_tcp *c, enum mtp_tcp_end end);

static uint32_t mtp_tcp_clock(const struct mtp_tcp *c, usec_t now)
{
    return mtp_tcp_time(c->time_offset, now);
}

// The peer sends keep-alives, so its newest timestamp is at most a few of them old.
static const uint32_t MAX_ECHO_AGE_MS = 120 * 1000;

// A segment with its numbers converted to offsets.
struct arrival {
    const struct tcp_segment *s;
    int64_t at, end; // range of its data
    int64_t ack;
};

// RFC 5961, 7: limits the challenge ACKs per second.
static void challenge(struct mtp_tcp *c, usec_t now)
{
    if (now - c->challenged_at >= USEC_PER_SEC) {
        c->challenged_at = now;
        c->challenges = 0;
    }
    if (c->challenges == MTP_TCP_CHALLENGES)
        return;
    c->challenges++;
    c->counts.challenges++;
    c->ack_due = true;
}

// RFC 5961, 3.2. Two sequence numbers count as exact: a sender that never retransmits resets at the
// end of its data, which is not acknowledged after a hole. After both FINs a reset is no error (RFC
// 9293, 3.10.7.4, LAST-ACK): the peer's program has ended, and its acknowledgement was lost.
static void on_reset(struct mtp_tcp *c, const struct arrival *a, usec_t now)
{
    if (a->at == c->taken || a->at == c->received)
        mtp_tcp_close_with(c, c->finishing && c->peer_finished ? MTP_TCP_ENDED : MTP_TCP_RESET);
    else if (a->at > c->taken && a->at < c->taken + c->window)
        challenge(c, now);
    else
        c->counts.strangers++;
}

static bool echo_is_ours(const struct mtp_tcp *c, const struct tcp_segment *s, usec_t now)
{
    return s->has_times && mtp_tcp_clock(c, now) - s->time_echo <= MAX_ECHO_AGE_MS;
}

// Returns true if the segment may come from the peer. Late data is accepted within one window below
// the acknowledged offset.
static bool is_acceptable(struct mtp_tcp *c, const struct arrival *a, usec_t now)
{
    int64_t peer_window = c->edge - c->acked + MTP_TCP_SERVER_WINDOW;
    if (a->s->flags & TCP_SEGMENT_RST) {
        on_reset(c, a, now);
        return false;
    }
    if (a->s->flags & TCP_SEGMENT_SYN) { // RFC 5961, 4.2: regardless of its sequence number
        challenge(c, now);
        return false;
    }
    bool good = a->s->flags & TCP_SEGMENT_ACK && (!c->times || echo_is_ours(c, a->s, now));
    // RFC 9293, 3.10.7.4, and RFC 5961, 5.2.
    bool in_window = a->at >= c->taken - c->window && a->end <= c->taken + c->window;
    bool ack_fits = a->ack <= c->sent && a->ack >= c->acked - peer_window;
    if (good && in_window && ack_fits)
        return true;
    c->counts.strangers++;
    if (good)
        challenge(c, now);
    return false;
}

static unsigned on_syn_ack(struct mtp_tcp *c, const struct tcp_segment *s, usec_t now)
{
    bool answers = s->flags & TCP_SEGMENT_ACK && s->ack == c->isn + 1 && c->sent == 1;
    if (!answers || (s->has_times && !echo_is_ours(c, s, now) && !(s->flags & TCP_SEGMENT_RST))) {
        c->counts.strangers++;
        return 0;
    }
    if (s->flags & TCP_SEGMENT_RST) {
        mtp_tcp_close_with(c, MTP_TCP_REFUSED);
        return 0;
    }
    if (!(s->flags & TCP_SEGMENT_SYN))
        return 0;
    c->irs = s->seq;
    c->received = c->taken = 1;
    c->acked = 1;
    c->times = s->has_times;
    c->peer_time = s->time;
    c->sack = s->sack_permitted;
    // RFC 3168, 6.1.1: both flags would be an echo of ours. A SYN-ACK with ECE answers our first
    // SYN, even if it comes after a repeated one; the server will send ECN-capable packets.
    c->ecn = (s->flags & (TCP_SEGMENT_ECE | TCP_SEGMENT_CWR)) == TCP_SEGMENT_ECE;
    c->peer_scale = s->scale;
    if (s->scale == TCP_SEGMENT_NO_SCALE) { // RFC 7323, 2.2: scaling requires both ends
        c->scale = TCP_SEGMENT_NO_SCALE;
        if (c->window > UINT16_MAX)
            c->window = UINT16_MAX;
    }
    c->edge = 1 + s->window; // the window of a SYN-ACK is not scaled
    c->out_at = 1;
    c->out_len = MTP_TCP_HELLO;
    c->heard_at = now;
    c->ack_due = true;
    c->state = MTP_TCP_GREETING;
    c->tries = 0;
    c->retry_at = now + MTP_TCP_HELLO_RETRY;
    return 0;
}

// Converts an acknowledgement to slots. It ignores SACK blocks outside the outstanding data: they
// are old, or a firewall did not translate them. A slot counts when all its bytes are acknowledged.
static void to_slots(const struct mtp_tcp *c, const struct arrival *a, struct mtp_ack *ack,
                     usec_t now)
{
    const struct tcp_segment *s = a->s;
    int64_t slot_bytes = c->config.slot_bytes;
    int64_t window = (int64_t)s->window << (c->peer_scale > 0 ? c->peer_scale : 0);
    *ack = (struct mtp_ack){.cum = (a->ack - 1) / slot_bytes,
                            .ece = c->ecn && s->flags & TCP_SEGMENT_ECE};
    ack->window = (a->ack - 1 + window) / slot_bytes - ack->cum;
    if (c->times) {
        int64_t age = mtp_tcp_clock(c, now) - s->time_echo;
        ack->has_echo = true;
        ack->echo_us = (uint32_t)((now / USEC_PER_MSEC - age) * USEC_PER_MSEC);
    }
    for (int i = 0; i < s->sack_count; i++) {
        int64_t begin = seq32_extend(c->acked, s->sack[i].begin - c->isn);
        int64_t end = seq32_extend(c->acked, s->sack[i].end - c->isn);
        if (begin < a->ack || end <= begin || end > c->sent)
            continue;
        struct mtp_range r = {(begin - 1 + slot_bytes - 1) / slot_bytes, (end - 1) / slot_bytes};
        if (r.begin > ack->cum && r.begin < r.end)
            ack->ranges[ack->count++] = r;
    }
}

// Returns true if the segment is the first to acknowledge our FIN.
static bool note_ack(struct mtp_tcp *c, const struct arrival *a)
{
    if (a->ack < c->acked)
        return false;
    int64_t window = (int64_t)a->s->window << (c->peer_scale > 0 ? c->peer_scale : 0);
    c->acked = a->ack;
    if (a->ack + window > c->edge)
        c->edge = a->ack + window;
    return c->finishing && !c->fin_acked && c->acked == c->sent && c->acked > c->fin_at;
}

static bool is_fin(const struct mtp_tcp *c, const struct arrival *a)
{
    if (!(a->s->flags & TCP_SEGMENT_FIN) || c->peer_finished)
        return false;
    return a->end == c->received ||
           (a->s->len == MTP_TCP_TAG && a->at >= c->received &&
            load_be64(a->s->data) == mtp_tcp_fin_tag(&c->key, !c->server, a->at));
}

static void note_fin(struct mtp_tcp *c, const struct arrival *a, usec_t now)
{
    c->peer_finished = true;
    c->received = c->taken = a->end + 1; // holes are never filled after the FIN
    c->sack_count = 0;
    c->ack_due = true;
    if (c->fin_acked)
        c->give_up_at = now + MTP_TCP_LINGER;
}

static unsigned note_data(struct mtp_tcp *c, const struct arrival *a)
{
    const struct tcp_segment *s = a->s;
    if (c->server || c->peer_finished) { // the hello again, or data that was not requested
        c->ack_due = true;
        return 0;
    }
    if (a->end > c->received)
        c->received = a->end;
    c->piece = (struct mtp_piece){a->at - 1, s->data, s->len};
    return MTP_TCP_SLOTS;
}

// Opens the connection when the hello is acknowledged.
static unsigned note_open(struct mtp_tcp *c)
{
    if (c->state != MTP_TCP_GREETING || c->acked <= MTP_TCP_HELLO)
        return 0;
    c->state = MTP_TCP_OPEN;
    c->out_len = c->out_done = 0;
    c->retry_at = c->give_up_at = USEC_NEVER;
    return MTP_TCP_IS_OPEN;
}

// Our FIN is acknowledged. If the peer's FIN came before, the connection has ended.
static void note_fin_acked(struct mtp_tcp *c)
{
    c->fin_acked = true;
    c->retry_at = USEC_NEVER;
    if (c->peer_finished)
        mtp_tcp_close_with(c, MTP_TCP_ENDED);
}

static unsigned note(struct mtp_tcp *c, const struct arrival *a, struct mtp_ack *ack, usec_t now)
{
    const struct tcp_segment *s = a->s;
    bool fin = s->flags & TCP_SEGMENT_FIN;
    // An empty segment below the received offset requests an answer: a keep-alive, or a repeated
    // FIN.
    bool expects_answer = s->len == 0 && a->at < c->received;
    bool advanced = a->ack > c->acked;
    unsigned news = 0;
    if (note_ack(c, a))
        note_fin_acked(c);
    news |= note_open(c);
    if (c->server && (advanced || (s->len == 0 && !expects_answer && !fin))) {
        to_slots(c, a, ack, now);
        news |= MTP_TCP_ACKED;
    }
    if (s->len > 0 && !(fin && s->len == MTP_TCP_TAG))
        news |= note_data(c, a);
    if (is_fin(c, a)) {
        note_fin(c, a, now);
        news |= MTP_TCP_FINISHED;
    } else if (expects_answer || fin) {
        c->ack_due = true;
    }
    return news;
}

unsigned mtp_tcp_input(struct mtp_tcp *c, const struct tcp_segment *s, struct mtp_ack *ack,
                       usec_t now)
{
    if (c->state == MTP_TCP_CLOSED || s->sum == TCP_SUM_BAD)
        return 0;
    if (c->state == MTP_TCP_SYN_SENT)
        return on_syn_ack(c, s, now);
    struct arrival a = {.s = s, .at = seq32_extend(c->taken, s->seq - c->irs)};
    a.end = a.at + (int64_t)s->len;
    a.ack = seq32_extend(c->acked, s->ack - c->isn);
    if (!is_acceptable(c, &a, now))
        return 0;
    c->heard_at = now;
    if (c->times && (int32_t)(s->time - c->peer_time) > 0)
        c->peer_time = s->time;
    return note(c, &a, ack, now);
}

bool mtp_tcp_next(struct mtp_tcp *c, int64_t *slot, const uint8_t **record)
{
    const uint8_t *bytes;
    while (mtp_reassembly_next(&c->slots, &c->piece, slot, &bytes)) {
        if (mtp_tcp_is_sealed(&c->key, *slot, bytes, c->config.slot_bytes)) {
            *record = bytes + MTP_TCP_TAG;
            return true;
        }
        c->counts.forged++;
    }
    return false;
}

void mtp_tcp_acknowledge(struct mtp_tcp *c, const struct mtp_ack *ack)
{
    assert(!c->server);
    int64_t slot_bytes = c->config.slot_bytes;
    if (c->state != MTP_TCP_OPEN && c->state != MTP_TCP_GREETING)
        return;
    c->ack_due = true;
    c->ece = c->ecn && ack->ece;
    if (c->peer_finished)
        return;
    // Never above the received offset: firewalls treat that as invalid.
    int64_t cum = 1 + ack->cum * slot_bytes;
    if (cum > c->received)
        cum = c->received;
    if (cum > c->taken)
        c->taken = cum;
    c->sack_count = 0;
    for (int i = 0; i < ack->count && c->sack_count < TCP_SEGMENT_SACKS; i++) {
        int64_t begin = 1 + ack->ranges[i].begin * slot_bytes;
        int64_t end = 1 + ack->ranges[i].end * slot_bytes;
        if (begin > c->taken && end <= c->received)
            c->sacks[c->sack_count++] =
                (struct tcp_sack){c->irs + (uint32_t)begin, c->irs + (uint32_t)end};
    }
}

enum {
    MAX_WINDOW_FIELD = 65535,
    TIMES_BYTES = 12, // size of the timestamps option, padded
    MIN_SLOT_BYTES = 64,
    ECT_0 = 2, // RFC 3168, 5
};

static const usec_t PATIENCE = 10 * USEC_PER_SEC;
static const usec_t SYN_RETRY = USEC_PER_SEC; // RFC 6298, 2.1; doubled at each try
static const usec_t KEEPALIVE = 20 * USEC_PER_SEC;
static const usec_t DEAD = 90 * USEC_PER_SEC; // four keep-alives without an answer

static int begin(struct mtp_tcp *c, const struct mtp_tcp_config *config,
                 const struct tcp_path *path, usec_t now)
{
    assert(config->window > 0 && config->window <= MTP_TCP_MAX_SLOTS);
    *c = (struct mtp_tcp){
        .config = *config,
        .path = *path,
        .key = mtp_tcp_key(config->token),
        .scale = TCP_SEGMENT_NO_SCALE,
        .peer_scale = TCP_SEGMENT_NO_SCALE,
        .time_offset = mtp_tcp_time_offset(&config->secret, path),
        .retry_at = USEC_NEVER,
        .give_up_at = USEC_NEVER,
        .sent_at = now,
        .heard_at = now,
        .challenged_at = now,
        .mss = MTP_TCP_MSS,
    };
    c->out = malloc(config->slot_bytes);
    return c->out ? 0 : ERR_NO_MEMORY;
}

int mtp_tcp_connect(struct mtp_tcp *c, const struct mtp_tcp_config *config,
                    const struct tcp_path *path, usec_t now)
{
    assert(config->slot_bytes >= MIN_SLOT_BYTES && config->slot_bytes <= MTP_MAX_SLOT_BYTES);
    if (begin(c, config, path, now) != 0)
        return ERR_NO_MEMORY;
    if (mtp_reassembly_init(&c->slots, config->slot_bytes) != 0) {
        free(c->out);
        return ERR_NO_MEMORY;
    }
    c->window = (uint32_t)config->window * config->slot_bytes;
    for (c->scale = 0; c->window >> c->scale > MAX_WINDOW_FIELD;)
        c->scale++;
    c->isn = mtp_tcp_isn(&config->secret, path, now);
    c->state = MTP_TCP_SYN_SENT;
    c->syn_due = true;
    c->retry_at = now + SYN_RETRY;
    c->give_up_at = now + (config->patience ? config->patience : PATIENCE);
    mtp_tcp_hello_write(&c->key, config->slot_bytes, c->out);
    return 0;
}

int mtp_tcp_accept(struct mtp_tcp *c, const struct mtp_tcp_config *config,
                   const struct mtp_tcp_accepted *a, usec_t now)
{
    struct mtp_tcp_config own = *config;
    own.slot_bytes = a->slot_bytes;
    struct siphash_key key = mtp_tcp_key(config->token);
    if (!mtp_tcp_hello_is_good(&key, a->tag, a->slot_bytes) || a->slot_bytes < MIN_SLOT_BYTES ||
        a->slot_bytes > MTP_MAX_SLOT_BYTES)
        return ERR_MALFORMED;
    if (begin(c, &own, &a->path, now) != 0)
        return ERR_NO_MEMORY;
    c->server = true;
    c->state = MTP_TCP_OPEN;
    c->isn = a->isn;
    c->irs = a->irs;
    c->sent = c->acked = 1;
    c->received = c->taken = 1 + MTP_TCP_HELLO;
    c->scale = a->scale == TCP_SEGMENT_NO_SCALE ? TCP_SEGMENT_NO_SCALE : 0;
    c->peer_scale = a->scale;
    c->window = MTP_TCP_SERVER_WINDOW;
    c->edge = 1 + ((int64_t)a->window << (a->scale > 0 ? a->scale : 0));
    c->sack = a->sack;
    c->ecn = a->ecn;
    c->times = a->times;
    c->time_offset = a->time_offset;
    c->peer_time = a->time;
    c->mss = a->mss;
    c->ack_due = true;
    return 0;
}

void mtp_tcp_destroy(struct mtp_tcp *c)
{
    free(c->out);
    c->out = NULL;
    if (!c->server)
        mtp_reassembly_destroy(&c->slots);
}

static void mtp_tcp_close_with(struct mtp_tcp *c, enum mtp_tcp_end end)
{
    c->state = MTP_TCP_CLOSED;
    c->end = end;
}

int mtp_tcp_send(struct mtp_tcp *c, int64_t slot, const uint8_t *record, size_t len)
{
    assert(c->server && c->out_done == c->out_len);
    size_t slot_bytes = c->config.slot_bytes;
    if (c->state != MTP_TCP_OPEN || c->finishing)
        return ERR_CLOSED;
    if (len > slot_bytes - MTP_TCP_TAG)
        return ERR_TOO_BIG;
    if (slot < 0) {
        c->keepalive_due = true;
        return 0;
    }
    int64_t at = 1 + slot * (int64_t)slot_bytes;
    if (at + (int64_t)slot_bytes > c->edge)
        return ERR_RANGE;
    memcpy(c->out + MTP_TCP_TAG, record, len);
    memset(c->out + MTP_TCP_TAG + len, 0, slot_bytes - MTP_TCP_TAG - len);
    mtp_tcp_seal(&c->key, slot, c->out, slot_bytes);
    c->out_at = at;
    c->out_len = slot_bytes;
    c->out_done = 0;
    c->ect = c->cwr = false;
    return 0;
}

void mtp_tcp_mark(struct mtp_tcp *c, bool ect, bool cwr)
{
    c->ect = c->ecn && ect;
    c->cwr = c->ecn && cwr;
}

// Returns our window as its field encodes it; in a SYN it is never scaled (RFC 7323, 2.2).
static uint16_t window_field(const struct mtp_tcp *c, bool syn)
{
    uint32_t field = syn || c->scale == TCP_SEGMENT_NO_SCALE ? c->window : c->window >> c->scale;
    return (uint16_t)(field < MAX_WINDOW_FIELD ? field : MAX_WINDOW_FIELD);
}

static void fill(struct mtp_tcp *c, struct tcp_segment *s, int64_t at, unsigned flags, usec_t now)
{
    bool syn = flags & TCP_SEGMENT_SYN;
    *s = (struct tcp_segment){
        .path = c->path,
        .seq = c->isn + (uint32_t)at,
        .ack = syn ? 0 : c->irs + (uint32_t)c->taken,
        .flags = (uint8_t)flags,
        .window = window_field(c, syn),
        .scale = TCP_SEGMENT_NO_SCALE,
        .has_times = syn || c->times,
        .time = mtp_tcp_clock(c, now),
        .time_echo = c->peer_time,
    };
    c->sent_at = now;
}

static void pull_syn(struct mtp_tcp *c, struct tcp_segment *s, usec_t now)
{
    unsigned ecn_setup = c->tries == 0 ? TCP_SEGMENT_ECE | TCP_SEGMENT_CWR : 0;
    fill(c, s, 0, TCP_SEGMENT_SYN | ecn_setup, now);
    s->mss = MTP_TCP_MSS;
    s->scale = c->scale;
    s->sack_permitted = true;
    c->sent = 1;
    c->syn_due = false;
}

static void pull_data(struct mtp_tcp *c, struct tcp_segment *s, usec_t now)
{
    size_t room = (size_t)(c->times ? c->mss - TIMES_BYTES : c->mss);
    size_t left = c->out_len - c->out_done;
    int64_t at = c->out_at + (int64_t)c->out_done;
    fill(c, s, at, TCP_SEGMENT_ACK | TCP_SEGMENT_PSH | (c->cwr ? TCP_SEGMENT_CWR : 0), now);
    s->ecn = c->ect ? ECT_0 : 0;
    c->cwr = false;
    s->data = c->out + c->out_done;
    s->len = left < room ? left : room;
    c->out_done += s->len;
    if (at + (int64_t)s->len > c->sent)
        c->sent = at + (int64_t)s->len;
    c->ack_due = false;
}

static void pull_fin(struct mtp_tcp *c, struct tcp_segment *s, usec_t now)
{
    fill(c, s, c->fin_at, TCP_SEGMENT_ACK | TCP_SEGMENT_FIN, now);
    s->data = c->fin_tag;
    s->len = c->fin_tag_len;
    c->sent = c->fin_at + (int64_t)c->fin_tag_len + 1;
    c->fin_due = c->ack_due = false;
}

static void pull_ack(struct mtp_tcp *c, struct tcp_segment *s, usec_t now)
{
    // A keep-alive has a sequence number that is already acknowledged (RFC 9293, 3.8.4).
    fill(c, s, c->keepalive_due ? c->sent - 1 : c->sent,
         TCP_SEGMENT_ACK | (c->ece ? TCP_SEGMENT_ECE : 0), now);
    s->sack_count = c->sack ? c->sack_count : 0;
    memcpy(s->sack, c->sacks, sizeof(s->sack));
    c->counts.keepalives += c->keepalive_due;
    c->ack_due = c->keepalive_due = false;
}

bool mtp_tcp_pull(struct mtp_tcp *c, struct tcp_segment *s, usec_t now)
{
    if (c->reset_due) {
        c->reset_due = false;
        fill(c, s, c->sent, TCP_SEGMENT_RST | TCP_SEGMENT_ACK, now);
        return true;
    }
    if (c->state == MTP_TCP_CLOSED)
        return false;
    if (c->syn_due) {
        pull_syn(c, s, now);
        return true;
    }
    if (c->state == MTP_TCP_SYN_SENT)
        return false;
    // The hello waits for a window: a SYN proxy opens it late (RFC 4987, 3.6 describes such
    // proxies).
    if (c->out_done < c->out_len && c->out_at + (int64_t)c->out_len <= c->edge)
        pull_data(c, s, now);
    else if (c->fin_due)
        pull_fin(c, s, now);
    else if (c->ack_due || c->keepalive_due)
        pull_ack(c, s, now);
    else
        return false;
    return true;
}

usec_t mtp_tcp_next_timeout(const struct mtp_tcp *c)
{
    if (c->state == MTP_TCP_CLOSED)
        return USEC_NEVER;
    usec_t next = usec_min(c->retry_at, usec_min(c->give_up_at, c->heard_at + DEAD));
    return c->state == MTP_TCP_OPEN ? usec_min(next, c->sent_at + KEEPALIVE) : next;
}

static void retry(struct mtp_tcp *c, usec_t now)
{
    c->counts.repeats++;
    c->tries++;
    if (c->state == MTP_TCP_SYN_SENT) {
        c->syn_due = true;
    } else if (c->state == MTP_TCP_GREETING) {
        if (c->out_at + (int64_t)c->out_len <= c->edge)
            c->out_done = 0;
        else
            c->keepalive_due = true; // requests the window
    } else {
        c->fin_due = true;
    }
    usec_t first = c->state == MTP_TCP_GREETING ? MTP_TCP_HELLO_RETRY : SYN_RETRY;
    c->retry_at = now + (first << c->tries); // RFC 6298, 5.5; bounded by give_up_at
}

void mtp_tcp_timeout(struct mtp_tcp *c, usec_t now)
{
    if (c->state == MTP_TCP_CLOSED)
        return;
    if (now >= c->give_up_at) {
        mtp_tcp_close_with(c, c->finishing ? MTP_TCP_ENDED : MTP_TCP_NO_ANSWER);
    } else if (now >= c->heard_at + DEAD) {
        mtp_tcp_close_with(c, MTP_TCP_LOST);
    } else {
        if (now >= c->retry_at)
            retry(c, now);
        if (now >= c->sent_at + KEEPALIVE && c->state == MTP_TCP_OPEN)
            c->keepalive_due = true;
    }
}

void mtp_tcp_close(struct mtp_tcp *c, usec_t now)
{
    if (c->state == MTP_TCP_CLOSED || c->finishing)
        return;
    if (c->state != MTP_TCP_OPEN) {
        mtp_tcp_abort(c);
        return;
    }
    c->finishing = c->fin_due = true;
    c->fin_at = c->sent;
    c->out_len = c->out_done = 0;
    // After a hole the peer cannot know whether the FIN's sequence number is right, so a tag proves
    // it.
    if (c->acked < c->sent && c->fin_at + MTP_TCP_TAG <= c->edge) {
        c->fin_tag_len = MTP_TCP_TAG;
        store_be64(c->fin_tag, mtp_tcp_fin_tag(&c->key, c->server, c->fin_at));
    }
    c->tries = 0;
    c->retry_at = now + SYN_RETRY;
    c->give_up_at = now + PATIENCE;
}

void mtp_tcp_abort(struct mtp_tcp *c)
{
    if (c->state == MTP_TCP_CLOSED)
        return;
    c->reset_due = c->state != MTP_TCP_SYN_SENT; // before the SYN-ACK there is no peer to reset
    mtp_tcp_close_with(c, MTP_TCP_ENDED);
}
