// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>

#include "stream/qoe/frame_jitter.h"
#include "tests/support/two_levels.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct fixture {
    ladder levels = two_levels();
    std::unique_ptr<frame_jitter> j{new frame_jitter};

    fixture()
    {
        frame_jitter_init(j.get());
    }
    void add(int64_t number, usec_t at, int level = 1)
    {
        frame_jitter_add(j.get(), &levels, {number, level, at * ms});
    }
    // Returns the mean in ms, after all arrivals are counted.
    double mean()
    {
        frame_jitter_break(j.get(), &levels);
        return hist_mean_us(&j->hist) / 1e3;
    }
};

} // namespace

TEST_CASE("frame_jitter: times between consecutive numbers, whichever arrived first")
{
    fixture f;
    f.add(0, 1000);
    f.add(2, 1250); // 1 came after it: 300, then 50
    f.add(1, 1300);
    CHECK(f.j->hist.count == 0); // an older one may come yet
    CHECK(f.mean() == Approx(175));
    CHECK(f.j->hist.count == 2);
}

TEST_CASE("frame_jitter: only frames of the level count as lost")
{
    fixture f;
    f.add(0, 1000, 0);
    f.add(2, 1200, 0); // 200
    f.add(6, 1600, 0); // 4 is lost: 400 / 2
    CHECK(f.mean() == Approx(200));
    CHECK(f.j->hist.max == 200 * ms);
    fixture unknown;
    unknown.add(0, 1000, -1);
    unknown.add(4, 1400, -1); // three are lost
    CHECK(unknown.mean() == Approx(100));
}

TEST_CASE("frame_jitter: a break ends the series")
{
    fixture f;
    f.add(0, 1000);
    f.add(1, 1100);
    CHECK(f.mean() == Approx(100));
    f.add(2, 9000);
    f.add(3, 9100);
    CHECK(f.mean() == Approx(100));
    CHECK(f.j->hist.count == 2);
}

TEST_CASE("frame_jitter: a jump of numbers is a seek")
{
    fixture f;
    f.add(0, 1000);
    f.add(FRAME_JITTER_MAX_GAP, 1000 + FRAME_JITTER_MAX_GAP); // 1 ms each
    f.add((int64_t)1 << 35, 99999);
    CHECK(f.mean() == Approx(1));
    CHECK(f.j->hist.count == 1);
}

TEST_CASE("frame_jitter: more frames than the reordering window")
{
    fixture f;
    for (int n = 0; n < 500; n++)
        f.add(n, 1000 + 100 * n);
    f.add(500 - FRAME_JITTER_REORDER - 1, 60000); // its neighbours were settled
    CHECK(f.mean() == Approx(100));
    CHECK(f.j->hist.count == 499);
    CHECK(hist_stddev_us(&f.j->hist) == Approx(0).margin(1));
}
