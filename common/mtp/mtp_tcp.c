// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_tcp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/mtp/mtp_tcp_books.h"

enum {
    MAX_WINDOW_FIELD = 65535,
    TIMES_BYTES = 12, // of the option, padded
    LEAST_SLOT_BYTES = 64,
};

static const usec_t PATIENCE = 10 * USEC_PER_SEC;
static const usec_t SYN_RETRY = USEC_PER_SEC; // RFC 6298, 2.1; doubled each time
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
    assert(config->slot_bytes >= LEAST_SLOT_BYTES && config->slot_bytes <= MTP_MAX_SLOT_BYTES);
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
    if (!mtp_tcp_hello_is_good(&key, a->tag, a->slot_bytes) || a->slot_bytes < LEAST_SLOT_BYTES ||
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

void mtp_tcp_close_with(struct mtp_tcp *c, enum mtp_tcp_end end)
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
    return 0;
}

// A window of ours as its field has it: in a SYN it is never scaled (RFC 7323, 2.2).
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
    fill(c, s, 0, TCP_SEGMENT_SYN, now);
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
    fill(c, s, at, TCP_SEGMENT_ACK | TCP_SEGMENT_PSH, now);
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
    // A keep-alive has a sequence number that was acknowledged already (RFC 9293, 3.8.4).
    fill(c, s, c->keepalive_due ? c->sent - 1 : c->sent, TCP_SEGMENT_ACK, now);
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
    // The hello waits for a window: a SYN proxy opens it late (RFC 4987, 3.6 names such proxies).
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
            c->keepalive_due = true; // asks for the window
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
    // Behind a hole the peer cannot tell that a FIN is where it belongs.
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
    c->reset_due = c->state != MTP_TCP_SYN_SENT; // before that there is nobody to tell
    mtp_tcp_close_with(c, MTP_TCP_ENDED);
}
