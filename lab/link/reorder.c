// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/reorder.h"

static void reorder_push(struct node *n, struct packet *p, usec_t now)
{
    struct reorder *r = (struct reorder *)n;
    if (r->probability <= 0 || rng_unit(&r->rng) >= r->probability || r->by == 0)
        node_push(n->to, p, now);
    else // `by` may have been reduced: insert before the packets that leave later
        held_packets_push(&r->held, n, p, now + r->by);
}

static void reorder_run(struct node *n, usec_t now)
{
    held_packets_run(&((struct reorder *)n)->held, n, now);
}

static void reorder_destroy(struct node *n)
{
    held_packets_destroy(&((struct reorder *)n)->held);
}

static const struct node_ops OPS = {
    .push = reorder_push, .run = reorder_run, .destroy = reorder_destroy};

void reorder_init(struct reorder *r, struct node *to, double probability, usec_t by, uint64_t seed)
{
    *r = (struct reorder){.rng = rng_seeded(seed)};
    node_init(&r->node, &OPS, to);
    reorder_set(r, probability, by);
}

void reorder_set(struct reorder *r, double probability, usec_t by)
{
    assert(probability >= 0 && probability <= 1 && by >= 0);
    r->probability = probability;
    r->by = by;
}
