// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/chain.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "tests/unit/lab/link/collector.hpp"

static int drops;

static void on_drop(void *, const struct packet *, enum link_drop, usec_t)
{
    drops++;
}

// Two flows between the routers 0 and 3, one each way, by 2 ms a hop.
TEST_CASE("chain: both ends of a flow reach each other")
{
    collector sources[2];
    collector sinks[2];
    link_spec spec;
    char error[256];
    REQUIRE(link_spec_parse("delay=2ms", &spec, error, sizeof(error)) == 0);
    world w;
    world_init(&w, 0);
    chain_config config = {};
    config.hops = 3;
    config.right.spec = config.left.spec = &spec;
    config.flows = 2;
    config.on_drop = on_drop;
    chain c;
    size_t line;
    REQUIRE(chain_init(&c, &w, &config, &line, 0) == 0);
    chain_path path = {0, 3, 20000, 100000000, 0, 0, nullptr};
    CHECK(chain_min_rtt(&c, &path) == 12000);
    REQUIRE(chain_attach(&c, 0, &path, &sources[0].sink.node, &sinks[0].sink.node) == 0);
    path.from = 3;
    path.to = 1;
    path.rtt = 8000; // all of it is the hops'
    path.loss = 1;
    CHECK(chain_min_rtt(&c, &path) == 8000);
    path.rtt = 7999;
    CHECK(chain_attach(&c, 1, &path, &sources[1].sink.node, &sinks[1].sink.node) == ERR_RANGE);
    path.rtt = 8000;
    REQUIRE(chain_attach(&c, 1, &path, &sources[1].sink.node, &sinks[1].sink.node) == 0);
    // 10 ms each way, and 120 us on two access links; 40 bytes: twice 3.2 us, rounded up.
    node_push(sources[0].sink.node.to, sources[0].make(0), 0);
    node_push(sinks[0].sink.node.to, sinks[0].make(1, 40), 0);
    drops = 0;
    node_push(sources[1].sink.node.to, sources[1].make(2), 0); // lost at the sink
    node_push(sinks[1].sink.node.to, sinks[1].make(3), 0);
    world_run(&w, 1000000);
    CHECK(sinks[0].times() == std::vector<usec_t>{10240});
    CHECK(sources[0].times() == std::vector<usec_t>{10008});
    CHECK(drops == 2);
    CHECK(link_all_stats(chain_link_at(&c, 0, false))->packets_in == 1); // flow 1 ends at 1
    CHECK(link_all_stats(chain_link_at(&c, 1, false))->packets_in == 2);
    chain_destroy(&c);
    world_destroy(&w);
}

TEST_CASE("chain: the links to the right may differ")
{
    collector source;
    collector sink;
    const char *texts[] = {"", "rate=12mbit", "rate=1200kbit"};
    link_spec specs[3];
    char error[256];
    for (int i = 0; i < 3; i++)
        REQUIRE(link_spec_parse(texts[i], &specs[i], error, sizeof(error)) == 0);
    chain_link each[] = {{&specs[1], nullptr, 0}, {&specs[2], nullptr, 0}};
    world w;
    world_init(&w, 0);
    chain_config config = {};
    config.hops = 2;
    config.right = each[0];
    config.left.spec = &specs[0];
    config.each_right = each;
    config.flows = 1;
    config.on_drop = on_drop;
    chain c;
    size_t line;
    REQUIRE(chain_init(&c, &w, &config, &line, 0) == 0);
    chain_path path = {0, 2, 0, 100000000, 0, 0, nullptr};
    REQUIRE(chain_attach(&c, 0, &path, &source.sink.node, &sink.sink.node) == 0);
    node_push(source.sink.node.to, source.make(0), 0);
    node_push(sink.sink.node.to, sink.make(1), 0);
    world_run(&w, 1000000);
    // 1500 bytes: 120 us on each access link, 1 ms and 10 ms on the hops, nothing on the way back.
    CHECK(sink.times() == std::vector<usec_t>{11240});
    CHECK(source.times() == std::vector<usec_t>{240});
    chain_destroy(&c);
    world_destroy(&w);
}

TEST_CASE("chain: a sink's own line delays, queues and drops both ways")
{
    collector source;
    collector sink;
    link_spec spec;
    link_spec line;
    char error[256];
    REQUIRE(link_spec_parse("", &spec, error, sizeof(error)) == 0);
    // 1500 bytes take 12 ms; one waits.
    REQUIRE(link_spec_parse("rate=1mbit,queue=droptail:1p,delay=1ms", &line, error,
                            sizeof(error)) == 0);
    world w;
    world_init(&w, 0);
    chain_config config = {};
    config.hops = 1;
    config.right.spec = config.left.spec = &spec;
    config.flows = 2;
    config.on_drop = on_drop;
    chain c;
    size_t bad;
    REQUIRE(chain_init(&c, &w, &config, &bad, 0) == 0);
    chain_path path = {0, 1, 1999, 100000000, 0, 0, &line};
    CHECK(chain_min_rtt(&c, &path) == 2000);
    CHECK(chain_attach(&c, 0, &path, &source.sink.node, &sink.sink.node) == ERR_RANGE);
    path.rtt = 2000;
    REQUIRE(chain_attach(&c, 0, &path, &source.sink.node, &sink.sink.node) == 0);
    drops = 0;
    for (int i = 0; i < 4; i++) {
        node_push(source.sink.node.to, source.make(0), 0);
        node_push(sink.sink.node.to, sink.make(1), 0);
    }
    world_run(&w, 1000000);
    // The first is on the line when the next come, 120 us apart: one of three waits.
    CHECK(sink.times() == std::vector<usec_t>{13240, 25240});
    CHECK(source.times() == std::vector<usec_t>{13240, 25240});
    CHECK(drops == 4);
    chain_destroy(&c);
    world_destroy(&w);
}
