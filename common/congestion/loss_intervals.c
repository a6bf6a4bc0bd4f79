// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/loss_intervals.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

// The weights w_0 ... w_7 of RFC 5348, 5.4.
static const double weight[LOSS_INTERVALS_HISTORY] = {1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2};

void loss_intervals_init(struct loss_intervals *l)
{
    *l = (struct loss_intervals){.pending_first = -1, .pending_last = -1, .highest = -1, .full = 1};
}

// Returns a - b of an untrusted clock without overflow.
static usec_t elapsed(usec_t a, usec_t b)
{
    return (usec_t)((uint64_t)a - (uint64_t)b);
}

// Returns I_0: from the newest event's first loss to the newest arrival, both included.
static double open_interval(const struct loss_intervals *l)
{
    return l->highest > l->event_number ? (double)(l->highest - l->event_number + 1) : 1;
}

// Returns DF of 5.5: below 1, down to 1/4, once I_0 is longer than twice the mean of the others.
static double open_discount(const struct loss_intervals *l, double open)
{
    double total = 0, weights = 0;
    for (unsigned i = 1; i <= l->count; i++) {
        total += l->length[i] * weight[i - 1] * l->discount[i];
        weights += weight[i - 1] * l->discount[i];
    }
    double twice = 2 * total / weights;
    return open > twice ? fmax(twice / open, 0.25) : 1;
}

double loss_intervals_rate(const struct loss_intervals *l)
{
    if (l->count == 0)
        return 0;
    double open = open_interval(l);
    double df = open_discount(l, open);
    // Implements 5.5, of which 5.4 is the case with all factors 1.
    double total0 = open * weight[0], weights0 = weight[0], total1 = 0, weights1 = 0;
    for (unsigned i = 1; i <= l->count; i++) {
        double factor = l->discount[i];
        if (i < l->count) {
            total0 += l->length[i] * weight[i] * factor * df;
            weights0 += weight[i] * factor * df;
        }
        total1 += l->length[i] * weight[i - 1] * factor;
        weights1 += weight[i - 1] * factor;
    }
    return fmin(fmin(weights0 / total0, weights1 / total1), 1);
}

static void start_event(struct loss_intervals *l, int64_t number, usec_t at)
{
    double df = 1;
    // Before the first event the interval starts at packet 0.
    double closed = (double)(l->events == 0 ? number : number - l->event_number);
    if (l->count > 0)
        df = open_discount(l, closed);
    if (l->count < LOSS_INTERVALS_HISTORY)
        l->count++;
    for (unsigned i = l->count; i > 1; i--) {
        l->length[i] = l->length[i - 1];
        l->discount[i] = l->discount[i - 1] * df;
    }
    l->closed = l->length[1] = fmax(closed, 1);
    l->event_losses = 1;
    l->discount[1] = 1;
    l->events++;
    l->event_number = number;
    l->event_at = at;
}

// Returns true if a congestion signal belongs to the current event: it came within R of its start
// (5.2).
static bool within_event(const struct loss_intervals *l, int64_t number, usec_t at, usec_t rtt)
{
    return l->events > 0 && (elapsed(at, l->event_at) <= rtt || number <= l->event_number);
}

static void signal_at(struct loss_intervals *l, int64_t number, usec_t at, usec_t rtt)
{
    if (!within_event(l, number, at, rtt)) {
        start_event(l, number, at);
    } else {
        l->event_losses++;
        l->length[1] = fmax(l->closed / fmin(l->event_losses, fmax(l->full, 1)), 1);
    }
}

// Returns the nearest known arrival below or above `number`; NULL: none.
static const struct loss_arrival *neighbour(const struct loss_intervals *l, int64_t number,
                                            bool above)
{
    const struct loss_arrival *best = NULL;
    for (unsigned i = 0; i < l->arrivals && i < LOSS_INTERVALS_ARRIVALS; i++) {
        const struct loss_arrival *a = &l->arrival[i];
        if ((a->number > number) != above)
            continue;
        if (!best || (above ? a->number < best->number : a->number > best->number))
            best = a;
    }
    return best;
}

// 5.2: a lost packet's nominal arrival is interpolated between its neighbours' arrivals by packet
// number. Without an arrival before it, the arrival after it is used.
static usec_t nominal_arrival(const struct loss_arrival *before, const struct loss_arrival *after,
                              int64_t number)
{
    if (!before)
        return after->at;
    double share = (double)(number - before->number) / (double)(after->number - before->number);
    double gap = fmax((double)elapsed(after->at, before->at), 0);
    return (usec_t)((uint64_t)before->at + (uint64_t)(gap * share));
}

static void resolve_pending(struct loss_intervals *l, const struct loss_arrival *after, usec_t rtt)
{
    const struct loss_arrival *before = neighbour(l, l->pending_first, false);
    for (int64_t n = l->pending_first; n <= l->pending_last; n++)
        signal_at(l, n, nominal_arrival(before, after, n), rtt);
    l->pending_first = l->pending_last = -1;
}

void loss_intervals_arrived(struct loss_intervals *l, int64_t number, usec_t at, bool ce,
                            usec_t rtt)
{
    assert(number >= 0 && rtt > 0);
    struct loss_arrival a = {number, at};
    if (l->pending_first >= 0 && number > l->pending_last)
        resolve_pending(l, &a, rtt);
    l->arrival[l->arrivals % LOSS_INTERVALS_ARRIVALS] = a;
    // The ring uses only the low bits and whether it is full, so the counter wraps to full, never
    // to 0.
    l->arrivals =
        l->arrivals == 2 * LOSS_INTERVALS_ARRIVALS - 1 ? LOSS_INTERVALS_ARRIVALS : l->arrivals + 1;
    if (number > l->highest)
        l->highest = number;
    if (ce) // a marked packet counts as a loss (5.2)
        signal_at(l, number, at, rtt);
}

void loss_intervals_lost(struct loss_intervals *l, int64_t number, usec_t rtt)
{
    assert(number >= 0 && rtt > 0);
    const struct loss_arrival *after = neighbour(l, number, true);
    if (after) {
        signal_at(l, number, nominal_arrival(neighbour(l, number, false), after, number), rtt);
        return;
    }
    // All pending losses lie between the same two arrivals, so their two ends suffice.
    if (l->pending_first < 0 || number < l->pending_first)
        l->pending_first = number;
    if (number > l->pending_last)
        l->pending_last = number;
}

void loss_intervals_begin(struct loss_intervals *l, int64_t number)
{
    assert(number >= 0);
    if (l->events == 0 || number > l->event_number)
        start_event(l, number, 0);
}

void loss_intervals_seed(struct loss_intervals *l, double packets)
{
    assert(l->events > 0);
    if (l->events > LOSS_INTERVALS_HISTORY)
        return;
    l->length[l->count] = fmax(packets, 1);
    if (l->events == 1)
        l->closed = l->length[1];
}
