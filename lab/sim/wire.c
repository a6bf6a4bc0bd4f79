// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/wire.h"

static void wire_push(struct node *n, struct packet *p, usec_t now)
{
    struct wire *w = (struct wire *)n;
    usec_t ready = now;
    if (w->overhead)
        ready += (usec_t)rng_below(&w->rng, (uint64_t)w->overhead);
    int64_t ready_ns = ready * 1000;
    if (ready_ns < w->free_at_ns)
        ready_ns = w->free_at_ns;
    w->free_at_ns = ready_ns + (int64_t)p->bytes * 8 * INT64_C(1000000000) / w->bps;
    held_packets_push(&w->held, n, p, (w->free_at_ns + 999) / 1000 + w->delay);
}

static void wire_run(struct node *n, usec_t now)
{
    held_packets_run(&((struct wire *)n)->held, n, now);
}

static void wire_destroy(struct node *n)
{
    held_packets_destroy(&((struct wire *)n)->held);
}

static const struct node_ops OPS = {.push = wire_push, .run = wire_run, .destroy = wire_destroy};

void wire_init(struct wire *w, struct node *to, int64_t bps, usec_t delay, usec_t overhead,
               uint64_t seed)
{
    assert(bps >= 1000000 && bps <= INT64_C(100000000000) && delay >= 0 && overhead >= 0);
    *w = (struct wire){.bps = bps, .delay = delay, .overhead = overhead, .rng = rng_seeded(seed)};
    node_init(&w->node, &OPS, to);
}
