// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/datagram_receiver.h"

#include <math.h>
#include <string.h>

#include "common/base/seq.h"

enum {
    REORDER = 3, // later arrivals that confirm a hole (RFC 5348, 5.1)
    ECN_CE = 3,  // RFC 3168
    IP_UDP = 28, // bytes of both headers
    HALF_REPORT = CCFB_MAX_PACKETS / 2,
};

static const double SHARE = 0.05;     // max share of reports in the bytes received
static const double MAX_SAVED = 4096; // max budget in bytes: a few of the largest reports
static const usec_t DEFAULT_INTERVAL = 20 * USEC_PER_MSEC;
static const usec_t MIN_INTERVAL = 5 * USEC_PER_MSEC;
static const usec_t MAX_INTERVAL = USEC_PER_SEC;
// Some 10 kbit/s of reports: without them a server takes a path of small packets, such as those of
// a still picture, for lost (server/policy/path_loss.h).
static const usec_t ALWAYS_ALLOWED = 50 * USEC_PER_MSEC;

static size_t slot(int64_t number)
{
    return (size_t)number & (DATAGRAM_RECEIVER_WINDOW - 1);
}

void datagram_receiver_init(struct datagram_receiver *r, uint32_t ssrc, usec_t now)
{
    memset(r, 0, sizeof(*r));
    r->ssrc = ssrc;
    r->wish.interval = DEFAULT_INTERVAL;
    r->last_report_at = now;
}

