// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/frame_grid.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{
const usec_t MS = USEC_PER_MSEC;

struct counts {
    int shown = 0, repeated = 0, dropped = 0;
};

// Pictures every `interval` for 10 s, at 30 frames a second out.
counts run(double interval_ms, const std::vector<double> &jitter_ms = {0})
{
    frame_grid t;
    frame_grid_init(&t, {30, 1});
    counts c;
    for (int i = 0; i * interval_ms < 10000; i++) {
        auto at =
            (usec_t)((1000 + i * interval_ms + jitter_ms[(size_t)i % jitter_ms.size()]) * 1000);
        int before;
        while ((before = frame_grid_place(&t, at, at + 20 * MS)) > 0) {
            frame_grid_take(&t);
            c.repeated++;
        }
        if (before < 0) {
            c.dropped++;
            continue;
        }
        frame_grid_take(&t);
        c.shown++;
    }
    CHECK(t.next == c.shown + c.repeated);
    return c;
}
} // namespace

TEST_CASE("a device's rate is converted to the source's")
{
    counts same = run(1000.0 / 30);
    CHECK((same.shown == 300 && same.repeated == 0 && same.dropped == 0));
    counts half = run(1000.0 / 15); // 150 pictures; each but the last once more
    CHECK((half.shown == 150 && half.repeated == 149 && half.dropped == 0));
    counts twice = run(1000.0 / 60);
    CHECK((twice.shown > 298 && twice.shown < 303 && twice.repeated == 0 && twice.dropped > 297));
    counts drifts = run(1000.0 / 30.3); // 303 pictures in 10 s: 3 too many, less the slack
    CHECK((drifts.repeated == 0 && drifts.dropped >= 2 && drifts.dropped <= 3));
    counts jitters = run(1000.0 / 30, {0, 12, -12, 5, -20, 20});
    CHECK((jitters.shown == 300 && jitters.repeated == 0 && jitters.dropped == 0));
}

TEST_CASE("a frame without a picture")
{
    frame_grid t;
    frame_grid_init(&t, {25, 1});
    CHECK(frame_grid_place(&t, 1000 * MS, 1030 * MS) == 0);
    CHECK(frame_grid_take(&t) == 0);
    CHECK(frame_grid_instant(&t) == 1040 * MS);
    CHECK(frame_grid_deadline(&t) == (1040 + 40 + 49) * MS); // one interval, the usual delay
    CHECK(frame_grid_place(&t, 1040 * MS, 1340 * MS) == 0);  // 300 ms: the delay is learnt
    CHECK(frame_grid_deadline(&t) == (1040 + 40 + 300) * MS);
    CHECK(frame_grid_place(&t, 1160 * MS, 1190 * MS) == 3);
    CHECK(frame_grid_place(&t, 1000 * MS, 1190 * MS) == -1);
    CHECK(frame_grid_place(&t, 9000 * MS, 9030 * MS) == 0); // a jump: nothing to repeat
    CHECK(frame_grid_take(&t) == 1);
    CHECK(frame_grid_instant(&t) == 9040 * MS);
    frame_grid_restart(&t);
    CHECK(frame_grid_place(&t, 9011 * MS, 9030 * MS) == 0);
    CHECK(frame_grid_instant(&t) == 9011 * MS);
    CHECK(frame_grid_take(&t) == 2);
}

TEST_CASE("time stamps of either clock")
{
    const usec_t now = 5000 * MS, wall = 1700000000 * USEC_PER_SEC;
    CHECK(capture_stamp(4980 * MS, now, wall) == 4980 * MS);
    CHECK(capture_stamp(wall - 30 * MS, now, wall) == 4970 * MS);
    CHECK(capture_stamp(5001 * MS, now, wall) == now); // never in the future
    CHECK(capture_stamp(1, now + 60 * USEC_PER_SEC, wall) == now + 60 * USEC_PER_SEC);
    CHECK(capture_stamp(INT64_MIN, now, wall) == now);
    // Too old for its frame's turn.
    CHECK(capture_stamp(4600 * MS, now, wall) == 4600 * MS);
    CHECK(capture_stamp(4599 * MS, now, wall) == 4600 * MS);
    CHECK(capture_stamp(1, now, wall) == 4600 * MS);
    CHECK(capture_stamp(wall - 800 * MS, now, wall) == 4600 * MS);
}

TEST_CASE("a device whose clock is or becomes late still delivers pictures")
{
    for (usec_t behind : {20 * MS, 400 * MS, 600 * MS, 900 * MS, 2000 * MS, 9000 * MS}) {
        frame_grid t;
        frame_grid_init(&t, {30, 1});
        int shown = 0;
        for (int i = 0; i < 300; i++) { // 10 s, and from the second on it is behind
            usec_t now = 100 * USEC_PER_SEC + i * USEC_PER_SEC / 30;
            usec_t stamp = capture_stamp(now - (i < 30 ? 20 * MS : behind), now, 0);
            now += (i % 7 + 2) * MS; // it is converted
            while (t.anchored && now >= frame_grid_deadline(&t))
                frame_grid_take(&t); // the last picture again
            int before = frame_grid_place(&t, stamp, now);
            if (before < 0)
                continue;
            for (int k = 0; k <= before; k++)
                frame_grid_take(&t);
            shown++;
        }
        CAPTURE(behind);
        CHECK(shown > 300 - 32);                    // but while it falls behind
        CHECK((t.next > 300 - 32 && t.next < 330)); // no more frames than time has
    }
}
