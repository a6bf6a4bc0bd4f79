// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/loss.h"

// Elliott 1963: the state advances once per packet, then determines the probability of its loss.
static bool is_lost_in_state(struct loss *l)
{
    const struct loss_config *c = &l->config;
    if (rng_unit(&l->rng) < (l->is_bad ? c->r : c->p))
        l->is_bad = !l->is_bad;
    return rng_unit(&l->rng) < (l->is_bad ? c->bad : c->good);
}

static bool is_in_mask(const struct loss *l)
{
    const struct loss_config *c = &l->config;
    if (l->seen >= c->mask_packets && !c->mask_repeats)
        return false;
    uint64_t i = l->seen % c->mask_packets;
    return c->mask[i / 8] >> (i % 8) & 1;
}

static bool is_lost(struct loss *l)
{
    switch (l->config.kind) {
    case LOSS_IID:
        return rng_unit(&l->rng) < l->config.probability;
    case LOSS_GILBERT_ELLIOTT:
        return is_lost_in_state(l);
    case LOSS_MASK:
        return is_in_mask(l);
    case LOSS_NONE:
        break;
    }
    return false;
}

static void loss_push(struct node *n, struct packet *p, usec_t now)
{
    struct loss *l = (struct loss *)n;
    bool lost = is_lost(l);
    l->seen++;
    if (lost)
        packet_drop(p, l->dropper, LINK_DROP_LOSS, now);
    else
        node_push(n->to, p, now);
}

static const struct node_ops OPS = {.push = loss_push};

void loss_init(struct loss *l, struct node *to, const struct loss_config *config,
               struct dropper *dropper, uint64_t seed)
{
    *l = (struct loss){.dropper = dropper, .rng = rng_seeded(seed)};
    node_init(&l->node, &OPS, to);
    loss_set(l, config);
}

void loss_set(struct loss *l, const struct loss_config *config)
{
    assert(config->kind != LOSS_MASK ||
           (config->mask_packets > 0 && config->mask_packets <= LOSS_MASK_MAX));
    l->config = *config;
    l->is_bad = false;
    l->seen = 0;
}
