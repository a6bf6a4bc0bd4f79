// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/psp.h"

#include <math.h>

#include "common/congestion/params.h"

enum { SILENT_RTTS = 2 }; // RTTs without feedback before the spacing doubles

static const usec_t MIN_RTT = 500;                    // max error of an RTT sample (ccfb.h)
static const usec_t MIN_SILENCE = 20 * USEC_PER_MSEC; // receivers report at most every 5 ms

static struct psp *psp_of(struct controller *c)
{
    return (struct psp *)c;
}

// Returns the time from one packet to the next that the law asks for, us.
static double period(const struct psp *p, double bytes)
{
    double bits = bytes * 8e6;
    return fmax(bits / p->link + p->spacing, bits / p->base.config.max_rate_bps);
}

static double media_period(const struct psp *p, double bytes)
{
    return p->peak > 0 ? fmax(period(p, bytes), bytes * 8e6 / p->peak) : period(p, bytes);
}

// Lateness below the clock's resolution is carried over, so the mean period is exact. Larger
// lateness is discarded, so the spacing holds however late a wake-up comes.
static void psp_sent(struct controller *c, const struct cc_sent *s, usec_t now)
{
    struct psp *p = psp_of(c);
    double at = (double)now;
    p->next_at = (at - p->next_at < 1 ? fmax(p->next_at, at - 1) : at) + media_period(p, s->bytes);
    if (!p->outstanding_bytes)
        p->received_at = now;
    p->outstanding_bytes += s->bytes;
    if (p->base_rtt == USEC_NEVER && p->early < PSP_FIRST_PACKETS)
        p->early++;
}

// Figure 4: packets were lost.
static void widen(struct psp *p)
{
    double wider = p->spacing > 0 ? 2 * p->spacing : p->first;
    p->spacing = fmin(wider, (double)p->base_rtt);
    p->previous = -1;
    p->hold = false;
}

// A silence is the loss of reports unless packets are reported lost, which widens by itself.
static void end_silence(struct psp *p)
{
    p->spacing = p->spacing_before;
    p->spacing_before = -1;
    p->previous = -1;
    p->hold = false;
}

static void decide(struct psp *p, usec_t now)
{
    if (p->hold) {
        p->hold = false;
    } else if (!p->lost) { // Figure 4, else branch
        p->previous = p->spacing;
        p->spacing = fmax(p->spacing - p->step, 0);
    } else if (p->damped && p->previous > p->spacing) { // 2.2
        p->spacing = fmin(p->previous, (double)p->base_rtt);
        p->previous = -1;
        p->hold = true;
    } else {
        widen(p);
    }
    p->arrived = p->lost = 0;
    p->decided_at = now;
}

static void decide_if_due(struct psp *p, usec_t now)
{
    if (p->arrived + p->lost && now - p->decided_at >= p->base_rtt)
        decide(p, now);
}

static void psp_feedback(struct controller *c, const struct cc_feedback *f, usec_t now)
{
    struct psp *p = psp_of(c);
    usec_t rtt = usec_max(f->rtt, MIN_RTT);
    if (f->rtt > 0 && rtt < p->base_rtt) {
        p->base_rtt = rtt;
        p->spacing = fmin(p->spacing, (double)rtt); // at least one packet per RTT (2.1)
        c->wish.interval = rtt; // the receiver sends acknowledgments every base RTT (2.1)
    }
    for (size_t i = 0; i < f->count; i++) {
        bool bad = f->packets[i].lost || f->packets[i].ce;
        p->lost += bad;
        p->arrived += !bad;
    }
    p->outstanding_bytes = f->flight_bytes;
    p->received_at = now;
    if (p->spacing_before >= 0 && f->count)
        end_silence(p);
    if (p->base_rtt != USEC_NEVER)
        decide_if_due(p, now);
}

// The spacing has already doubled every two base RTTs of silence, so a timeout changes nothing.
static void psp_rto(struct controller *c, int consecutive, usec_t now)
{
    (void)c;
    (void)consecutive;
    (void)now;
}

static bool waits_for_sample(const struct psp *p)
{
    return p->base_rtt == USEC_NEVER && p->early == PSP_FIRST_PACKETS;
}

static usec_t psp_next_send(struct controller *c, usec_t now)
{
    const struct psp *p = psp_of(c);
    return waits_for_sample(p) ? USEC_NEVER : usec_max(now, (usec_t)ceil(p->next_at));
}

// At the max spacing there is nothing to double, so no timeout is needed.
static usec_t silent_at(const struct psp *p)
{
    if (!p->outstanding_bytes || p->spacing >= (double)p->base_rtt)
        return USEC_NEVER;
    return p->received_at + usec_max(SILENT_RTTS * p->base_rtt, MIN_SILENCE);
}

static usec_t psp_next_timeout(const struct controller *c)
{
    const struct psp *p = (const struct psp *)c;
    if (p->base_rtt == USEC_NEVER)
        return USEC_NEVER;
    usec_t due = p->arrived + p->lost ? p->decided_at + p->base_rtt : USEC_NEVER;
    return usec_min(due, silent_at(p));
}

static void psp_timeout(struct controller *c, usec_t now)
{
    struct psp *p = psp_of(c);
    if (p->base_rtt == USEC_NEVER)
        return;
    decide_if_due(p, now);
    if (now >= silent_at(p)) {
        if (p->spacing_before < 0)
            p->spacing_before = p->spacing;
        widen(p);
        p->decided_at = p->received_at = now;
    }
}

static void psp_media_rate(struct controller *c, double bps, usec_t now)
{
    (void)now;
    psp_of(c)->peak = bps;
}

static void psp_info(const struct controller *c, struct controller_info *out, usec_t now)
{
    (void)now;
    const struct psp *p = (const struct psp *)c;
    double bytes = c->config.packet_bytes;
    *out = (struct controller_info){
        .rate_bps = waits_for_sample(p) ? 0 : bytes * 8e6 / period(p, bytes),
        .loss_events = NAN,
        .variable = {{"spacing", p->spacing}},
    };
}

static const struct controller_ops ops = {
    .sent = psp_sent,
    .feedback = psp_feedback,
    .rto = psp_rto,
    .next_send = psp_next_send,
    .next_timeout = psp_next_timeout,
    .timeout = psp_timeout,
    .media_rate = psp_media_rate,
    .info = psp_info,
};

static int init(struct psp *p, const char *params, bool damped, usec_t now)
{
    p->first = 50;
    p->step = 2;
    p->link = 1e9;
    const struct param table[] = {
        {"initial", &p->spacing, 0, 1e6, NULL},
        {"first", &p->first, 1, 1e6, NULL},
        {"step", &p->step, 0.001, 1e6, NULL},
        {"link", &p->link, 1e3, 1e12, NULL},
    };
    int err = params_read(params, table, sizeof(table) / sizeof(table[0]), NULL);
    if (err)
        return err;
    p->base.ops = &ops;
    p->damped = damped;
    p->previous = p->spacing_before = -1;
    p->base_rtt = USEC_NEVER;
    p->next_at = (double)now;
    p->decided_at = p->received_at = now;
    return 0;
}

int psp_init(struct controller *c, const char *params, usec_t now)
{
    return init(psp_of(c), params, true, now);
}

int psp_plain_init(struct controller *c, const char *params, usec_t now)
{
    return init(psp_of(c), params, false, now);
}
