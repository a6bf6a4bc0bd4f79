// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/reorder.h"

static void hold(struct reorder *r, struct packet *p)
{
    if (!r->held.head || p->due >= r->latest) {
        packet_list_push(&r->held, p);
        r->latest = p->due;
        return;
    }
    // `by` became less: before those that leave later, of which the last one is in the list.
    struct packet **at = &r->held.head;
    while ((*at)->due <= p->due)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
}

static void reorder_push(struct node *n, struct packet *p, usec_t now)
{
    struct reorder *r = (struct reorder *)n;
    if (r->probability <= 0 || rng_unit(&r->rng) >= r->probability || r->by == 0) {
        node_push(n->to, p, now);
        return;
    }
    p->due = now + r->by;
    hold(r, p);
    node_wake_at(n, r->held.head->due);
}

static void reorder_run(struct node *n, usec_t now)
{
    struct reorder *r = (struct reorder *)n;
    while (r->held.head && r->held.head->due <= now)
        node_push(n->to, packet_list_pop(&r->held), now);
    node_wake_at(n, r->held.head ? r->held.head->due : USEC_NEVER);
}

static void reorder_destroy(struct node *n)
{
    struct reorder *r = (struct reorder *)n;
    for (struct packet *p; (p = packet_list_pop(&r->held));)
        packet_free(p);
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
