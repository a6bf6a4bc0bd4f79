// SPDX-License-Identifier: GPL-2.0-or-later
// Viewers of an origin's film, which is real, over the loopback. Whole programs:
// tests/e2e/test_proxy.py.
#include "proxy/feed/relay_feed.h"

#include "proxy/feed/upstream.h"
#include "server/policy/frame_clock.h"
#include "server/stored/stored_media.h"
#include "tests/support/relay.hpp"
#include "tests/support/stored_film.hpp"

using relay::origin;
using relay::proxy;
using relay::viewer;

namespace
{

// A film of 40 frames at 10 frames/s, in two groups of 2 s, unless more are wanted.
struct shown {
    relay::world w;
    stored_film film;
    origin at{&w.loop, stored_media_new(film.open(), false, true)};
    proxy p;

    explicit shown(usec_t outage = 600 * USEC_PER_SEC, int groups = 2)
        : film(groups), p(&w.loop, outage)
    {
        p.take(at);
    }
    bool fast(viewer &v) const // so that a test does not take 4 s
    {
        v.feed->ops->set_speed(v.feed, FRAME_CLOCK_MAX_SPEED);
        return true;
    }
};

// Each frame of [first, last], once, in decoding order: none is missing.
void check_whole(const viewer &v, int64_t first, int64_t last)
{
    std::vector<int> seen((size_t)(last + 1));
    for (const viewer::frame &f : v.frames) {
        REQUIRE(f.number >= 0);
        REQUIRE(f.number <= last);
        seen[(size_t)f.number]++;
    }
    for (int64_t n = first; n <= last; n++) {
        CAPTURE(n);
        CHECK(seen[(size_t)n] == 1);
    }
}

} // namespace

TEST_CASE("relay_feed: a film from its begin to its end")
{
    shown s;
    viewer v(s.p);
    CHECK(s.p.offered->media->duration == Approx(4));
    s.fast(v);
    CHECK(v.play(0) == MEDIA_SOUGHT);
    CHECK(v.place.seconds == Approx(0));
    CHECK(v.place.frames.first == 0);
    CHECK(v.place.frames.show == 0);
    CHECK(v.place.scale == 1);
    relay::run(&s.w.loop, [&v] { return v.ended; });
    CHECK_FALSE(v.breaks_off);
    check_whole(v, 0, 39);
    CHECK(v.lost == 0);
    // It plays again from the start.
    CHECK(v.play() == MEDIA_SOUGHT);
    CHECK(v.place.seconds == Approx(0));
    CHECK(v.place.frames.first > 39);
    v.run_frames(3);
    CHECK(v.frames.back().number > 39);
}

TEST_CASE("relay_feed: a seek, and a pause that loses no frame")
{
    shown s;
    viewer v(s.p);
    CHECK(v.play(2) == MEDIA_SOUGHT);
    CHECK(v.place.seconds == Approx(2));
    v.run_frames(3);
    const int64_t first = v.place.frames.first;
    CHECK(v.frames[0].number == first);
    CHECK(v.frames[0].starts);
    v.pause();
    const size_t before = v.frames.size();
    relay::run_for(&s.w.loop, 300 * USEC_PER_MSEC);
    CHECK(v.frames.size() == before);
    CHECK(v.play() == MEDIA_CONTINUES);
    s.fast(v);
    relay::run(&s.w.loop, [&v] { return v.ended; });
    CHECK_FALSE(v.breaks_off);
    CHECK(v.frames.size() == 20); // the second half, each frame once
    check_whole(v, first, first + 19);
    CHECK(v.play(3.5) == MEDIA_SOUGHT); // after the end
    CHECK(v.place.seconds == Approx(3.5).margin(.2));
}

TEST_CASE("relay_feed: frames that wait through a pause do not tell when they were captured")
{
    shown s;
    viewer v(s.p);
    CHECK(v.play(0) == MEDIA_SOUGHT);
    v.run_frames(4);
    v.pause();
    for (const viewer::frame &f : v.frames)
        CHECK(f.tells_capture);
    v.feed->ops->rewind(v.feed, 2); // they had waited for the viewer's network
    v.frames.clear();
    relay::run_for(&s.w.loop, 300 * USEC_PER_MSEC);
    CHECK(v.play() == MEDIA_CONTINUES);
    const int64_t next = v.place.frames.first;
    s.fast(v);
    relay::run(&s.w.loop, [&v] { return v.ended; });
    check_whole(v, 2, 39);
    for (const viewer::frame &f : v.frames) {
        CAPTURE(f.number, next);
        CHECK(f.tells_capture == (f.number >= next));
    }
}

