// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "lab/link/link.h"

namespace
{
struct seen {
    uint32_t id;
    usec_t at;
    bool operator==(const struct seen &) const = default;
};
using events = std::vector<struct seen>;

uint32_t id_of(const struct packet *p)
{
    uint32_t id;
    memcpy(&id, p->data, sizeof(id));
    return id;
}

struct sink {
    struct node node; // first
    events out;
    std::vector<usec_t> queue_delays;
};

void sink_push(struct node *n, struct packet *p, usec_t now)
{
    auto *s = reinterpret_cast<struct sink *>(n);
    s->out.push_back({id_of(p), now});
    s->queue_delays.push_back(p->queue_delay);
    packet_free(p);
}

const struct node_ops sink_ops = {.push = sink_push, .run = nullptr, .destroy = nullptr};

struct drop {
    uint32_t id;
    enum link_drop cause;
    usec_t at;
    bool operator==(const struct drop &) const = default;
};

void note_drop(void *ctx, const struct packet *p, enum link_drop cause, usec_t now)
{
    static_cast<std::vector<struct drop> *>(ctx)->push_back({id_of(p), cause, now});
}

// A link in its own world; packets carry the number of their push, from 0.
struct bench {
    struct packet_pool pool;
    struct world world;
    struct sink sink;
    struct link link;
    std::vector<struct drop> drops;
    uint32_t pushed = 0;

    explicit bench(const char *text, uint64_t seed = 1, const char *trace = nullptr, usec_t now = 0)
    {
        struct link_spec spec;
        char error[256];
        size_t line;
        packet_pool_init(&pool, sizeof(uint32_t), 100000);
        world_init(&world, now);
        node_init(&sink.node, &sink_ops, nullptr);
        int err = link_spec_parse(text, &spec, error, sizeof(error));
        INFO(error);
        REQUIRE(err == 0);
        REQUIRE(link_init(&link, &world, &spec, trace, trace ? strlen(trace) : 0, &line, seed,
                          &sink.node, now) == 0);
        link.on_drop = note_drop;
        link.ctx = &drops;
    }
    ~bench()
    {
        link_destroy(&link);
        CHECK(world.count == 0);
        world_destroy(&world);
        CHECK(pool.out == 0);
        packet_pool_destroy(&pool);
    }
    bench(const bench &) = delete;
    bench &operator=(const bench &) = delete;

    void push(usec_t now, uint32_t bytes = 1500, uint32_t flow = 0, enum ecn ecn = ECN_NOT)
    {
        world_run(&world, now);
        struct packet *p = packet_new(&pool);
        REQUIRE(p);
        p->bytes = bytes;
        p->flow = flow;
        p->ecn = ecn;
        memcpy(p->data, &pushed, sizeof(pushed));
        pushed++;
        link_push(&link, p, now);
    }
    void push_many(int count, usec_t now)
    {
        for (int i = 0; i < count; i++)
            push(now);
    }
    void change(const char *text, usec_t now)
    {
        struct link_change c;
        char error[256];
        world_run(&world, now);
        REQUIRE(link_change_parse(text, &c, error, sizeof(error)) == 0);
        link_apply(&link, &c, now);
    }
    const events &run(usec_t until = 1000 * USEC_PER_SEC)
    {
        world_run(&world, until);
        return sink.out;
    }
};
} // namespace

TEST_CASE("link: a perfect link forwards all packets at once")
{
    bench b("");
    b.push(5);
    b.push(7, 40);
    CHECK(b.sink.out == events{{0, 5}, {1, 7}});
    CHECK(world_next(&b.world) == USEC_NEVER);
    CHECK(link_queue_bytes(&b.link) == 0);
    const struct link_stats *f = link_all_stats(&b.link);
    CHECK(f->packets_in == 2);
    CHECK(f->bytes_in == 1540);
    CHECK(f->packets_out == 2);
    CHECK(f->bytes_out == 1540);
    CHECK(f->queue_delay.count == 2);
    CHECK(f->queue_delay.max == 0);
}

