// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/delay.h"

static void delay_push(struct node *n, struct packet *p, usec_t now)
{
    struct delay *d = (struct delay *)n;
    usec_t wait = d->delay;
    if (d->jitter)
        wait += (usec_t)rng_below(&d->rng, 2 * (uint64_t)d->jitter + 1) - d->jitter;
    d->latest = usec_max(d->latest, now + usec_max(wait, 0));
    if (!held_packets_any(&d->held) && d->latest <= now)
        node_push(n->to, p, now);
    else
        held_packets_push(&d->held, n, p, d->latest);
}

static void delay_run(struct node *n, usec_t now)
{
    held_packets_run(&((struct delay *)n)->held, n, now);
}

static void delay_destroy(struct node *n)
{
    held_packets_destroy(&((struct delay *)n)->held);
}

static const struct node_ops OPS = {.push = delay_push, .run = delay_run, .destroy = delay_destroy};

void delay_init(struct delay *d, struct node *to, usec_t delay, usec_t jitter, uint64_t seed)
{
    *d = (struct delay){.rng = rng_seeded(seed), .latest = INT64_MIN};
    node_init(&d->node, &OPS, to);
    delay_set(d, delay, jitter);
}

void delay_set(struct delay *d, usec_t delay, usec_t jitter)
{
    assert(delay >= 0 && jitter >= 0 && jitter < USEC_NEVER / 2);
    d->delay = delay;
    d->jitter = jitter;
}
