// SPDX-License-Identifier: GPL-2.0-or-later
// For tests of nodes: a sink that records each packet and its time, the dropped packets, and a pool
// for both.
#ifndef WEIR_TESTS_COLLECTOR_HPP
#define WEIR_TESTS_COLLECTOR_HPP

#include <functional>
#include <utility>
#include <vector>

#include "lab/link/node.h"
#include "lab/link/packet.h"

struct collector {
    struct sink {
        struct node node; // first: ops cast back
        collector *owner;
    } sink;
    struct drops {
        struct dropper dropper; // first
        collector *owner;
    } drops;
    packet_pool pool;
    std::vector<std::pair<uint32_t, usec_t>> came; // flow and time
    std::vector<std::pair<uint32_t, link_drop>> dropped;
    std::function<void(const packet *, usec_t)> on_packet;

    explicit collector(size_t limit = 1000000)
    {
        static const node_ops ops = {&collector::push, nullptr, nullptr};
        node_init(&sink.node, &ops, nullptr);
        sink.owner = drops.owner = this;
        drops.dropper.dropped = &collector::drop;
        packet_pool_init(&pool, 0, limit);
    }
    ~collector()
    {
        packet_pool_destroy(&pool);
    }
    collector(const collector &) = delete;
    collector &operator=(const collector &) = delete;

    packet *make(uint32_t flow, uint32_t bytes = 1500)
    {
        packet *p = packet_new(&pool);
        p->flow = flow;
        p->bytes = bytes;
        return p;
    }
    std::vector<usec_t> times() const
    {
        std::vector<usec_t> t;
        for (const auto &c : came)
            t.push_back(c.second);
        return t;
    }
    std::vector<uint32_t> flows() const
    {
        std::vector<uint32_t> f;
        for (const auto &c : came)
            f.push_back(c.first);
        return f;
    }

  private:
    static void push(struct node *n, struct packet *p, usec_t now)
    {
        collector *c = reinterpret_cast<struct sink *>(n)->owner;
        c->came.emplace_back(p->flow, now);
        if (c->on_packet)
            c->on_packet(p, now);
        packet_free(p);
    }
    static void drop(struct dropper *d, struct packet *p, enum link_drop cause, usec_t)
    {
        collector *c = reinterpret_cast<struct drops *>(d)->owner;
        c->dropped.emplace_back(p->flow, cause);
        packet_free(p);
    }
};

// Runs a node at each of its own times, up to and including `until`.
inline void run_node(struct node *n, usec_t until)
{
    while (node_next_run_at(n) <= until && node_next_run_at(n) != USEC_NEVER)
        node_run(n, node_next_run_at(n));
}

#endif
