// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/repair_policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/repair/fec_plan.h"
#include "common/repair/loss_estimate.h"

// Probabilities that a packet stays lost. With seven packets a frame, 2e-4 makes 0.14 % of the
// frames, of which parts are shown by the repair of the encoder.
#define MAX_RESIDUE     2e-4
#define MAX_RESIDUE_TOP 5e-4 // nothing depends on the packet
// Playing waits a round for a packet that others depend on. Where the share pays, this is the
// residue: one wait in a quarter of an hour at 200 packets a second, if half are depended on.
#define LOW_RESIDUE 1e-5

#define MAX_SHARE 0.30
// Where all packets would need this share, MAX_SHARE pays for those that others depend on, and for
// none besides. (Simulated at 25 % loss, round trips of 20 and 100 ms: 10 and 17 % of the frames
// missing with top frames repaired, 42 % without; at 30 %: 34 and 57 %, 46 and 47 %.)
#define SHARE_OF_ALL 0.375
#define MIN_CREDIT   96000.0 // bytes: an outage of 60 packets is repaired at once
#define CREDIT_SEC   0.4     // of media, if that is more
#define TOP_RESERVE  (1 / 3.0)
#define SPARE        0.9 // of the credit: above it, more copies are sent than the share pays for
#define BURSTS_APART 2   // mean bursts between two copies
#define RANDOM_BURST 2   // shorter bursts are taken for random loss: copies leave together

#define ROUND_ALLOWANCE (30 * USEC_PER_MSEC)
#define ROUND_MARGIN    (20 * USEC_PER_MSEC) // the sender takes it for decoding and display

static const char *const MODES[] = {"off", "resend", "fec", "auto"};

bool repair_mode_parse(const char *text, enum repair_mode *out)
{
    for (int i = 0; i <= REPAIR_MODE_AUTO; i++) {
        if (strcmp(text, MODES[i]) == 0) {
            *out = (enum repair_mode)i;
            return true;
        }
    }
    return false;
}

const char *repair_mode_name(enum repair_mode mode)
{
    return MODES[mode];
}

void repair_policy_init(struct repair_policy *p, enum repair_mode mode)
{
    *p = (struct repair_policy){.mode = mode, .credit = MIN_CREDIT, .most_credit = MIN_CREDIT};
}

static bool resends(const struct repair_policy *p)
{
    return p->mode == REPAIR_MODE_RESEND || p->mode == REPAIR_MODE_AUTO;
}

static double share_with(int rounds, double loss)
{
    return (rounds > 1 ? 1.3 : 2.2) * loss + 0.01;
}

// Returns true if the max share does not pay for the repair of all packets.
static bool is_above_share(const struct repair_path *path)
{
    return share_with(2, path->loss) > MAX_SHARE;
}

// Rounds of which the first takes until `first` and each further one `round`.
static int rounds_within(usec_t time, usec_t first, usec_t round)
{
    if (time < first)
        return 0;
    return 1 + (int)usec_min((time - first) / usec_max(round, 1), 1000);
}

// The viewer requests a packet again when a copy is late by the path's variation, too.
static usec_t round_of(const struct repair_path *path)
{
    return path->rtt + path->feedback + path->jitter;
}

usec_t repair_round_wait(usec_t rtt)
{
    return rtt + ROUND_ALLOWANCE;
}

void repair_policy_plan(struct repair_policy *p, const struct repair_path *path, usec_t slack,
                        usec_t frame_interval, double bps)
{
    usec_t round = round_of(path);
    usec_t first =
        path->rtt + usec_min(path->feedback + path->wait, ROUND_ALLOWANCE - ROUND_MARGIN);
    int possible = rounds_within(slack, first, round);
    // Parity that the share cannot pay in full recovers nothing; each copy recovers its packet.
    bool prefers_copies = is_above_share(path) || path->loss < REPAIR_RARE;
    if (p->mode == REPAIR_MODE_AUTO && possible == 0 && prefers_copies)
        possible = rounds_within(slack + REPAIR_RARE_LATE, first, round) > 0;
    bool fec = p->mode == REPAIR_MODE_FEC || (p->mode == REPAIR_MODE_AUTO && possible == 0);
    p->rounds = resends(p) ? possible : 0;
    p->fec_window = fec ? fec_plan_window(slack - path->jitter, frame_interval) : 0;
    p->fec_covers_top = p->fec_window > 1 && !is_above_share(path);
    p->share = p->fec_window   ? 2.5 * path->loss + 0.10
               : p->rounds > 0 ? share_with(p->rounds, path->loss)
                               : 0;
    p->share = fmin(p->share, MAX_SHARE);
    p->most_credit = fmax(MIN_CREDIT, bps / 8 * CREDIT_SEC);
    p->credit = fmin(p->credit, p->most_credit);
}

