// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/reorder_delay.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct stream {
    reorder_delay r{};
    std::vector<usec_t> read;

    // Runs of four frames, sent every 40 ms in the order 3 1 0 2; the run `spike` 300 ms late.
    void runs(int from, int to, int spike = -1)
    {
        const int shown[] = {3, 1, 0, 2};
        for (int run = from; run < to; run++)
            for (int i = 0; i < 4; i++) {
                usec_t media = (4 * run + shown[i]) * 40 * ms;
                usec_t arrived = (4 * run + i) * 40 * ms + (run == spike ? 300 * ms : 0);
                reorder_delay_add(&r, media, arrived - media + 120 * ms);
            }
    }
};

} // namespace

TEST_CASE("reorder_delay: two runs tell it, and one that the network delays does not change it")
{
    stream s;
    s.runs(0, 2);
    CHECK(reorder_delay_read(&s.r) == 0); // the second run has not ended
    s.runs(2, 3);
    // The frame that is shown first is sent third: 80 ms, and 120 ms after the best frame.
    CHECK(reorder_delay_read(&s.r) == 200 * ms);
    s.runs(3, 20, 10);
    CHECK(reorder_delay_read(&s.r) == 200 * ms);
}

TEST_CASE("reorder_delay: without B frames it is 0, and again when they end")
{
    stream s;
    for (int i = 0; i < 20; i++)
        reorder_delay_add(&s.r, i * 40 * ms, (i % 5) * 30 * ms);
    CHECK(reorder_delay_read(&s.r) == 0);
    s.runs(10, 20);
    CHECK(reorder_delay_read(&s.r) == 200 * ms);
    for (int i = 80; i < 80 + REORDER_DELAY_RUNS + 1; i++)
        reorder_delay_add(&s.r, i * 40 * ms, 0);
    CHECK(reorder_delay_read(&s.r) == 0);
}
