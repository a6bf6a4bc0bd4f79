// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/repair_sender.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/repair/fec_encoder.h"
#include "common/repair/fec_plan.h"
#include "common/repair/loss_estimate.h"

struct kept {
    bool used;
    bool is_depended_on;
    uint16_t seq;
    int copies;
    uint64_t at; // of its bytes, in all that was ever kept
    size_t len;
    usec_t deadline;
    usec_t sent_at;      // its last transmission
    usec_t parity_until; // parity that covers it has arrived by then
};

struct copy {
    uint16_t seq;
    bool is_first;  // of its round
    uint64_t after; // it leaves when so many packets have left
    usec_t until;   // or then
    usec_t last;    // if it has not left by then, it is dropped
};

struct repair_sender {
    struct repair_sender_config config;
    struct repair_policy policy;
    struct repair_path path;
    usec_t frame_interval;
    struct loss_estimate estimate;
    struct repair_stats stats;
    struct kept *packets; // owned; kept_packets, by the sequence number modulo their number
    uint8_t *bytes;       // owned; a ring of kept_bytes
    uint64_t written;     // bytes ever kept, with what was skipped at the end
    uint64_t left;        // packets that left
    struct copy copies[REPAIR_SENDER_COPIES];
    int copy_count;
    int chosen; // the copy that repair_sender_next gave; -1: none

    struct fec_encoder *encoder; // owned; NULL: the viewer cannot read parity
    struct fec_plan plan;
    int parity_due;    // packets
    size_t parity_len; // of the one that waits; 0: none is made
    uint8_t parity[FEC_MAX_HEADER + FEC_MAX_PARITY];
};

struct repair_sender *repair_sender_new(const struct repair_sender_config *config)
{
    struct repair_sender *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    r->frame_interval = USEC_PER_SEC;
    r->path.burst = 1;
    r->chosen = -1;
    repair_policy_init(&r->policy, config->mode);
    r->policy.repairs_all = config->repairs_all;
    loss_estimate_init(&r->estimate);
    fec_plan_init(&r->plan);
    if (!config->kept_packets)
        r->config.kept_packets = REPAIR_SENDER_PACKETS;
    r->packets = calloc((size_t)r->config.kept_packets, sizeof(*r->packets));
    r->bytes = malloc(config->kept_bytes);
    r->encoder = config->viewer_has_fec ? fec_encoder_new() : NULL;
    if (r->packets && r->bytes && (r->encoder || !config->viewer_has_fec))
        return r;
    repair_sender_free(r);
    return NULL;
}

void repair_sender_free(struct repair_sender *r)
{
    if (!r)
        return;
    fec_encoder_free(r->encoder);
    free(r->bytes);
    free(r->packets);
    free(r);
}

void repair_sender_plan(struct repair_sender *r, const struct repair_path *path, usec_t slack,
                        usec_t frame_interval, double bps)
{
    r->path = *path;
    r->path.loss = loss_estimate_loss(&r->estimate);
    r->path.burst = loss_estimate_burst(&r->estimate);
    r->frame_interval = frame_interval;
    repair_policy_plan(&r->policy, &r->path, slack, frame_interval, bps);
    if (!r->encoder)
        r->policy.fec_window = 0;
}

void repair_sender_fate(struct repair_sender *r, bool lost)
{
    loss_estimate_add(&r->estimate, lost);
}

// ---- What left

// Packets are not cut at the ring's end: what is left there stays unused.
static void keep(struct repair_sender *r, const struct repair_media *p, usec_t now)
{
    size_t len = p->head_len + p->body_len, size = r->config.kept_bytes;
    struct kept *k = &r->packets[p->seq % r->config.kept_packets];
    *k = (struct kept){0};
    if (len > size)
        return;
    if (r->written % size + len > size)
        r->written += size - r->written % size;
    *k = (struct kept){.used = true,
                       .is_depended_on = p->is_depended_on,
                       .seq = p->seq,
                       .at = r->written,
                       .len = len,
                       .deadline = p->deadline,
                       .sent_at = now};
    memcpy(r->bytes + k->at % size, p->head, p->head_len);
    if (p->body_len > 0)
        memcpy(r->bytes + k->at % size + p->head_len, p->body, p->body_len);
    r->written += len;
}

static struct kept *kept_of(struct repair_sender *r, uint16_t seq)
{
    struct kept *k = &r->packets[seq % r->config.kept_packets];
    bool is_overwritten = r->written - k->at > r->config.kept_bytes;
    return k->used && k->seq == seq && !is_overwritten ? k : NULL;
}

static void protect(struct repair_sender *r, const struct repair_media *p, usec_t now)
{
    const struct repair_policy *policy = &r->policy;
    if (!policy->fec_window || !(p->is_depended_on || policy->fec_covers_top) ||
        !fec_encoder_add(r->encoder, p->seq, p->frame, p->head, p->head_len, p->body, p->body_len))
        return;
    struct kept *k = kept_of(r, p->seq);
    if (k) // the window's last frame is a window later, and its packets take up to an interval
        k->parity_until = now + (policy->fec_window + 1) * r->frame_interval + r->path.rtt;
    if (!p->is_last)
        return;
    int covered = fec_encoder_covered(r->encoder, policy->fec_window);
    r->parity_due +=
        fec_plan_frame(&r->plan, policy->fec_window, covered, r->path.loss, r->path.burst);
}