void repair_policy_media(struct repair_policy *p, size_t bytes)
{
    p->credit = fmin(p->most_credit, p->credit + p->share * (double)bytes);
}

bool repair_policy_take(struct repair_policy *p, size_t bytes)
{
    bool enough = p->credit >= (double)bytes;
    if (enough)
        p->credit -= (double)bytes;
    return enough;
}

void repair_policy_give_back(struct repair_policy *p, size_t bytes)
{
    p->credit = fmin(p->most_credit, p->credit + (double)bytes);
}

// The least number of copies a round after which the packet stays lost rarely enough. What was sent
// before counts: a packet is rarely lost three times, and needs no more copies for it.
static int copies_to(double max, const struct repair_lost *lost, const struct repair_path *path,
                     int rounds, int apart)
{
    double again = loss_after_loss(path->loss, path->burst, apart);
    double residue_so_far = pow(path->loss, 1 + lost->copies);
    int copies = 1;
    double round = path->loss; // probability that all copies of a round are lost
    while (copies < REPAIR_MAX_COPIES && residue_so_far * pow(round, rounds) > max) {
        round *= again;
        copies++;
    }
    return copies;
}

// At the last chance more copies of what other frames depend on, if the share pays for as many of
// each lost packet.
static int copies_for(const struct repair_policy *p, const struct repair_lost *lost,
                      const struct repair_path *path, int rounds, int apart)
{
    if (!lost->is_depended_on)
        return copies_to(MAX_RESIDUE_TOP, lost, path, rounds, apart);
    int copies = copies_to(LOW_RESIDUE, lost, path, rounds, apart);
    bool more = rounds == 1 && copies * path->loss <= p->share;
    return more ? copies : copies_to(MAX_RESIDUE, lost, path, rounds, apart);
}

static struct repair_decision not_resent(const struct repair_lost *lost, enum repair_reason reason)
{
    return (struct repair_decision){
        .action = lost->is_depended_on ? REPAIR_INVALIDATE : REPAIR_NOTHING, .reason = reason};
}

struct repair_decision repair_policy_decide(struct repair_policy *p, const struct repair_lost *lost,
                                            const struct repair_path *path, usec_t now)
{
    assert(lost->bytes > 0 && path->burst >= 1);
    if (p->mode == REPAIR_MODE_OFF)
        return not_resent(lost, REPAIR_DISABLED);
    if (!p->repairs_all && !lost->is_depended_on && share_with(2, path->loss) > SHARE_OF_ALL)
        return not_resent(lost, REPAIR_CONGESTED);
    if (now - lost->sent_at < path->min_rtt)
        return (struct repair_decision){.action = REPAIR_NOTHING, .reason = REPAIR_UNDER_WAY};
    if (lost->is_protected)
        return (struct repair_decision){.action = REPAIR_AWAIT_FEC};
    if (!resends(p))
        return not_resent(lost, REPAIR_DISABLED);
    usec_t journey = path->delay + path->jitter;
    usec_t last =
        lost->deadline + (lost->is_depended_on ? REPAIR_LATE : REPAIR_TOLERATED) - path->delay;
    if (now + path->wait > last)
        return not_resent(lost, REPAIR_TOO_LATE);
    int rounds = rounds_within(lost->deadline - now, path->wait + journey, round_of(path));
    rounds = rounds > 0 ? rounds : 1;
    struct repair_decision d = {
        .action = REPAIR_RESEND,
        .apart = path->burst > RANDOM_BURST ? (int)ceil(BURSTS_APART * fmin(path->burst, 100)) : 1,
        .until = usec_max(now, lost->deadline - journey),
        .last = last};
    double available = p->credit - (lost->is_depended_on ? 0 : p->most_credit * TOP_RESERVE);
    int affordable = (int)fmax(0, floor(available / (double)lost->bytes));
    d.copies = copies_for(p, lost, path, rounds, d.apart);
    if (p->credit < p->most_credit * SPARE)
        while (d.copies > 1 && d.copies * path->loss > p->share)
            d.copies--;
    d.copies = d.copies < affordable ? d.copies : affordable;
    if (p->repairs_all && d.copies == 0)
        d.copies = 1;
    if (d.copies == 0)
        return not_resent(lost, REPAIR_NO_SHARE);
    p->credit = fmax(0, p->credit - (double)(d.copies * lost->bytes));
    return d;
}
