// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/queue_kinds.h"

static struct queue *(*const constructors[QUEUE_KINDS])(void) = {
    [QUEUE_DROPTAIL] = queue_fifo_new,   [QUEUE_DROPHEAD] = queue_fifo_new,
    [QUEUE_RED] = queue_red_new,         [QUEUE_DRED] = queue_dred_new,
    [QUEUE_DRD] = queue_dred_new,        [QUEUE_CODEL] = queue_codel_new,
    [QUEUE_DUALPI2] = queue_dualpi2_new,
};

struct queue *queue_new(const struct queue_config *config, struct dropper *dropper, uint64_t seed)
{
    assert(config->kind < QUEUE_KINDS);
    assert(config->limit.bytes || config->limit.packets);
    assert(dropper);
    struct queue *q = constructors[config->kind]();
    if (!q)
        return NULL;
    q->config = *config;
    q->dropper = dropper;
    q->rng = rng_seeded(seed);
    return q;
}

void queue_free(struct queue *q)
{
    if (q)
        q->ops->free(q);
}