static void start_at(struct datagram_receiver *r, int64_t first, int64_t begin)
{
    memset(r->window, 0, sizeof(r->window));
    r->started = true;
    r->highest = first;
    r->begin = r->begin_after = r->hole_checked = begin;
    r->fresh = 0;
    r->urgent = false;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Extends `seq` and moves the window so that it contains it, also after a restart.
static int64_t place(struct datagram_receiver *r, uint32_t media_ssrc, uint16_t seq)
{
    if (!r->started || r->media_ssrc != media_ssrc) {
        r->media_ssrc = media_ssrc;
        start_at(r, seq, seq);
    }
    int64_t n = seq16_extend(r->highest, seq);
    if (n > r->highest + DATAGRAM_RECEIVER_WINDOW / 2)
        start_at(r, n, n - HALF_REPORT / 2 + 1);
    else if (n < r->highest - DATAGRAM_RECEIVER_WINDOW / 2)
        start_at(r, n, n);
    for (; r->highest < n; r->highest++)
        r->window[slot(r->highest + 1)] = (struct datagram_arrival){0};
    int64_t lowest = r->highest + 1 - DATAGRAM_RECEIVER_WINDOW; // older numbers are forgotten
    r->begin = later(r->begin, lowest);
    r->begin_after = later(r->begin_after, lowest);
    r->hole_checked = later(r->hole_checked, lowest);
    return n;
}

// Makes the next two reports cover packet n, unless so many packets came after it that it has long
// counted as lost.
static void report_packet(struct datagram_receiver *r, int64_t n)
{
    if (r->highest - n >= CCFB_MAX_PACKETS)
        return;
    if (n < r->begin)
        r->begin = n;
    if (n < r->begin_after)
        r->begin_after = n;
    r->fresh++;
}

static void look_for_holes(struct datagram_receiver *r)
{
    int arrived = 0;
    int64_t confirmed = r->highest + 1; // holes below it are confirmed
    while (arrived < REORDER && confirmed > r->hole_checked)
        arrived += r->window[slot(--confirmed)].arrived;
    if (arrived < REORDER)
        return;
    for (; r->hole_checked < confirmed; r->hole_checked++) {
        if (!r->window[slot(r->hole_checked)].arrived)
            r->urgent = true;
    }
}

static void set_wish(struct datagram_receiver *r, const struct feedback_wish *wish)
{
    r->wish = *wish;
    if (wish->interval == 0) // the round-trip time is not known here
        r->wish.interval = DEFAULT_INTERVAL;
    r->wish.interval = usec_min(MAX_INTERVAL, usec_max(MIN_INTERVAL, r->wish.interval));
}

void datagram_receiver_mark(struct datagram_receiver *r, int packets)
{
    int left = DATAGRAM_RECEIVER_WINDOW / 2 - r->to_mark;
    r->to_mark += packets < left ? packets : left;
}

void datagram_receiver_packet(struct datagram_receiver *r, uint32_t media_ssrc, uint16_t seq,
                              uint8_t ecn, uint32_t bytes, const struct feedback_wish *wish,
                              usec_t arrived)
{
    if (wish)
        set_wish(r, wish);
    r->budget = fmin(MAX_SAVED, r->budget + SHARE * ((double)bytes + IP_UDP));
    int64_t n = place(r, media_ssrc, seq);
    struct datagram_arrival *a = &r->window[slot(n)];
    ecn &= 3;
    bool is_marked = ecn == ECN_CE; // on the path
    if (r->to_mark > 0 && !a->arrived) {
        r->to_mark--;
        if (ecn == 0)
            return;
        ecn = ECN_CE;
    }
    if (a->arrived && (ecn != ECN_CE || a->ecn == ECN_CE))
        return;
    if (ecn == ECN_CE) {
        r->urgent = true;
        r->marked += is_marked;
    }
    // RFC 8888, 3.1: of duplicates, the first one's arrival time; the CE mark of any of them.
    if (a->arrived)
        a->ecn = ECN_CE;
    else
        *a = (struct datagram_arrival){arrived, true, ecn};
    report_packet(r, n);
    look_for_holes(r);
}

// Returns the first packet of the next report. If there is too much, the packets already reported
// are left out.
static int64_t report_begin(const struct datagram_receiver *r)
{
    int64_t fitting = r->highest + 1 - CCFB_MAX_PACKETS;
    if (fitting <= r->begin)
        return r->begin;
    return fitting < r->begin_after ? fitting : r->begin_after;
}

static int64_t report_end(const struct datagram_receiver *r, int64_t begin)
{
    int64_t last = begin + CCFB_MAX_PACKETS;
    return last <= r->highest ? last : r->highest + 1;
}

static double report_cost(int64_t count)
{
    return (double)(ccfb_bytes((size_t)count) + IP_UDP);
}

usec_t datagram_receiver_next_report(const struct datagram_receiver *r)
{
    if (r->fresh == 0)
        return USEC_NEVER;
    int64_t begin = report_begin(r);
    bool is_affordable = r->reports == 0 || // none was sent in the last second
                         r->budget >= report_cost(report_end(r, begin) - begin);
    bool enough = (r->wish.packets > 0 && r->fresh >= r->wish.packets) ||
                  r->highest + 1 - r->begin_after >= HALF_REPORT;
    usec_t wait = r->urgent || enough ? 0 : r->wish.interval;
    return r->last_report_at + (is_affordable ? wait : usec_max(wait, ALWAYS_ALLOWED));
}

static struct ccfb_metric metric_of(const struct datagram_arrival *a, usec_t now)
{
    struct ccfb_metric m = {.received = a->arrived};
    if (a->arrived) {
        m.ecn = a->ecn;
        m.offset = ccfb_offset(now - a->at);
    }
    return m;
}

bool datagram_receiver_report(struct datagram_receiver *r, struct ccfb *out, usec_t now)
{
    if (r->fresh == 0)
        return false;
    int64_t begin = report_begin(r), end = report_end(r, begin);
    out->ssrc = r->ssrc;
    out->media_ssrc = r->media_ssrc;
    out->begin_seq = (uint16_t)begin;
    out->count = (uint16_t)(end - begin);
    out->timestamp = ccfb_timestamp(now);
    for (int64_t n = begin; n < end; n++)
        out->metric[n - begin] = metric_of(&r->window[slot(n)], now);

    r->begin = r->begin_after < end ? r->begin_after : end;
    r->begin_after = end;
    r->fresh = (unsigned)(r->highest + 1 - end);
    r->urgent = r->fresh > 0; // packets that did not fit follow at once
    r->last_report_at = now;
    // Debts are not kept: the budget is for reports beyond those that are always allowed.
    r->budget = fmax(0, r->budget - report_cost(end - begin));
    r->reports++;
    r->report_bytes += ccfb_bytes((size_t)(end - begin));
    return true;
}
