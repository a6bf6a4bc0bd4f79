// SPDX-License-Identifier: GPL-2.0-or-later
// Viewers of an origin's live stream, which is real, over the loopback. Whole programs:
// tests/e2e/test_share.py.
#include "proxy/feed/shared_feed.h"

#include "sender/feed/synthetic_media.h"
#include "tests/support/relay.hpp"

using relay::origin;
using relay::proxy;
using relay::viewer;

namespace
{

// Seven levels, each a size of its own, 10 to 30 frames/s, of which each frame stands alone.
stream_media *goddard()
{
    synthetic s;
    synthetic_goddard(&s);
    return synthetic_media_new(&s);
}

struct live {
    relay::world w;
    origin at{&w.loop, goddard()};

    // Runs until the origin has `count` sessions.
    void sessions(int count)
    {
        relay::run(&w.loop, [this, count] { return at.sessions() == count; });
    }
};

} // namespace

TEST_CASE("shared_feed: viewers of a level share one session, those of another have theirs")
{
    live l;
    proxy p(&l.w.loop);
    p.take(l.at);
    viewer a(p), b(p), c(p);
    a.feed->ops->set_level(a.feed, 6, false);
    b.feed->ops->set_level(b.feed, 6, false);
    c.feed->ops->set_level(c.feed, 0, false);
    CHECK(a.play() == MEDIA_NOWHERE); // live media has no position
    CHECK(a.feed->ops->is_alone(a.feed));
    CHECK(b.play() == MEDIA_NOWHERE);
    CHECK_FALSE(a.feed->ops->is_alone(a.feed));
    CHECK(c.play() == MEDIA_NOWHERE);
    a.run_frames(10);
    b.run_frames(10);
    c.run_frames(5);
    CHECK(l.at.sessions() == 2);
    CHECK(a.info().proxy_viewers == 2);
    CHECK(c.info().proxy_viewers == 1);
    for (const viewer *v : {&a, &b, &c}) {
        const int size = v == &c ? 0 : 6;
        CHECK(v->frames.front().starts);
        CHECK(v->ascends());
        for (const viewer::frame &f : v->frames)
            CHECK(f.size_id == size);
    }
    // Both got the same frames: from b's first one on, a has each of b's.
    size_t at = 0;
    while (at < a.frames.size() && a.frames[at].number != b.frames[0].number)
        at++;
    for (size_t i = 0; i < b.frames.size() && at + i < a.frames.size(); i++)
        CHECK(a.frames[at + i].number == b.frames[i].number);
    CHECK(at < a.frames.size());
}

TEST_CASE(
    "shared_feed: a change of level goes to the other size, once, and leaves the first session")
{
    live l;
    proxy p(&l.w.loop);
    p.take(l.at);
    viewer v(p);
    v.feed->ops->set_level(v.feed, 0, false);
    v.play();
    v.run_frames(3);
    v.feed->ops->set_level(v.feed, 6, false);
    relay::run(&l.w.loop, [&v] { return v.frames.back().size_id == 6; });
    v.run_frames(10);
    int changes = 0;
    for (size_t i = 1; i < v.frames.size(); i++)
        changes += v.frames[i].size_id != v.frames[i - 1].size_id;
    CHECK(changes == 1);
    CHECK(v.ascends());
    l.sessions(1); // after a time for a viewer that returns
    CHECK(l.at.session(0).level == 6);
    v.run_frames(5);
}

TEST_CASE("shared_feed: a pause leaves the session, which waits for a viewer that returns")
{
    live l;
    proxy p(&l.w.loop);
    p.take(l.at);
    viewer v(p);
    v.play();
    v.run_frames(5);
    const size_t before = v.frames.size();
    v.pause();
    CHECK(l.at.sessions() == 1);
    relay::run_for(&l.w.loop, 300 * USEC_PER_MSEC);
    CHECK(v.frames.size() == before);
    CHECK(v.play() == MEDIA_NOWHERE); // at once: the session still plays
    v.run_frames(5);
    CHECK(v.ascends());
    CHECK(v.frames[before].starts);
    v.pause();
    l.sessions(0);
    CHECK(v.play() == MEDIA_NOWHERE); // another session
    v.run_frames(3);
    CHECK(v.ascends());
}

