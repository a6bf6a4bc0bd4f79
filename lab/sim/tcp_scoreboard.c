// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_scoreboard.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

static uint8_t *cell(const struct tcp_scoreboard *b, int64_t seq)
{
    return &b->sacked[seq & (TCP_SPAN - 1)];
}

int tcp_scoreboard_init(struct tcp_scoreboard *b)
{
    *b = (struct tcp_scoreboard){.sacked = calloc(TCP_SPAN, 1)};
    return b->sacked ? 0 : ERR_NO_MEMORY;
}

void tcp_scoreboard_destroy(struct tcp_scoreboard *b)
{
    free(b->sacked);
    b->sacked = NULL;
}

void tcp_scoreboard_clear(struct tcp_scoreboard *b)
{
    memset(b->sacked, 0, TCP_SPAN);
    *b = (struct tcp_scoreboard){.sacked = b->sacked};
}

// A packet is lost if DupThresh packets above it were SACKed (RFC 6675, section 4, IsLost).
static void find_lost(struct tcp_scoreboard *b)
{
    int above = 0;
    int64_t seq = b->sack_end;
    while (seq > b->una && above < TCP_DUP_THRESH)
        above += *cell(b, --seq);
    b->lost_end = above == TCP_DUP_THRESH ? seq : b->una;
}

void tcp_scoreboard_ack(struct tcp_scoreboard *b, const struct tcp_ack *ack, int64_t high)
{
    assert(high - b->una <= TCP_SPAN);
    for (; b->una < ack->next && b->una < high; b->una++) {
        b->count -= *cell(b, b->una);
        *cell(b, b->una) = 0;
    }
    for (int i = 0; i < ack->blocks; i++) {
        int64_t end = ack->block[i].end < high ? ack->block[i].end : high;
        int64_t seq = ack->block[i].begin > b->una ? ack->block[i].begin : b->una;
        for (; seq < end; seq++) {
            b->count += !*cell(b, seq);
            *cell(b, seq) = 1;
        }
        if (end > b->sack_end)
            b->sack_end = end;
    }
    if (b->rexmitted < b->una)
        b->rexmitted = b->una;
    if (b->sack_end < b->una)
        b->sack_end = b->una;
    find_lost(b);
}

bool tcp_scoreboard_has(const struct tcp_scoreboard *b, int64_t seq)
{
    return seq >= b->una && seq < b->sack_end && *cell(b, seq);
}

bool tcp_scoreboard_is_lost(const struct tcp_scoreboard *b, int64_t seq)
{
    return seq < b->lost_end && !tcp_scoreboard_has(b, seq);
}

int64_t tcp_scoreboard_pipe(const struct tcp_scoreboard *b, int64_t high)
{
    int64_t pipe = high - (b->sack_end > b->una ? b->sack_end : b->una);
    for (int64_t seq = b->una; seq < b->sack_end; seq++)
        if (!*cell(b, seq))
            pipe += (seq >= b->lost_end) + (seq < b->rexmitted);
    return pipe;
}

int64_t tcp_scoreboard_next(const struct tcp_scoreboard *b, bool lost)
{
    int64_t end = lost ? b->lost_end : b->sack_end;
    for (int64_t seq = b->rexmitted > b->una ? b->rexmitted : b->una; seq < end; seq++)
        if (!*cell(b, seq))
            return seq;
    return -1;
}