TEST_CASE("relay_feed: fast forward and rewind are the origin's")
{
    shown s(600 * USEC_PER_SEC, 15); // 30 s
    viewer v(s.p);
    CHECK(v.feed->scales);
    v.play(1);
    v.run_frames(3);
    CHECK(v.play(NAN, 2) == MEDIA_SOUGHT);
    CHECK(v.place.scale == 2);
    CHECK(v.place.seconds >= 1);
    v.run_frames(2);
    CHECK(v.play(20, -2) == MEDIA_SOUGHT);
    CHECK(v.place.scale == -2);
    v.run_frames(1);
    CHECK(v.play(2, 1) == MEDIA_SOUGHT);
    CHECK(v.place.scale == 1);
    v.run_frames(3);
    CHECK_FALSE(v.ended);
}

TEST_CASE("relay_feed: an origin that returns continues where it was, with the next numbers")
{
    shown s;
    viewer v(s.p);
    v.feed->ops->set_playout(v.feed, 500);
    v.play(0);
    v.feed->ops->set_playout(v.feed, 400);
    v.feed->ops->set_latency(v.feed, 500);
    v.run_frames(8);
    s.at.go();
    relay::run(&s.w.loop, [&v] { return v.info().backbone_away_s > 0; });
    const int64_t last = v.frames.back().number;
    s.at.come();
    relay::run(&s.w.loop, [&v] { return v.ended; });
    CHECK_FALSE(v.breaks_off);
    CHECK(v.info().backbone_away_s == 0);
    // What comes again is what is needed to decode the place, so every number from there on is
    // there.
    CHECK(v.frames.back().number >= 39);
    CHECK(last < v.frames.back().number);
}

TEST_CASE("relay_feed: an origin that stays away ends the film with the reason, and not as its end")
{
    shown s(1500 * USEC_PER_MSEC);
    viewer v(s.p), waits(s.p);
    v.play(0);
    v.run_frames(3);
    s.at.go();
    relay::run(&s.w.loop, [&v] { return v.info().backbone_away_s > 0 || v.ended; });
    relay::run(&s.w.loop, [&v] { return v.ended; });
    CHECK(v.breaks_off);
    CHECK(v.why.find("origin: it was lost for ") == 0);
    CHECK(waits.play(0) == MEDIA_REFUSED);
    CHECK(waits.place.refusal.status == 502);
    CHECK(relay_media_is_stale(s.p.offered->media));
}

TEST_CASE("relay_feed: a film that became another one is refused")
{
    shown s;
    viewer v(s.p);
    s.at.offered.media->ladder.sizes[0].width =
        320; // it is described anew when it is not fresh any more
    relay::run_for(&s.w.loop, DESCRIPTION_FRESH + 100 * USEC_PER_MSEC);
    CHECK(v.play(0) == MEDIA_REFUSED);
    CHECK(v.place.refusal.status == 502);
    CHECK(std::string(v.place.refusal.text) == "origin: the origin now describes another stream");
}

TEST_CASE("relay_feed: a film without subtitles has none")
{
    shown s;
    viewer v(s.p);
    static subtitle_set set;
    subtitle_request r{};
    r.track = 1;
    CHECK(v.feed->ops->subtitles(v.feed, &r, &set, clock_now()) == -1);
}

TEST_CASE("relay_media: what an origin says instead of a stream passes to the viewer")
{
    relay::world w;
    stored_film film;
    origin at(&w.loop, stored_media_new(film.open(), false, true));
    proxy p(&w.loop);
    REQUIRE(origin_url_allow(p.rules.get(), at.at.substr(0, at.at.find(':')).c_str()) == nullptr);
    CHECK(p.take("/" + at.at + "/other") == CATALOG_REFUSED);
    CHECK(p.hold->refusal.status == 404);
    p.leave();
    at.go();
    CHECK(p.take(at.path()) == CATALOG_REFUSED);
    CHECK(p.hold->refusal.status == 502);
    CHECK(std::string(p.hold->refusal.text).find("origin: ") == 0);
    p.leave();
    at.come();
    CHECK(p.take(at.path()) == 0); // a refusal is not kept
}
