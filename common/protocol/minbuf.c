// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/minbuf.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"

enum { WRITES_A_WINDOW = 16 };

static const usec_t RECHECK_MIN = 100;
static const usec_t RECHECK_MAX = 2 * USEC_PER_MSEC;
static const usec_t ACK_PATIENCE = 20 * USEC_PER_MSEC;

#define MIN_SPACING USEC_PER_MSEC // a shorter one is not worth a timer
#define MAX_SPACING (5 * USEC_PER_MSEC)

static bool ends(const char *rest, bool *pace)
{
    *pace = strcmp(rest, ",pace") == 0;
    return *pace || !*rest;
}

int minbuf_parse(const char *params, struct minbuf *m)
{
    *m = (struct minbuf){.a = 1, .b = 3};
    if (!*params)
        return 0;
    if (params[strspn(params,
                      "autopce,-0123456789")]) // sscanf would accept blanks and +, which the header
                                               // line must not contain
        return ERR_MALFORMED;
    int used = 0;
    int ms;
    if (sscanf(params, "auto,%9d%n", &ms, &used) == 1 && ends(params + used, &m->pace)) {
        if (ms < 1 || ms > MINBUF_MAX_AUTO_MS)
            return ERR_RANGE;
        m->automatic = true;
        m->unsent_limit = ms * USEC_PER_MSEC;
        return 0;
    }
    if (sscanf(params, "%9d,%9d%n", &m->a, &m->b, &used) != 2 || !ends(params + used, &m->pace))
        return ERR_MALFORMED;
    bool good = m->a >= 1 && m->a <= MINBUF_MAX_A && m->b >= 0 && m->b <= MINBUF_MAX_B;
    return good ? 0 : ERR_RANGE;
}

static uint64_t packets_of(uint32_t bytes, uint32_t mss)
{
    return mss ? ((uint64_t)bytes + mss - 1) / mss : bytes > 0;
}

// Returns the packets that may wait unsent in steady state: min(B, cwnd) beyond A windows.
static uint64_t unsent_packets_allowed(const struct minbuf *m, uint32_t cwnd)
{
    uint64_t b = (uint64_t)m->b < cwnd ? (uint64_t)m->b : cwnd;
    return (uint64_t)(m->a - 1) * cwnd + b;
}

// Returns the rate that converts time to bytes: the kernel's delivery rate, else one window per
// round trip, in bytes per second.
static double rate_of(const struct tcp_snapshot *s)
{
    if (s->delivery_bps > 0)
        return s->delivery_bps / 8;
    if (s->srtt > 0)
        return (double)s->cwnd * s->mss * (double)USEC_PER_SEC / (double)s->srtt;
    return 0;
}

static double auto_limit_bytes(const struct minbuf *m, const struct tcp_snapshot *s)
{
    return rate_of(s) * usec_to_sec(m->unsent_limit);
}

static uint32_t auto_packets(const struct minbuf *m, const struct tcp_snapshot *s)
{
    // An empty queue always accepts one packet; otherwise no rate would ever be measured.
    uint32_t min = s->notsent_bytes == 0;
    double packets = (auto_limit_bytes(m, s) - s->notsent_bytes) / (s->mss ? s->mss : 1);
    if (packets < min)
        return min;
    return packets < UINT16_MAX ? (uint32_t)packets : UINT16_MAX;
}

uint32_t minbuf_packets(const struct minbuf *m, const struct tcp_snapshot *s)
{
    if (m->automatic)
        return auto_packets(m, s);
    uint64_t limit = s->cwnd + unsent_packets_allowed(m, s->cwnd) + s->sacked;
    uint64_t held = s->unacked + packets_of(s->notsent_bytes, s->mss);
    if (held >= limit)
        return 0;
    return limit - held < UINT16_MAX ? (uint32_t)(limit - held) : UINT16_MAX;
}

bool minbuf_admits(const struct minbuf *m, const struct tcp_snapshot *s)
{
    return minbuf_packets(m, s) > 0;
}

bool minbuf_waits_for_acks(const struct minbuf *m)
{
    return !m->automatic && m->a == 1 && m->b == 0;
}

uint32_t minbuf_write_limit(const struct tcp_snapshot *s, uint32_t most)
{
    uint32_t part = s->cwnd / WRITES_A_WINDOW;
    return part < 1 ? 1 : part < most ? part : most;
}

usec_t minbuf_acks_refused(struct minbuf_acks *a, const struct tcp_snapshot *s, bool has_reports)
{
    a->wanted = has_reports;
    a->idle = 0;
    if (!a->wanted || !a->reported)
        return usec_max(RECHECK_MIN,
                        usec_min(s->srtt / (2 * (s->cwnd ? s->cwnd : 1)), RECHECK_MAX));
    if (s->sacked || s->lost)
        return RECHECK_MAX;
    return usec_max(RECHECK_MAX, usec_min(s->srtt / 8, ACK_PATIENCE));
}

void minbuf_acks_arrived(struct minbuf_acks *a, bool media_waits)
{
    if (!a->wanted)
        return;
    a->reported = true;
    a->idle = media_waits ? 0 : a->idle + 1;
    if (a->idle >= MINBUF_IDLE_ACKS)
        *a = (struct minbuf_acks){0};
}

usec_t minbuf_spacing(const struct tcp_snapshot *s)
{
    usec_t spacing = usec_min(s->srtt / (2 * MINBUF_FIRST_WINDOW), MAX_SPACING);
    return s->segments_out < MINBUF_FIRST_WINDOW && spacing >= MIN_SPACING ? spacing : 0;
}

uint32_t minbuf_wake_below(const struct minbuf *m, const struct tcp_snapshot *s)
{
    double bytes = m->automatic ? auto_limit_bytes(m, s) - s->mss
                                : (double)unsent_packets_allowed(m, s->cwnd) * s->mss;
    if (bytes < 1)
        return 1;
    return bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX;
}
