// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/held_packets.h"

void held_packets_push(struct held_packets *h, struct node *n, struct packet *p, usec_t due)
{
    p->due = due;
    if (!h->list.head || due >= h->latest) { // the usual case: nodes mostly keep the order
        packet_list_push(&h->list, p);
        h->latest = due;
    } else { // insert before the first packet that is due later; the last one is
        struct packet **at = &h->list.head;
        while ((*at)->due <= due)
            at = &(*at)->next;
        p->next = *at;
        *at = p;
    }
    node_wake_at(n, h->list.head->due);
}

void held_packets_run(struct held_packets *h, struct node *n, usec_t now)
{
    while (h->list.head && h->list.head->due <= now)
        node_push(n->to, packet_list_pop(&h->list), now);
    node_wake_at(n, h->list.head ? h->list.head->due : USEC_NEVER);
}

void held_packets_destroy(struct held_packets *h)
{
    for (struct packet *p; (p = packet_list_pop(&h->list));)
        packet_free(p);
}
