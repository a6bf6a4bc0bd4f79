// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a flow whose packets are kept when sent, until the test delivers them.
#ifndef WEIR_TESTS_FLOW_WIRE_HPP
#define WEIR_TESTS_FLOW_WIRE_HPP

#include <deque>

#include "lab/sim/flow.h"

struct flow_wire {
    struct end {
        node n; // first
        std::deque<packet *> *sent;
    };
    packet_pool small{}, large{};
    flow_env env{};
    flow f{};
    std::deque<packet *> to_sink, to_source;
    end ends[2]{};

    static void push(node *n, packet *p, usec_t)
    {
        ((end *)n)->sent->push_back(p);
    }
    explicit flow_wire(size_t packets = 1000)
    {
        static const node_ops ops = {push, nullptr, nullptr};
        packet_pool_init(&small, FLOW_SMALL, packets);
        packet_pool_init(&large, FLOW_LARGE, packets);
        env.small = &small;
        env.large = &large;
        f.env = &env;
        f.id = 3;
        ends[0].sent = &to_sink;
        ends[1].sent = &to_source;
        for (end &e : ends)
            node_init(&e.n, &ops, nullptr);
        node_init(&f.source, nullptr, &ends[0].n);
        node_init(&f.sink, nullptr, &ends[1].n);
    }
    ~flow_wire()
    {
        for (auto *way : {&to_sink, &to_source})
            for (packet *p : *way)
                packet_free(p);
        packet_pool_destroy(&small);
        packet_pool_destroy(&large);
    }
    flow_wire(const flow_wire &) = delete;
    flow_wire &operator=(const flow_wire &) = delete;

    static packet *take(std::deque<packet *> &way)
    {
        packet *p = way.front();
        way.pop_front();
        return p;
    }
};

#endif