// 1500 bytes at 12 Mbit/s: a millisecond each.
TEST_CASE("link: ten packets by hand")
{
    bench b("rate=12mbit,delay=20ms,loss=mask:0010000001");
    b.push_many(10, 0);
    CHECK(link_queue_bytes(&b.link) == 7 * 1500); // 2 lost, 1 under way
    CHECK(b.run() == events{{0, 21000},
                            {1, 22000},
                            {3, 23000},
                            {4, 24000},
                            {5, 25000},
                            {6, 26000},
                            {7, 27000},
                            {8, 28000}});
    CHECK(b.sink.queue_delays == std::vector<usec_t>{0, 1000, 2000, 3000, 4000, 5000, 6000, 7000});
    CHECK(b.drops == std::vector<struct drop>{{2, LINK_DROP_LOSS, 0}, {9, LINK_DROP_LOSS, 0}});

    const struct link_stats *f = link_all_stats(&b.link);
    CHECK(f->packets_in == 10);
    CHECK(f->bytes_in == 15000);
    CHECK(f->packets_out == 8);
    CHECK(f->bytes_out == 12000);
    CHECK(f->dropped[LINK_DROP_LOSS] == 2);
    CHECK(f->dropped[LINK_DROP_FULL] == 0);
    CHECK(f->marked == 0);
    CHECK(f->queue_max_bytes == 6 * 1500); // that of the ninth; the tenth was lost
    CHECK(f->queue_delay.count == 8);
    CHECK(hist_mean_us(&f->queue_delay) == 3500);
    CHECK(f->queue_delay.max == 7000);
}

TEST_CASE("link: overhead costs time, and time counts from the link's start")
{
    bench b("rate=12mbit:6mbit@1500us,overhead=1000", 1, nullptr, 1000000);
    b.push(1000000, 500);
    b.push(1000000, 500);
    // 12000 bits: 1 ms; the second has 6000 left when the rate falls: 1 ms more.
    CHECK(b.run() == events{{0, 1001000}, {1, 1002500}});
    CHECK(link_all_stats(&b.link)->bytes_out == 1000);
}

TEST_CASE("link: a full queue")
{
    bench b("rate=12mbit,queue=droptail:3p");
    b.push_many(10, 0); // one under way, three wait
    CHECK(b.run() == events{{0, 1000}, {1, 2000}, {2, 3000}, {3, 4000}});
    REQUIRE(b.drops.size() == 6);
    CHECK(b.drops[0] == (struct drop){4, LINK_DROP_FULL, 0});
    CHECK(b.drops[5] == (struct drop){9, LINK_DROP_FULL, 0});
    CHECK(link_all_stats(&b.link)->dropped[LINK_DROP_FULL] == 6);
    CHECK(link_all_stats(&b.link)->queue_max_bytes == 4500);
}

// A millisecond each at 12 Mbit/s; one is under way, the others wait.
TEST_CASE("link: the longest queue is one that an arriving packet met")
{
    struct row {
        const char *loss;
        int packets;
        uint64_t max;
    };
    const row rows[] = {
        {"mask:0", 1, 0},        {"mask:0", 2, 0}, // the second meets the one under way
        {"mask:0", 4, 3000},                       //
        {"mask:0001", 4, 1500},                    // the fourth would have met 3000
        {"mask:00011", 5, 1500},                   //
        {"mask:00010", 5, 3000},                   // the fifth comes
        {"mask:1*", 9, 0},                         //
        {"mask:0", 9, 6000},                       // the limit; those that do not fit meet it, too
    };
    for (const row &r : rows) {
        CAPTURE(r.loss, r.packets);
        bench b((std::string("rate=12mbit,queue=droptail:4p,loss=") + r.loss).c_str());
        b.push_many(r.packets, 0);
        b.run();
        CHECK(link_all_stats(&b.link)->queue_max_bytes == r.max);
        CHECK(link_flow_stats(&b.link, 0)->queue_max_bytes == r.max);
        CHECK(b.link.lately->queue_max_bytes == r.max);
    }
}

TEST_CASE(
    "link: a limit given as a time is converted at the link's first rate, or the trace's mean")
{
    bench rate("rate=12mbit:1mbit@1s,queue=droptail:2ms"); // 3000 bytes
    rate.push_many(9, 0);
    CHECK(link_queue_bytes(&rate.link) == 3000);
    bench trace("trace=x,queue=droptail:2ms", 1, "1\n2\n"); // 1500 bytes a millisecond
    trace.push_many(9, 0);
    CHECK(trace.link.bottleneck.queue->config.limit.bytes == 3000);
}

