// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/unit/lab/link/parsed_link.hpp"

TEST_CASE("link_spec: limits, marks and thresholds of queues")
{
    const struct {
        const char *text;
        enum queue_kind kind;
        struct queue_size limit, mark, min, max; // bytes, packets
    } table[] = {
        {"droptail", QUEUE_DROPTAIL, {0, 1000}, {}, {}, {}},
        {"droptail:64KB", QUEUE_DROPTAIL, {64000, 0}, {}, {}, {}},
        {"droptail:ecn=20p:limit=1MB", QUEUE_DROPTAIL, {1000000, 0}, {0, 20}, {}, {}},
        {"drophead:1p", QUEUE_DROPHEAD, {0, 1}, {}, {}, {}},
        {"red", QUEUE_RED, {0, 1000}, {}, {0, 83}, {0, 249}}, // 1000 / 12 = 83.3
        {"red:120KB", QUEUE_RED, {120000, 0}, {}, {10000, 0}, {30000, 0}},
        {"red:1p", QUEUE_RED, {0, 1}, {}, {0, 1}, {0, 3}},
        {"red:min=5p", QUEUE_RED, {0, 1000}, {}, {0, 5}, {0, 15}},
        {"red:max=30KB", QUEUE_RED, {0, 1000}, {}, {10000, 0}, {30000, 0}},
        {"red:min=5p:max=6p", QUEUE_RED, {0, 1000}, {}, {0, 5}, {0, 6}},
        {"dred:50p", QUEUE_DRED, {0, 50}, {}, {0, 25}, {0, 50}},
        {"dred:1p", QUEUE_DRED, {0, 1}, {}, {0, 1}, {0, 2}},
        {"dred:50p:min=40p", QUEUE_DRED, {0, 50}, {}, {0, 40}, {0, 50}},
        {"dred:50p:min=4KB", QUEUE_DRED, {0, 50}, {}, {4000, 0}, {8000, 0}},
        {"drd:limit=1GB:max=300B", QUEUE_DRD, {1000000000, 0}, {}, {150, 0}, {300, 0}},
        {"codel", QUEUE_CODEL, {0, 1000}, {}, {}, {}},
        {"dualpi2", QUEUE_DUALPI2, {0, 10000}, {}, {}, {}},
    };
    for (auto &t : table) {
        INFO(t.text);
        struct queue_config c = parsed(std::string("rate=1mbit,queue=") + t.text).queue;
        CHECK(c.kind == t.kind);
        CHECK(is(c.limit, t.limit.bytes, t.limit.packets));
        CHECK(is(c.mark, t.mark.bytes, t.mark.packets));
        CHECK(is(c.min, t.min.bytes, t.min.packets));
        CHECK(is(c.max, t.max.bytes, t.max.packets));
    }
}

TEST_CASE("link_spec: default parameters of queues")
{
    struct queue_config c = parsed("rate=1mbit,queue=red").queue;
    CHECK(!c.ecn);
    CHECK(c.p_max == 0.1);
    CHECK(c.weight == 0.002);
    CHECK(!c.gentle);
    c = parsed("rate=1mbit,queue=dred:9p").queue;
    CHECK(c.p_min == 0.1);
    CHECK(c.p_max == 1);
    c = parsed("rate=1mbit,queue=drd").queue;
    CHECK(c.p_min == 0.1);
    CHECK(c.p_max == 0.95);
    c = parsed("rate=1mbit,queue=codel").queue;
    CHECK(c.target == 5000);
    CHECK(c.interval == 100000);
    c = parsed("rate=1mbit,queue=dualpi2").queue;
    CHECK(c.ecn);
    CHECK(c.target == 15000);
    CHECK(c.interval == 15000); // min(target, RTT_max / 3), RTT_max = 100 ms
    CHECK(c.alpha == 0.15);     // 0.1 * 0.015 / 0.1^2
    CHECK(c.beta == 3);         // 0.3 / 0.1
    CHECK(c.k == 2);
    CHECK(c.step == 1000);
}

TEST_CASE("link_spec: given parameters of queues")
{
    struct queue_config c = parsed("rate=1mbit,queue=red:90p:pmax=2%:weight=0.25:gentle:ecn").queue;
    CHECK(c.ecn);
    CHECK(c.gentle);
    CHECK(c.p_max == 0.02);
    CHECK(c.weight == 0.25);
    c = parsed("rate=1mbit,queue=drd:pmin=5%:pmax=50%").queue;
    CHECK(c.p_min == 0.05);
    CHECK(c.p_max == 0.5);
    c = parsed("rate=1mbit,queue=codel:ecn:target=1ms:interval=20ms").queue;
    CHECK(c.ecn);
    CHECK(c.target == 1000);
    CHECK(c.interval == 20000);
    c = parsed("rate=1mbit,queue=dualpi2:alpha=0.5:beta=4:k=1.5:step=800us").queue;
    CHECK(c.alpha == 0.5);
    CHECK(c.beta == 4);
    CHECK(c.k == 1.5);
    CHECK(c.step == 800);
}

TEST_CASE("link_spec: sizes given as times")
{
    struct link_spec s = parsed("queue=red:120ms,rate=8mbit:1mbit@1s");
    CHECK(s.as_time.limit == 120000);
    CHECK(s.as_time.min == 10000);
    CHECK(s.as_time.max == 30000);
    link_spec_resolve(&s, 8e6); // 1 byte a microsecond
    CHECK(is(s.queue.limit, 120000, 0));
    CHECK(is(s.queue.min, 10000, 0));
    CHECK(is(s.queue.max, 30000, 0));
    link_spec_resolve(&s, 1e6); // once is enough
    CHECK(is(s.queue.limit, 120000, 0));

    s = parsed("rate=1kbit,queue=drd:10ms"); // all of it below a packet
    link_spec_resolve(&s, 1e3);
    CHECK(is(s.queue.limit, 1500, 0));
    CHECK(is(s.queue.min, 1500, 0));
    CHECK(is(s.queue.max, 3000, 0));

    s = parsed("rate=100gbit,queue=droptail:3600s:ecn=1us"); // 45 TB, and 12500 bytes
    link_spec_resolve(&s, 1e11);
    CHECK(is(s.queue.limit, 1000000000, 0));
    CHECK(is(s.queue.mark, 12500, 0));

    s = parsed("rate=1mbit,queue=droptail:20p");
    link_spec_resolve(&s, 1e6);
    CHECK(is(s.queue.limit, 0, 20));
}
