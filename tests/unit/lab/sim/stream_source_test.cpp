// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_source.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{
const usec_t sec = USEC_PER_SEC;

struct source {
    synthetic media;
    stream_source s{};
    struct frame {
        int64_t number;
        int size_id;
        size_t bytes;
        usec_t captured, wall, at;
    };
    std::vector<frame> all;

    bool is_full = false;
    std::vector<int64_t> again, keys;

    explicit source(usec_t length = 300 * sec, const frame_sizes *sizes = nullptr,
                    bool film = false)
    {
        synthetic_goddard(&media);
        const stream_source_config config = {film,     &media,   sizes, length, 1000 * sec,
                                             on_frame, on_again, waits, this};
        stream_source_init(&s, &config);
    }
    static void on_frame(void *ctx, coded_frame *f, usec_t now)
    {
        static_cast<source *>(ctx)->all.push_back(
            {f->number, f->size_id, f->nals[0].len, f->captured, f->capture_wall, now});
        if (f->key)
            static_cast<source *>(ctx)->keys.push_back(f->number);
    }
    static void on_again(void *ctx, coded_frame *f, usec_t)
    {
        static_cast<source *>(ctx)->again.push_back(f->number);
    }
    static bool waits(void *ctx)
    {
        return static_cast<source *>(ctx)->is_full;
    }
    void watch(int size_id, int change)
    {
        s.feed.ops->watch(&s.feed, size_id, change);
    }
    void run(usec_t from, usec_t until)
    {
        for (usec_t now = from; now < until; now += 1000)
            stream_source_run(&s, now);
    }
};
} // namespace

TEST_CASE("stream_source: frames of the watched sizes, at their rate and speed")
{
    source v;
    v.run(0, sec);
    CHECK(v.all.empty()); // it has not started
    CHECK(stream_source_next(&v.s) == USEC_NEVER);
    stream_source_start(&v.s, sec);
    v.run(sec, 2 * sec);
    CHECK(v.all.empty()); // nor is it watched
    v.watch(4, 1);
    v.run(2 * sec, 3 * sec);
    REQUIRE(v.all.size() == 20);
    CHECK(v.all[0].number == 62);
    CHECK(v.all[0].bytes == 4000);
    CHECK(v.all[0].captured <= v.all[0].at);
    CHECK(v.all[0].wall == 1000 * sec + v.all[0].captured);
    v.all.clear();
    v.watch(2, 1); // both, of one number the lower size first
    v.run(3 * sec, 4 * sec);
    CHECK(v.all.size() == 35);
    v.watch(4, -1);
    v.watch(2, -1);
    v.watch(4, 1);
    v.all.clear();
    stream_source_set_speed(&v.s, 1.5, 4 * sec);
    v.run(4 * sec, 6 * sec);
    CHECK(v.all.size() == Approx(60).margin(1));
}

TEST_CASE("stream_source: frames of different sizes")
{
    float shares[] = {1.5F, 0.5F};
    const frame_sizes sizes = {shares, 2};
    source v(300 * sec, &sizes);
    v.watch(4, 1);
    stream_source_start(&v.s, 0);
    v.run(0, sec);
    REQUIRE(v.all.size() == 20);
    CHECK(v.all[0].bytes == 6000);
    CHECK(v.all[1].bytes == 2000);
    CHECK(v.all[2].bytes == 6000);
}

TEST_CASE("stream_source: the media ends")
{
    for (bool early : {false, true}) {
        source v(2 * sec);
        v.watch(0, 1);
        stream_source_start(&v.s, 0);
        v.run(0, sec);
        if (early)
            stream_source_end(&v.s);
        v.run(sec, 3 * sec);
        CHECK(v.s.over);
        CHECK(v.all.size() == (early ? 10 : 20));
        CHECK(stream_source_next(&v.s) == USEC_NEVER);
    }
}

TEST_CASE("stream_source: a film's frames wait for the network and the speed")
{
    source v(20 * sec, nullptr, true);
    v.watch(4, 1); // 20 frames a second
    stream_source_start(&v.s, 0);
    v.run(0, 2 * sec);
    CHECK(v.all.size() == Approx(80).margin(2)); // twice the pace, up to 2 s early
    v.run(2 * sec, 4 * sec);
    CHECK(v.all.size() == Approx(120).margin(2));
    CHECK(v.keys == std::vector<int64_t>{2, 122, 242}); // each 2 s
    v.is_full = true;
    v.run(4 * sec, 6 * sec);
    CHECK(v.all.size() == Approx(120).margin(2));
    CHECK(stream_source_next(&v.s) == USEC_NEVER);
    v.is_full = false;
    v.s.feed.ops->drained(&v.s.feed, 6 * sec);
    CHECK(stream_source_next(&v.s) <= 6 * sec);
    stream_source_set_speed(&v.s, 100, 6 * sec);
    v.run(6 * sec, 6 * sec + sec / 2);
    CHECK(v.all.size() == 400); // none is left out
    CHECK(v.s.over);
    v.s.feed.ops->give_again(&v.s.feed, 4, 122, 7 * sec);
    CHECK(v.again == std::vector<int64_t>{122});
}