TEST_CASE("link: marks are counted when the packet leaves")
{
    bench b("rate=12mbit,queue=droptail:100p:ecn=2p");
    for (int i = 0; i < 10; i++)
        b.push(0, 1500, 0, i % 2 ? ECN_ECT0 : ECN_NOT);
    // Packet i > 0 meets i - 1 that wait; 1 and 3 meet no more than 2.
    CHECK(link_all_stats(&b.link)->marked == 0);
    b.run();
    CHECK(link_all_stats(&b.link)->packets_out == 10);
    CHECK(link_all_stats(&b.link)->marked == 3); // 5, 7, 9
}

TEST_CASE("link: a packet from another link counts as new")
{
    bench b("");
    struct packet *p = packet_new(&b.pool);
    p->bytes = 100;
    p->marked = true;
    p->queue_delay = 77;
    link_push(&b.link, p, 9);
    CHECK(link_all_stats(&b.link)->marked == 0);
    CHECK(link_all_stats(&b.link)->queue_delay.max == 0);
}

TEST_CASE("link: reordered packets arrive late, the others pass")
{
    bench b("delay=20ms,reorder=50%:2500us", 3);
    for (int i = 0; i < 100; i++)
        b.push(i * USEC_PER_MSEC);
    const events &out = b.run();
    REQUIRE(out.size() == 100);
    int late = 0, passed = 0;
    for (size_t i = 0; i < out.size(); i++) {
        usec_t after = out[i].at - out[i].id * USEC_PER_MSEC;
        CHECK((after == 20000 || after == 22500));
        late += after == 22500;
        passed += i > 0 && out[i].id < out[i - 1].id;
    }
    CHECK(late > 30);
    CHECK(late < 70);
    CHECK(passed > 10);
}

TEST_CASE("link: a rate and a delay that change during a transmission")
{
    bench b("rate=12mbit,delay=10ms");
    b.push_many(4, 0);
    // At 1.5 ms packet 1 has 6000 bits left: 1 ms more at 6 Mbit/s; then 2 ms each.
    b.change("rate=6mbit", 1500);
    // Packet 3 leaves the queue at 6.5 ms, but not before packet 2, which is due at 4.5 + 10 ms.
    b.change("delay=3ms", 4600);
    b.push(20000);
    CHECK(b.run() == events{{0, 11000}, {1, 12500}, {2, 14500}, {3, 14500}, {4, 25000}});
}

TEST_CASE("link: an outage, and its end")
{
    bench b("rate=12mbit");
    b.push_many(2, 0);
    b.change("rate=0", 500);
    CHECK(b.run(USEC_PER_SEC).empty());
    b.change("rate=1.2mbit", USEC_PER_SEC); // 6000 bits: 5 ms
    CHECK(b.run() == events{{0, 1005000}, {1, 1015000}});
}

TEST_CASE("link: loss, reordering and jitter that are set later")
{
    bench b("");
    b.push(0);
    b.change("loss=mask:01,reorder=100%:5ms,rate=1mbit", 10); // no bottleneck: the rate is nothing
    b.push(20);
    b.push(30);
    b.change("loss=0%,reorder=0%:0,delay=1ms", 40);
    b.push(50);
    b.change("jitter=1ms", 60);
    CHECK(b.link.delay.delay == 1000); // stays
    CHECK(b.run() == events{{0, 0}, {3, 1050}, {1, 5020}});
    CHECK(b.drops == std::vector<struct drop>{{2, LINK_DROP_LOSS, 30}});
}

