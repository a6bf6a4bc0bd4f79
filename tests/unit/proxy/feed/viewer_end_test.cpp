// SPDX-License-Identifier: GPL-2.0-or-later
// The loop never runs: the times are the test's own.
#include "proxy/feed/viewer_end.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace
{

const usec_t T0 = 1000 * USEC_PER_SEC;

using lines = std::vector<std::string>;

struct feed {
    viewer_end end = {}; // first
    frame_sink sink = {};
    uv_loop_t loop;
    lines log;
    int begun = 0, armed = 0;
    bool answers_at_once = false;

    explicit feed(bool keeps = false)
    {
        static const viewer_end_ops ops = {
            [](viewer_end *e, const media_seek *, usec_t now) {
                of(e)->begun++;
                if (of(e)->answers_at_once)
                    viewer_end_answer(e, MEDIA_NOWHERE, now);
            },
            [](viewer_end *e, usec_t now) { viewer_end_answer(e, MEDIA_SOUGHT, now); },
            [](viewer_end *e, usec_t) { of(e)->log.push_back("given up"); },
            [](viewer_end *e) { of(e)->armed++; }};
        static const frame_sink_ops sink_ops = {on_frame,  on_frame, nullptr, nullptr, nullptr,
                                                on_placed, on_lost,  nullptr, nullptr};
        static const bridge_ops bridge = {};
        static const relay_choices choices = make_choices();
        stream_media media = {};
        REQUIRE(uv_loop_init(&loop) == 0);
        sink.ops = &sink_ops;
        relay_origin origin = {};
        origin.loop = &loop;
        origin.media = &media;
        origin.choices = &choices;
        viewer_end_config config = {&origin, &sink, &bridge, keeps, [](void *, usec_t) {}};
        REQUIRE(viewer_end_open(&end, &ops, &config, T0));
        owner() = this;
    }
    ~feed()
    {
        viewer_end_close(&end);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    feed(const feed &) = delete;
    feed &operator=(const feed &) = delete;

    static relay_choices make_choices()
    {
        relay_choices c = {};
        c.target = USEC_PER_SEC / 4;
        return c;
    }
    static feed *of(viewer_end *e)
    {
        return reinterpret_cast<feed *>(e);
    }
    static feed *&owner() // of the sink
    {
        static feed *f;
        return f;
    }
    static void on_frame(frame_sink *, coded_frame *f, usec_t)
    {
        owner()->log.push_back("frame " + std::to_string(f->number));
    }
    static void on_placed(frame_sink *, usec_t)
    {
        owner()->log.push_back("placed");
    }
    static void on_lost(frame_sink *, int packets, usec_t)
    {
        owner()->log.push_back("lost " + std::to_string(packets));
    }

    media_placed place(usec_t now, media_place *out = nullptr)
    {
        media_place unused = {};
        return viewer_end_place(&end.base, nullptr, out ? out : &unused, now);
    }
    void forward(int64_t number)
    {
        coded_frame *f = coded_frame_new(10);
        REQUIRE(f);
        f->number = number;
        viewer_end_forward(&end, f, T0);
        coded_frame_unref(f);
    }
    lines taken()
    {
        return std::exchange(log, {});
    }
};

} // namespace

TEST_CASE("viewer_end: a request waits for the origin, and then for its clock")
{
    feed f;
    CHECK(f.place(T0) == MEDIA_WAITS);
    CHECK(f.begun == 1);
    CHECK(f.armed == 1);
    CHECK(viewer_end_next_timeout(&f.end) == T0 + MEDIA_PLACE_LIMIT);
    CHECK(f.place(T0 + 1) == MEDIA_WAITS); // of the same request
    CHECK(f.begun == 1);
    viewer_end_await_clock(&f.end, true, T0 + 1000);
    const usec_t limit = viewer_end_next_timeout(&f.end);
    CHECK(limit > T0 + 1000);
    CHECK(limit < T0 + USEC_PER_SEC);
    viewer_end_on_timeout(&f.end, limit - 1);
    CHECK(f.taken().empty());
    viewer_end_on_timeout(&f.end, limit); // it is overdue
    CHECK(f.taken() == lines{"placed"});
    CHECK_FALSE(viewer_end_waits(&f.end));
    viewer_end_answer(&f.end, MEDIA_REFUSED, limit); // the second answer does not count
    CHECK(f.taken().empty());
    CHECK(f.place(limit) == MEDIA_SOUGHT);
    CHECK(viewer_end_next_timeout(&f.end) == 0); // the stored frames may be given
    viewer_end_on_timeout(&f.end, limit);
    CHECK(viewer_end_next_timeout(&f.end) == USEC_NEVER);
}

TEST_CASE("viewer_end: an answer at once, and one whose clock is known")
{
    feed f;
    f.answers_at_once = true;
    CHECK(f.place(T0) == MEDIA_NOWHERE);
    f.answers_at_once = false;
    CHECK(f.place(T0) == MEDIA_WAITS);
    viewer_end_await_clock(&f.end, false, T0);
    CHECK(f.place(T0) == MEDIA_SOUGHT);
    viewer_end_await_clock(&f.end, true, T0); // no request waits
    viewer_end_on_timeout(&f.end, T0);
    CHECK(viewer_end_next_timeout(&f.end) == USEC_NEVER);
}

TEST_CASE("viewer_end: the clock comes, or the origin is lost before")
{
    feed f;
    viewer_end_on_clock(&f.end, T0); // no request waits
    CHECK(f.place(T0) == MEDIA_WAITS);
    viewer_end_on_clock(&f.end, T0); // the origin does not play yet
    CHECK(f.taken().empty());
    viewer_end_await_clock(&f.end, true, T0);
    viewer_end_on_lost(&f.end);
    CHECK(viewer_end_next_timeout(&f.end) == T0 + MEDIA_PLACE_LIMIT);
    viewer_end_on_clock(&f.end, T0);
    CHECK(f.taken().empty());
    viewer_end_await_clock(&f.end, true, T0);
    viewer_end_on_clock(&f.end, T0);
    CHECK(f.taken() == lines{"placed"});
    CHECK(f.place(T0) == MEDIA_SOUGHT);
}

TEST_CASE("viewer_end: an origin that does not answer, and one that refuses")
{
    feed f;
    media_place place = {};
    CHECK(f.place(T0) == MEDIA_WAITS);
    viewer_end_on_timeout(&f.end, T0 + MEDIA_PLACE_LIMIT - 1);
    CHECK(f.taken().empty());
    viewer_end_on_timeout(&f.end, T0 + MEDIA_PLACE_LIMIT);
    CHECK(f.taken() == lines{"given up", "placed"});
    CHECK(f.place(T0 + MEDIA_PLACE_LIMIT, &place) == MEDIA_REFUSED);
    CHECK(place.refusal.status == 504);
    media_refusal why = {404, "origin: not here"};
    viewer_end_refuse(&f.end, &why, T0); // nothing waits
    CHECK(f.taken() == lines{});
    CHECK(f.place(T0) == MEDIA_WAITS);
    viewer_end_refuse(&f.end, &why, T0);
    CHECK(f.place(T0, &place) == MEDIA_REFUSED);
    CHECK(place.refusal.status == 404);
}

TEST_CASE("viewer_end: frames wait while the viewer pauses or waits for an answer")
{
    feed f;
    f.forward(1);
    CHECK_FALSE(viewer_end_takes(&f.end));
    CHECK(f.taken().empty());
    viewer_end_play(&f.end, true);
    CHECK(viewer_end_next_timeout(&f.end) == 0);
    viewer_end_on_timeout(&f.end, T0);
    CHECK(f.taken() == lines{"frame 1"});
    f.forward(2);
    CHECK(f.taken() == lines{"frame 2"});
    CHECK(f.place(T0) == MEDIA_WAITS);
    f.forward(3);
    CHECK(f.taken().empty());
    viewer_end_answer(&f.end, MEDIA_CONTINUES, T0);
    CHECK(f.place(T0) == MEDIA_CONTINUES);
    viewer_end_on_timeout(&f.end, T0);
    CHECK(f.taken() == lines{"placed", "frame 3"});
    viewer_end_play(&f.end, false);
    f.forward(4);
    viewer_end_on_timeout(&f.end, T0);
    CHECK(f.taken().empty());
    viewer_end_lost(&f.end, 5, T0);
    CHECK(f.taken() == lines{"lost 5"});
}
