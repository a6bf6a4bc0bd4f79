// SPDX-License-Identifier: GPL-2.0-or-later
// Simulations when there is no memory: one is made wholly, or not at all and says so.
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "tests/support/failing_alloc.hpp"
#include "tests/unit/lab/sim/simulation.hpp"

TEST_CASE("sim: each kind of flow without memory, allocation by allocation")
{
    const char *const groups[] = {
        "cbr:rate=1mbit",
        "newreno:",
        "sack:packets=100,n=2,local=1mbit,loss=1%",
        "web:",
        "mtp:",
        "datagram:cc=tfrc",
        "stream:via=tcp",
        "stream:via=minbuf:1/3",
        "stream:via=udp,repair=auto",
        "stream:via=tfrc,level=2",
        "stream:via=mtp",
        "stream:via=tfrc,proxy=rate=50mbit",
    };
    for (const char *group : groups) {
        INFO(group);
        simulation whole("rate=10mbit,delay=5ms,queue=droptail:20p", {group}, 1, 2);
        INFO(whole.error);
        REQUIRE(whole.made);
        int failures = 0;
        for (bool more = true; more; failures += more) {
            CAPTURE(failures);
            sim s{};
            char error[256] = "";
            failing_alloc_set(failures);
            const int err = sim_init(&s, whole.setup.get(), error, sizeof(error));
            more = failing_alloc_end();
            CHECK(err == (more ? ERR_NO_MEMORY : 0));
            CHECK((*error != '\0') == more);
            if (!err)
                sim_destroy(&s);
        }
        CHECK(failures >= 8); // the flows, the chain and its hops, the flow itself
    }
}

TEST_CASE("sim: a run in which an allocation fails ends, and delivers no more than was sent")
{
    const char *const groups[] = {"sack:packets=200",         "mtp:stop=2s",
                                  "datagram:cc=tfrc,stop=2s", "stream:via=tcp,length=2s",
                                  "stream:via=udp,length=2s", "stream:via=mtp,length=2s"};
    for (const char *group : groups) {
        INFO(group);
        for (int n : {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89}) {
            CAPTURE(n);
            simulation s("rate=10mbit,delay=5ms,queue=droptail:20p", {group});
            REQUIRE(s.made);
            failing_alloc_set(n);
            s.run(20);
            (void)failing_alloc_end();
            CHECK(s.counts().arrived_packets <= s.counts().sent_packets);
        }
    }
}