void repair_sender_sent(struct repair_sender *r, const struct repair_media *p, usec_t now)
{
    size_t len = p->head_len + p->body_len;
    r->left++;
    r->chosen = -1;
    repair_stats_media(&r->stats, len, now);
    repair_policy_media(&r->policy, len);
    keep(r, p, now);
    protect(r, p, now);
}

// ---- What is lost

// Returns true if no copy can be added: one of the packet waits, or there is no room.
static bool has_copy(const struct repair_sender *r, uint16_t seq)
{
    for (int i = 0; i < r->copy_count; i++)
        if (r->copies[i].seq == seq)
            return true;
    return r->copy_count == REPAIR_SENDER_COPIES;
}

struct repair_decision repair_sender_lost(struct repair_sender *r, uint16_t seq, usec_t now)
{
    struct kept *k = kept_of(r, seq);
    if (!k) {
        struct repair_decision none = {.action = REPAIR_NOTHING, .reason = REPAIR_NOT_KEPT};
        repair_stats_decided(&r->stats, &none);
        return none;
    }
    if (r->config.repairs_all && has_copy(r, seq))
        return (struct repair_decision){.action = REPAIR_NOTHING, .reason = REPAIR_UNDER_WAY};
    struct repair_lost lost = {.deadline = k->deadline,
                               .sent_at = k->sent_at,
                               .bytes = k->len,
                               .copies = k->copies,
                               .is_depended_on = k->is_depended_on,
                               .is_protected = k->parity_until > now};
    struct repair_decision d = repair_policy_decide(&r->policy, &lost, &r->path, now);
    repair_stats_decided(&r->stats, &d);
    if (d.action != REPAIR_RESEND)
        return d;
    k->copies += d.copies;
    k->sent_at = now;
    for (int i = 0; i < d.copies && r->copy_count < REPAIR_SENDER_COPIES; i++)
        r->copies[r->copy_count++] =
            (struct copy){seq, i == 0, r->left + (uint64_t)(i * d.apart), d.until, d.last};
    return d;
}

// ---- What leaves

static void remove_copy(struct repair_sender *r, int i)
{
    r->copy_count--;
    memmove(&r->copies[i], &r->copies[i + 1], (size_t)(r->copy_count - i) * sizeof(r->copies[0]));
}

// Returns the index of a copy that is due; -1: none is. Drops those that cannot arrive in time any
// more, or are not kept.
static int due_copy(struct repair_sender *r, usec_t now)
{
    for (int i = 0; i < r->copy_count; i++) {
        const struct copy *c = &r->copies[i];
        const struct kept *k = kept_of(r, c->seq);
        if (!k || now > c->last) {
            repair_policy_give_back(&r->policy, k ? k->len : 0);
            remove_copy(r, i--);
        } else if (c->after <= r->left || c->until <= now) {
            return i;
        }
    }
    return -1;
}

// Parity is made when it can leave, and is not changed by what leaves before it.
static bool make_parity(struct repair_sender *r)
{
    if (r->parity_len == 0 && r->parity_due > 0 && r->policy.fec_window) {
        r->parity_due--;
        r->parity_len =
            fec_encoder_parity(r->encoder, r->policy.fec_window, r->parity, sizeof(r->parity));
        if (r->parity_len > 0 && !repair_policy_take(&r->policy, r->parity_len)) {
            r->parity_len = 0;
            r->parity_due = 0;
        }
    }
    return r->parity_len > 0;
}

bool repair_sender_next(struct repair_sender *r, struct repair_packet *out, usec_t now)
{
    r->chosen = due_copy(r, now);
    if (r->chosen >= 0) {
        const struct kept *k = kept_of(r, r->copies[r->chosen].seq);
        *out = (struct repair_packet){
            .seq = k->seq, .bytes = r->bytes + k->at % r->config.kept_bytes, .len = k->len};
        return true;
    }
    if (!make_parity(r))
        return false;
    *out = (struct repair_packet){.is_parity = true, .bytes = r->parity, .len = r->parity_len};
    return true;
}

void repair_sender_done(struct repair_sender *r, usec_t now)
{
    r->left++;
    if (r->chosen < 0) {
        assert(r->parity_len > 0);
        repair_stats_parity(&r->stats, r->parity_len, now);
        r->parity_len = 0;
        return;
    }
    const struct copy *c = &r->copies[r->chosen];
    struct kept *k = kept_of(r, c->seq);
    assert(k);
    k->sent_at = now;
    repair_stats_copies(&r->stats, c->is_first, 1, k->len, now);
    remove_copy(r, r->chosen);
    r->chosen = -1;
}

usec_t repair_sender_next_timeout(const struct repair_sender *r)
{
    usec_t next = USEC_NEVER;
    for (int i = 0; i < r->copy_count; i++)
        next = usec_min(next, r->copies[i].until);
    return next;
}

const struct repair_policy *repair_sender_policy(const struct repair_sender *r)
{
    return &r->policy;
}

struct repair_stats *repair_sender_stats(struct repair_sender *r)
{
    return &r->stats;
}
