// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_receiver.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

static uint8_t *cell(const struct tcp_receiver *r, int64_t seq)
{
    return &r->arrived[seq & (TCP_SPAN - 1)];
}

int tcp_receiver_init(struct tcp_receiver *r, usec_t delay, bool sack)
{
    *r = (struct tcp_receiver){
        .delay = delay, .sack = sack, .arrived = calloc(TCP_SPAN, 1), .ack_at = USEC_NEVER};
    return r->arrived ? 0 : ERR_NO_MEMORY;
}

void tcp_receiver_destroy(struct tcp_receiver *r)
{
    free(r->arrived);
    r->arrived = NULL;
}

void tcp_receiver_restart(struct tcp_receiver *r)
{
    memset(r->arrived, 0, TCP_SPAN);
    *r = (struct tcp_receiver){
        .delay = r->delay, .sack = r->sack, .arrived = r->arrived, .ack_at = USEC_NEVER};
}

static struct tcp_sack_block block_around(const struct tcp_receiver *r, int64_t seq)
{
    struct tcp_sack_block b = {seq, seq + 1};
    while (b.begin > r->next && *cell(r, b.begin - 1))
        b.begin--;
    while (b.end < r->end && *cell(r, b.end))
        b.end++;
    return b;
}

// RFC 2018, section 4: first the block of the latest packet, then the most recently reported ones.
// Blocks that were merged with it, or delivered, are removed.
static void note_recent(struct tcp_receiver *r, int64_t seq)
{
    struct tcp_sack_block latest = block_around(r, seq);
    int64_t kept[TCP_SACK_BLOCKS];
    int count = 0;
    if (seq >= r->next)
        kept[count++] = seq;
    for (int i = 0; i < r->recent_count && count < TCP_SACK_BLOCKS; i++) {
        int64_t old = r->recent[i];
        bool joined = seq >= r->next && old >= latest.begin && old < latest.end;
        if (old >= r->next && !joined)
            kept[count++] = old;
    }
    memcpy(r->recent, kept, (size_t)count * sizeof(kept[0]));
    r->recent_count = count;
}

static void deliver(struct tcp_receiver *r)
{
    while (r->next < r->end && *cell(r, r->next))
        *cell(r, r->next++) = 0;
}

void tcp_receiver_packet(struct tcp_receiver *r, int64_t seq, usec_t now)
{
    if (seq >= r->next + TCP_SPAN)
        return;
    bool in_order = seq == r->next && r->end == r->next;
    if (seq >= r->next) {
        *cell(r, seq) = 1;
        if (seq >= r->end)
            r->end = seq + 1;
        deliver(r);
    }
    if (r->sack)
        note_recent(r, seq);
    // RFC 5681, 4.2: ACKs at once if the packet is out of order, fills a hole, or is the second
    // one.
    bool waits = in_order && r->ack_at == USEC_NEVER;
    r->ack_at = waits ? now + r->delay : now;
}

usec_t tcp_receiver_next_ack(const struct tcp_receiver *r)
{
    return r->ack_at;
}

void tcp_receiver_ack(struct tcp_receiver *r, struct tcp_ack *ack)
{
    *ack = (struct tcp_ack){.next = r->next};
    for (int i = 0; i < r->recent_count; i++)
        ack->block[ack->blocks++] = block_around(r, r->recent[i]);
    r->ack_at = USEC_NEVER;
}
