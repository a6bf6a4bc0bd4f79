// SPDX-License-Identifier: GPL-2.0-or-later
// For tests of queues: a queue that receives packets numbered from 0, and the fate of each.
#ifndef WEIR_TESTS_QUEUE_FIXTURE_HPP
#define WEIR_TESTS_QUEUE_FIXTURE_HPP

#include <algorithm>
#include <functional>
#include <vector>

#include "lab/link/queue.h"
#include "tests/unit/lab/link/collector.hpp"

constexpr usec_t MS = USEC_PER_MSEC;

inline queue_config config_of(queue_kind kind, uint64_t limit_packets)
{
    queue_config c{};
    c.kind = kind;
    c.limit.packets = limit_packets;
    return c;
}

struct queue_fixture {
    collector c;
    queue *q;
    uint32_t next = 0; // number of the next packet
    std::vector<uint32_t> out;
    std::vector<uint32_t> marked;
    std::vector<usec_t> waits;

    explicit queue_fixture(const queue_config &config, uint64_t seed = 1)
        : q(queue_new(&config, &c.drops.dropper, seed))
    {
    }
    ~queue_fixture()
    {
        queue_free(q); // declared before the pool, whose packets it holds
    }
    queue_fixture(const queue_fixture &) = delete;
    queue_fixture &operator=(const queue_fixture &) = delete;

    void put(usec_t now, ecn e = ECN_NOT, uint32_t bytes = 1500)
    {
        packet *p = c.make(next++, bytes);
        p->ecn = e;
        q->ops->enqueue(q, p, now);
    }
    void put_many(uint32_t n, usec_t now, ecn e = ECN_NOT)
    {
        for (uint32_t i = 0; i < n; i++)
            put(now, e);
    }
    // Returns false if the queue is empty.
    bool take(usec_t now)
    {
        packet *p = q->ops->dequeue(q, now);
        if (!p)
            return false;
        out.push_back(p->flow);
        if (p->marked)
            marked.push_back(p->flow);
        waits.push_back(p->queue_delay);
        packet_free(p);
        return true;
    }
    void take_all(usec_t now)
    {
        while (take(now))
            ;
    }
    std::vector<uint32_t> dropped(link_drop cause) const
    {
        std::vector<uint32_t> numbers;
        for (const auto &d : c.dropped)
            if (d.second == cause)
                numbers.push_back(d.first);
        return numbers;
    }
    size_t signals() const
    {
        return marked.size() + dropped(LINK_DROP_AQM).size();
    }
};

// Sends packets of 1500 bytes through a link of 10 Mbit/s, 1200 us each, until `end`. `gap` returns
// the time from one arrival to the next.
inline void run_link(queue_fixture &f, usec_t end, ecn e, const std::function<usec_t(usec_t)> &gap)
{
    f.q->rate_bps = 10e6;
    usec_t arrival = 0, service = 0;
    while (std::min(arrival, service) < end) {
        if (arrival <= service) {
            f.put(arrival, e);
            arrival += gap(arrival);
        } else {
            service = f.take(service) ? service + 1200 : arrival;
        }
    }
}

// The gaps of a sender that adds a packet to its window every round trip of 50 ms, and reduces it
// by the factor `decrease` if the queue signalled in that round trip.
struct aimd {
    queue_fixture &f;
    double decrease;
    double window = 10;
    size_t signals = 0;
    usec_t round_ends = 0;

    usec_t operator()(usec_t now)
    {
        if (now >= round_ends) {
            size_t s = f.signals();
            window = s > signals ? std::max(2.0, window * (1 - decrease)) : window + 1;
            signals = s;
            round_ends = now + 50 * MS;
        }
        return static_cast<usec_t>(50 * MS / window);
    }
};

inline double mean_of_second_half(const std::vector<usec_t> &v)
{
    double sum = 0;
    size_t half = v.size() / 2;
    for (size_t i = half; i < v.size(); i++)
        sum += static_cast<double>(v[i]);
    return sum / static_cast<double>(v.size() - half);
}

#endif