TEST_CASE("shared_feed: an origin that returns continues, one that does not ends the media with "
          "the reason")
{
    live l;
    const bool returns = GENERATE(true, false);
    proxy p(&l.w.loop, returns ? 600 * USEC_PER_SEC : 1500 * USEC_PER_MSEC);
    p.take(l.at);
    viewer v(p), late(p);
    v.play();
    v.run_frames(5);
    CHECK(v.info().backbone_away_s == 0);
    l.at.go();
    relay::run(&l.w.loop, [&v] { return v.info().backbone_away_s > 0 || v.ended; });
    if (returns) {
        media_place place;
        CHECK(late.feed->ops->place(late.feed, nullptr, &place, clock_now()) == MEDIA_WAITS);
        l.at.come();
        const size_t before = v.frames.size();
        v.run_frames(5);
        CHECK(v.ascends());
        CHECK(v.frames[before].starts);
        CHECK(v.info().backbone_away_s == 0);
        CHECK_FALSE(v.ended);
        relay::run(&l.w.loop,
                   [&late] { return late.placed > 0; }); // its PLAY waited for the origin
        CHECK(late.play() == MEDIA_NOWHERE);
        late.run_frames(3);
        return;
    }
    relay::run(&l.w.loop, [&v] { return v.ended; });
    CHECK(v.breaks_off);
    CHECK(v.why.find("origin: it was lost for ") == 0);
    // Then it is asked anew, and the refusal is this attempt's.
    CHECK(v.play() == MEDIA_REFUSED);
    CHECK(v.place.refusal.status == 502);
    CHECK(std::string(v.place.refusal.text).find("origin: ") == 0);
    CHECK(relay_media_is_stale(p.offered->media));
}

TEST_CASE("shared_feed: the origin's refusal reaches the viewer; a level that it refuses is not "
          "changed to")
{
    live l;
    proxy p(&l.w.loop);
    p.take(l.at);
    viewer first(p), second(p);
    l.at.offered.max_viewers = 1; // of the origin: the proxy's first session fills it
    first.feed->ops->set_level(first.feed, 0, false);
    second.feed->ops->set_level(second.feed, 6, false);
    CHECK(first.play() == MEDIA_NOWHERE);
    first.run_frames(3);
    CHECK(second.play() == MEDIA_REFUSED);
    CHECK(second.place.refusal.status == 503);
    CHECK(std::string(second.place.refusal.text).find("origin: ") == 0);
    CHECK_FALSE(second.ended);
    first.feed->ops->set_level(first.feed, 6, false); // refused: it stays where it is
    first.run_frames(15);
    for (const viewer::frame &f : first.frames)
        CHECK(f.size_id == 0);
    CHECK(first.ascends());
    CHECK_FALSE(first.ended);
    l.at.offered.max_viewers = 2;
    first.feed->ops->set_level(first.feed, 5, false); // the viewer's next wish is tried at once
    relay::run(&l.w.loop, [&first] { return first.frames.back().size_id == 5; });
    CHECK(first.ascends());
}

TEST_CASE("shared_feed: what waits for the access limits the origin, until nothing waits any more")
{
    live l;
    proxy p(&l.w.loop);
    p.take(l.at);
    viewer v(p);
    v.play();
    v.run_frames(3);
    CHECK(v.info().proxy_limit_bps == 0);
    const double wanted = p.offered->media->ladder.levels[6].bitrate_bps;
    v.access.wanted_bps = wanted;
    v.access.waiting_frames = 20;
    v.access.waiting_ms = 900;
    v.access.waiting_bytes = 100000;
    v.access.info.delivered_bytes = 0;
    relay::run(&l.w.loop, [&v] {
        v.access.info.delivered_bytes += 500; // far below what comes
        return v.info().proxy_limit_bps > 0;
    });
    CHECK(v.info().proxy_limit_bps < wanted);
    // The origin sends less: it changes to a level of a smaller rate.
    relay::run(&l.w.loop, [&l] { return l.at.sessions() && l.at.session(0).level < 6; });
    v.access.waiting_frames = 0;
    v.access.waiting_ms = 0;
    v.access.waiting_bytes = 0;
    relay::run(&l.w.loop, [&v] {
        v.access.info.delivered_bytes += 50000;
        return v.info().proxy_limit_bps == 0;
    });
}

TEST_CASE("shared_feed: the viewer's latency and its requests for a key frame reach the origin")
{
    live l;
    proxy p(&l.w.loop);
    p.take(l.at);
    viewer v(p);
    v.feed->ops->set_latency(v.feed, 40);
    v.play();
    v.feed->ops->set_playout(v.feed, 300);
    v.feed->ops->set_latency(v.feed, 2000);
    v.feed->ops->request_key(v.feed, 6, clock_now());
    v.feed->ops->repair(v.feed, 6, v.frames.empty() ? 0 : v.frames.back().number);
    v.run_frames(10);
    relay::run(&l.w.loop, [&v] { return !std::isnan(v.info().backbone_rate_bps); });
    const relay_info info = v.info();
    CHECK(info.backbone_rate_bps > 0);
    CHECK(info.backbone_loss == 0);
    CHECK(info.backbone_rtt_ms > 0);
    CHECK(info.proxy_delay_ms >= 0);
    CHECK(info.proxy_badput_bytes == 0);
    CHECK(v.lost == 0);
}
