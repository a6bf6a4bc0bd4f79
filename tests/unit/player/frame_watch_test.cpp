// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/frame_watch.h"

#include <catch2/catch.hpp>

#include "media/synthetic.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;

// Goddard's levels: numbers count at 60 a second, so level 4 (20 a second) has 2, 5, 8, 11 ..., and
// level 2 (15 a second) 3, 7, 11 ...
struct watched : frame_watch {
    synthetic media;
    explicit watched(int level)
    {
        synthetic_goddard(&media);
        frame_watch_init(this, &media.ladder, level);
    }
    void packet(int64_t number, int size_id)
    {
        const watched_packet p = {number, size_id, size_id, 0, true, 1000}; // a level is a size
        frame_watch_packet(this, &p);
    }
    goddard_frames take()
    {
        goddard_frames f;
        frame_watch_take(this, &f);
        return f;
    }
};
} // namespace

TEST_CASE("frame_watch: a frame is lost when a later one begins")
{
    watched w(4);
    w.packet(2, 4);
    CHECK(frame_watch_whole(&w, 2, false, 0) == -1); // nothing before it
    w.packet(5, 4);                                  // its rest does not come
    w.packet(8, 4);
    CHECK(w.take().lost == 1);
    CHECK(frame_watch_whole(&w, 8, false, 100 * ms) == 50 * ms); // 100 ms / (1 lost + 1)
    CHECK(frame_watch_whole(&w, 5, false, 110 * ms) == -1);      // too late: it counts as lost
    w.packet(17, 4);                                             // 11 and 14 did not come at all
    goddard_frames f = w.take();
    CHECK(f.received == 1);
    CHECK(f.lost == 2);
    CHECK(f.bytes == 1000);
    CHECK(frame_watch_whole(&w, 17, false, 250 * ms) == 50 * ms);
    CHECK(frame_watch_whole(&w, 17, false, 260 * ms) == -1); // once
    f = w.take();
    CHECK(f.received == 1);
    CHECK_FALSE(frame_watch_take(&w, &f));
}

TEST_CASE("frame_watch: what is whole after its time is late")
{
    watched w(4);
    w.packet(2, 4);
    frame_watch_whole(&w, 2, true, 0);
    goddard_frames f = w.take();
    CHECK(f.received == 0);
    CHECK(f.late == 1);
}

TEST_CASE("frame_watch: it expects the frames of the level that is sent")
{
    watched w(4);
    w.packet(5, 4);
    frame_watch_whole(&w, 5, false, 0);
    w.packet(8, 4);
    frame_watch_whole(&w, 8, false, 50 * ms);
    w.packet(11, 2);
    frame_watch_whole(&w, 11, false, 100 * ms);
    w.packet(15, 2);
    frame_watch_whole(&w, 15, false, 167 * ms);
    w.packet(23, 2); // 19 is missing; 14, 17 and 20 are not of this level
    goddard_frames f = w.take();
    CHECK(f.received == 4);
    CHECK(f.lost == 1);
}

TEST_CASE("frame_watch: far ahead the stream begins anew")
{
    watched w(4);
    w.packet(2, 4);
    w.packet(2 + 3 * FRAME_WATCH_AHEAD, 4);
    CHECK(w.take().lost == 0);
    w.packet(2 + 3 * FRAME_WATCH_AHEAD + 3, 4);
    CHECK(w.take().lost == 1);
}
