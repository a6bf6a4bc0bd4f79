// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>

#include "stream/qoe/qoe_playback.h"

namespace
{

const usec_t sec = USEC_PER_SEC;

struct playback {
    qoe_playback p;
    active_time pauses{};
    std::unique_ptr<qoe_json> out = std::make_unique<qoe_json>();

    playback()
    {
        qoe_playback_init(&p);
    }
    const qoe_json &read(usec_t now)
    {
        qoe_playback_read(&p, out.get(), &pauses, now);
        return *out;
    }
};

} // namespace

TEST_CASE("qoe_playback: nothing was shown")
{
    playback w;
    const qoe_json &r = w.read(5 * sec);
    CHECK(r.playback.frames_played == 0);
    CHECK(r.playback.media == 0);
    CHECK(std::isnan(r.playback.wall));
    CHECK(std::isnan(r.playback.frame_rate));
    CHECK(std::isnan(r.playback.speed.mean));
    CHECK(std::isnan(r.playback.frames_skipped_by_sender));
}

TEST_CASE("qoe_playback: media counts intervals, wall the time without pauses")
{
    playback w;
    qoe_playback_shown(&w.p, 10, &w.pauses, 1 * sec);
    qoe_playback_shown(&w.p, 5, &w.pauses, 2 * sec);
    active_time_set(&w.pauses, true, 2 * sec);
    active_time_set(&w.pauses, false, 4 * sec);
    qoe_playback_shown(&w.p, 0, &w.pauses, 5 * sec); // no rate is known
    const qoe_json &r = w.read(6 * sec);
    CHECK(r.playback.media == Approx(0.3));
    CHECK(r.playback.wall == Approx(3));
    CHECK(r.playback.frame_rate == Approx(1));
    CHECK(w.p.first_shown == 1 * sec);
    CHECK(w.p.last_shown == 5 * sec);
    CHECK(w.p.last_active == 3 * sec);
}

TEST_CASE("qoe_playback: frames that the sender skipped add up over connections")
{
    playback w;
    qoe_playback_reconnect(&w.p); // no connection reported any
    CHECK(std::isnan(w.p.sender_skipped));
    qoe_playback_sender_skipped(&w.p, 5);
    qoe_playback_sender_skipped(&w.p, 8);
    qoe_playback_reconnect(&w.p);
    qoe_playback_reconnect(&w.p);
    qoe_playback_sender_skipped(&w.p, 2);
    CHECK(w.read(0).playback.frames_skipped_by_sender == 10);
}

TEST_CASE("qoe_playback: each count has its key")
{
    playback w;
    w.p.received = 20;
    w.p.skips = 2;
    w.p.not_shown[QOE_LOST] = 3;
    w.p.not_shown[QOE_LATE] = 4;
    w.p.not_shown[QOE_UNDECODABLE] = 5;
    w.p.not_shown[QOE_SKIPPED] = 6;
    const qoe_json &r = w.read(0);
    CHECK(r.playback.frames_received == 20);
    CHECK(r.playback.skips == 2);
    CHECK(r.playback.frames_lost == 3);
    CHECK(r.playback.frames_late == 4);
    CHECK(r.playback.frames_undecodable == 5);
    CHECK(r.playback.frames_skipped == 6);
}