TEST_CASE("link: stats of flows, and recent stats")
{
    bench b("rate=12mbit,queue=droptail:3p");
    const uint32_t flows[] = {1, 1, 7, 2, 2, 8, 0, 1000}; // the last four are dropped
    for (uint32_t flow : flows)
        b.push(0, 1500, flow);
    b.run();
    const struct {
        uint32_t flow;
        uint64_t in, out, full;
    } table[] = {{0, 3, 0, 3}, {1, 2, 2, 0}, {2, 2, 1, 1}, {3, 0, 0, 0}, {7, 1, 1, 0}};
    for (auto &t : table) {
        INFO(t.flow);
        const struct link_stats *f = link_flow_stats(&b.link, t.flow);
        CHECK(f->packets_in == t.in);
        CHECK(f->bytes_in == t.in * 1500);
        CHECK(f->packets_out == t.out);
        CHECK(f->dropped[LINK_DROP_FULL] == t.full);
        CHECK(f->queue_delay.count == t.out);
    }
    CHECK(b.link.lately->packets_in == 8);
    CHECK(b.link.lately->queue_max_bytes == 4500);
    link_stats_clear(b.link.lately);
    b.push(2000 * USEC_PER_SEC);
    b.run(2001 * USEC_PER_SEC);
    CHECK(b.link.lately->packets_in == 1);
    CHECK(b.link.lately->packets_out == 1);
    CHECK(b.link.lately->dropped[LINK_DROP_FULL] == 0);
    CHECK(b.link.lately->queue_max_bytes == 0);
    CHECK(link_all_stats(&b.link)->packets_in == 9);
    CHECK(link_all_stats(&b.link)->dropped[LINK_DROP_FULL] == 4);
}

TEST_CASE("link: a trace")
{
    bench b("trace=x,delay=1ms", 1, "# a packet each 3 ms\n3\n");
    b.push(0);
    b.push(0);
    b.push(100);
    b.change("rate=1gbit", 200); // not a trace's
    CHECK(b.run() == events{{0, 4000}, {1, 7000}, {2, 10000}});
}

TEST_CASE("link: an invalid trace")
{
    struct link_spec spec;
    struct link l;
    struct world w;
    struct sink sink;
    char error[256];
    size_t line = 0;
    world_init(&w, 0);
    REQUIRE(link_spec_parse("trace=x", &spec, error, sizeof(error)) == 0);
    CHECK(link_init(&l, &w, &spec, "1\n2\nx\n", 6, &line, 1, &sink.node, 0) == ERR_MALFORMED);
    CHECK(line == 3);
    CHECK(w.count == 0);
    world_destroy(&w);
}

TEST_CASE("link: destroyed with packets in all of its nodes")
{
    bench b("rate=12mbit,delay=2ms,reorder=50%:9ms");
    b.push_many(10, 0);
    b.run(6000);
    CHECK(link_queue_bytes(&b.link) > 0);
    CHECK(held_packets_any(&b.link.delay.held));
    CHECK(held_packets_any(&b.link.reorder.held));
}

TEST_CASE("link: outlives its world")
{
    bench b("rate=12mbit");
    b.push_many(3, 0);
    world_destroy(&b.world);
    world_init(&b.world, 0);
}

namespace
{
events play(const char *text, uint64_t seed)
{
    bench b(text, seed);
    struct rng rng = rng_seeded(99);
    usec_t now = 0;
    for (int i = 0; i < 5000; i++) {
        now += (usec_t)rng_below(&rng, 2000);
        b.push(now, 40 + (uint32_t)rng_below(&rng, 1460));
    }
    events out = b.run();
    CHECK(out.size() + b.drops.size() == 5000);
    return out;
}
} // namespace

TEST_CASE("link: the same seed gives the same run")
{
    const char *all = "rate=6mbit:4mbit@1s:loop=2s,queue=red:30p,delay=20ms,jitter=5ms,"
                      "loss=ge:p=1%:r=20%,reorder=1%:7ms";
    events once = play(all, 7);
    CHECK(once.size() > 3000);
    CHECK(play(all, 7) == once);
    CHECK(play(all, 8) != once);
}

TEST_CASE("link: losses do not depend on the rest of the spec")
{
    auto ids = [](const events &out) {
        std::vector<uint32_t> v;
        for (auto &e : out)
            v.push_back(e.id);
        return v;
    };
    std::vector<uint32_t> alone = ids(play("loss=5%", 7));
    CHECK(alone.size() > 4600);
    CHECK(alone.size() < 4900);
    CHECK(ids(play("loss=5%,rate=8mbit,queue=droptail:1000000p,delay=20ms,jitter=9ms", 7)) ==
          alone);
}
