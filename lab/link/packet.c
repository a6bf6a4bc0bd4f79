// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/packet.h"

#include <assert.h>
#include <stdlib.h>

void packet_pool_init(struct packet_pool *pool, size_t data_bytes, size_t limit)
{
    assert(data_bytes <= UINT32_MAX);
    *pool = (struct packet_pool){.data_bytes = data_bytes, .limit = limit};
}

void packet_pool_destroy(struct packet_pool *pool)
{
    assert(pool->out == 0);
    while (pool->free) {
        struct packet *p = pool->free;
        pool->free = p->next;
        free(p);
    }
    pool->made = 0;
}

struct packet *packet_new(struct packet_pool *pool)
{
    if (pool->out >= pool->limit)
        return NULL;
    struct packet *p = pool->free;
    if (p) {
        pool->free = p->next;
    } else {
        p = malloc(sizeof(*p) + pool->data_bytes);
        if (!p)
            return NULL;
        pool->made++;
    }
    pool->out++;
    // Leaves `data` as it is: clearing it would cost more than all other processing of a packet.
    *p = (struct packet){.pool = pool, .capacity = (uint32_t)pool->data_bytes};
    return p;
}

void packet_free(struct packet *p)
{
    if (!p)
        return;
    struct packet_pool *pool = p->pool;
    assert(pool->out > 0);
    pool->out--;
    // Last in, first out: reuses the packet that is most likely still in the cache.
    p->next = pool->free;
    pool->free = p;
}
