// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/repair_planner.h"

#include <deque>
#include <memory>

#include "tests/support/open_transport.hpp"

namespace
{
const usec_t MS = USEC_PER_MSEC;

struct planner {
    open_transport t;
    std::unique_ptr<repair_sender, decltype(&repair_sender_free)> sender{nullptr,
                                                                         repair_sender_free};
    repair_planner p{};

    explicit planner(bool reported)
    {
        t.wishes = reported;
        repair_sender_config config{};
        config.mode = REPAIR_MODE_AUTO;
        config.viewer_has_fec = true;
        config.kept_bytes = 10000;
        sender.reset(repair_sender_new(&config));
        REQUIRE(sender);
        REQUIRE(repair_planner_init(&p, &t.base) == 0);
    }
    ~planner()
    {
        repair_planner_destroy(&p);
    }
    planner(const planner &) = delete;
    planner &operator=(const planner &) = delete;

    const repair_policy &plan(usec_t useful, usec_t now, usec_t age = 10 * MS)
    {
        repair_planner_frame f{};
        f.captured = now - age;
        f.useful = useful;
        f.interval = 33 * MS;
        f.bps = 2e6;
        repair_planner_plan(&p, sender.get(), &f, now);
        return *repair_sender_policy(sender.get());
    }
};
} // namespace

TEST_CASE("repair planner: rounds by round trip, pace and what the frame may wait")
{
    planner v(true);
    v.t.info.latest_rtt_ms = 100;
    v.t.info.allowed_bps = 9.6e6; // a packet of 1200 bytes takes 1 ms: feedback 4 ms
    // 10 ms are gone, 50 ms are the journey; a round takes 105 ms.
    CHECK(v.plan(164 * MS, USEC_PER_SEC).rounds == 0);
    CHECK(v.plan(166 * MS, USEC_PER_SEC).rounds == 1);
    CHECK(v.plan(269 * MS, USEC_PER_SEC).rounds == 1);
    CHECK(v.plan(271 * MS, USEC_PER_SEC).rounds == 2);
    CHECK(v.plan(164 * MS, USEC_PER_SEC).fec_window > 0);
    v.t.info.unsent_bytes = 12000; // 10 ms
    CHECK(v.plan(166 * MS, USEC_PER_SEC).rounds == 0);
    CHECK(v.plan(177 * MS, USEC_PER_SEC).rounds == 1);
}

TEST_CASE("repair planner: a frame that was encoded slowly is no reason for parity")
{
    planner v(true);
    v.t.info.latest_rtt_ms = 100;
    v.t.info.allowed_bps = 9.6e6;
    usec_t now = USEC_PER_SEC;
    for (int i = 0; i < 20; i++)
        CHECK(v.plan(175 * MS, now += 33 * MS).rounds == 1); // 10 ms old; 20 would do
    CHECK(v.plan(175 * MS, now += 33 * MS, 50 * MS).rounds == 1);
    // If each one is, parity follows.
    for (int i = 0; i < 20; i++)
        (void)v.plan(175 * MS, now += 33 * MS, 50 * MS);
    CHECK(v.plan(175 * MS, now += 33 * MS, 50 * MS).rounds == 0);
}

TEST_CASE("repair planner: fates from the transport, or from the viewer's requests")
{
    for (bool reported : {true, false}) {
        INFO(reported);
        planner v(reported);
        CHECK((v.p.fates == nullptr) == reported);
        v.t.info.latest_rtt_ms = 100;
        double before = v.plan(300 * MS, USEC_PER_SEC).share;
        for (uint16_t i = 0; i < 200; i++) {
            bool lost = i % 10 == 0;
            v.t.fates.push_back(lost);
            repair_planner_sent(&v.p, i, USEC_PER_SEC);
            if (lost)
                repair_planner_requested(&v.p, i);
        }
        // What was not requested within 200 ms has arrived.
        double soon = v.plan(300 * MS, USEC_PER_SEC + 150 * MS).share;
        CHECK((soon > before) == reported);
        CHECK(v.plan(300 * MS, USEC_PER_SEC + 250 * MS).share > 3 * before);
    }
}
