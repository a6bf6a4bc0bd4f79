// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/encoder_thread.h"

#include <string>
#include <thread>

#include "common/net/clock.h"
#include "media/coded/ladder.h"
#include "media/encode/avcodec_encoder.h"
#include "media/encode/video_engine.h"
#include "tests/support/coded_stream.hpp"

namespace
{

struct coder {
    ladder levels = one_size(64, 48, 100, 1, {{0, 100000}});
    std::vector<int64_t> keys; // the encoder's thread; read once all have come
    std::string starts;        // as `keys`: "size:number" of each frame that starts its size anew
    encoder_thread *t;

    static bool on_coded(void *ctx, coded_frame *f)
    {
        coder *c = static_cast<coder *>(ctx);
        if (f->key)
            c->keys.push_back(f->number);
        if (coded_frame_starts(f))
            c->starts += " " + std::to_string(f->size_id) + ":" + std::to_string(f->number);
        coded_frame_unref(f);
        return true;
    }
    static void on_done(void *) {}
    explicit coder(bool vp9 = false)
    {
        if (vp9)
            REQUIRE(ladder_cumulative(256, 144, {30, 1}, 300000, &levels) == 0);
        begin(vp9 ? video_encoder_new_vp9(&levels) : video_encoder_new_h264(&levels, 0));
    }
    explicit coder(const encoder_traits &traits)
    {
        char reason[AVCODEC_REASON_TEXT];
        begin(avcodec_encoder_new(video_engine_find("lavc-x264")->av, &traits, &levels, 0, reason));
    }
    void begin(video_encoder *e)
    {
        static const encoder_thread_events events = {on_coded, on_done};
        REQUIRE(e);
        t = encoder_thread_new(e, &events, this);
        REQUIRE(t);
    }
    ~coder()
    {
        encoder_thread_free(t);
    }
    void encode(int64_t from, int64_t end)
    {
        usec_t until = clock_now() + 600 * USEC_PER_SEC;
        for (int64_t n = from; n < end && clock_now() < until; n++) {
            picture_ptr p = draw(levels, 0, n);
            live_feed_size_stats s;
            encoder_thread_push(t, p.get(), clock_now());
            do {
                std::this_thread::yield();
                encoder_thread_stats(t, 0, &s);
            } while (s.frames < static_cast<uint64_t>(n) + 1 && clock_now() < until);
        }
        REQUIRE(clock_now() < until);
    }
};

} // namespace

TEST_CASE("encoder_thread: a viewer that starts while another seeks still gets its key frame",
          "[threads]")
{
    coder c;
    c.encode(0, 1);
    encoder_thread_begin(c.t, 0, 1, 5);
    encoder_thread_begin(c.t, 0, 1, 0); // as for each who begins to watch
    c.encode(1, 8);
    encoder_thread_begin(c.t, 0, 1, 0);
    encoder_thread_begin(c.t, 0, 1, 9);
    c.encode(8, 12);
    // The callback of the last frame follows its stats.
    encoder_thread_free(c.t);
    c.t = nullptr;
    CHECK(c.keys == std::vector<int64_t>{0, 5, 9});
}

TEST_CASE("encoder_thread: in a shared encode, one viewer's losses are repaired within the budget",
          "[threads]")
{
    coder c;
    encoder_thread_set_viewers(c.t, 2, 0);
    usec_t begun = clock_now();
    const int64_t frames = 200;
    c.encode(0, 1); // the key frame: without it there is nothing to repair from
    for (int64_t n = 1; n < frames; n++) {
        c.encode(n, n + 1);
        encoder_thread_repair(c.t, 0, n, 1);
        encoder_thread_repair(c.t, 0, n, 1); // another packet of it
        if (n > 1) // the first loss is repaired, however slow this machine is
            encoder_thread_request_key(c.t, 0, 1, clock_now());
    }
    c.encode(frames, frames + 1);
    double elapsed = usec_to_sec(clock_now() - begun);
    live_feed_size_stats s;
    encoder_thread_stats(c.t, 0, &s);
    CHECK(static_cast<double>(s.repairs.keys) <= elapsed / 2);
    CHECK(s.keys <= s.repairs.keys + 1);
    CHECK(s.repairs.repaired > 0);
    CHECK(static_cast<double>(s.repairs.repaired) <= 3 + 1.5 * elapsed);
    CHECK(s.repairs.requests == 3 * (frames - 1) - 1);
    CHECK(s.repairs.repaired + s.repairs.coalesced + s.repairs.waited == 3 * (frames - 1) - 1);
}

TEST_CASE("encoder_thread: for a single viewer every loss is repaired", "[threads]")
{
    coder c;
    encoder_thread_set_viewers(c.t, 1, 0);
    const int64_t frames = 40;
    for (int64_t n = 0; n < frames; n++) {
        c.encode(n, n + 1);
        if (n % 2)
            encoder_thread_repair(c.t, 0, n, 1);
    }
    c.encode(frames, frames + 1);
    live_feed_size_stats s;
    encoder_thread_stats(c.t, 0, &s);
    CHECK(s.repairs.requests == frames / 2);
    CHECK(s.repairs.repaired == frames / 2);
    CHECK(s.keys == 1);
}

TEST_CASE("encoder_thread: a viewer that requests nothing gets a key frame every 10 s", "[threads]")
{
    coder c; // 100 frames/s
    encoder_thread_set_viewers(c.t, 2, 1);
    c.encode(0, 1002);
    encoder_thread_set_viewers(c.t, 1, 0);
    c.encode(1002, 2100);
    encoder_thread_free(c.t);
    c.t = nullptr;
    REQUIRE(c.keys.size() == 2);
    CHECK(c.keys[0] == 0);
    CHECK(c.keys[1] > 990);
    CHECK(c.keys[1] <= 1001);
}

TEST_CASE("encoder_thread: one encoder of all sizes starts each size that a viewer needs anew",
          "[threads]")
{
    coder c(true);
    encoder_thread_set_viewers(c.t, 1, 0);
    c.encode(0, 2);
    encoder_thread_begin(c.t, 1, 1, 2); // a viewer of the smallest size takes the next one, too
    c.encode(2, 6);
    encoder_thread_repair(c.t, 2, 4, 1); // lost of the largest size
    encoder_thread_repair(c.t, 2, 5, 1); // no T0 frame: harmless
    c.encode(6, 10);
    live_feed_size_stats s[3];
    for (int i = 0; i < 3; i++)
        encoder_thread_stats(c.t, i, &s[i]);
    encoder_thread_free(c.t);
    c.t = nullptr;
    CHECK(c.keys == std::vector<int64_t>{0});
    CHECK(c.starts == " 0:0 1:0 2:0 1:4 2:4 2:8");
    CHECK(s[0].keys == 1);
    CHECK(s[2].keys == 0);
    CHECK(s[2].frames == 10);
    CHECK(s[0].bytes < s[1].bytes);
    CHECK(s[1].bytes < s[2].bytes);
    CHECK(s[2].repairs.requests == 2);
    CHECK(s[2].repairs.waited == 1);
    CHECK(s[2].repairs.coalesced == 1);
}

TEST_CASE("encoder_thread: an encoder that cannot forget a frame makes a key frame after a loss",
          "[threads]")
{
    coder c(encoder_traits{false, false, true});
    encoder_thread_set_viewers(c.t, 1, 0);
    c.encode(0, 3);
    encoder_thread_repair(c.t, 0, 2, 1);
    c.encode(3, 6);
    live_feed_size_stats s;
    encoder_thread_stats(c.t, 0, &s);
    CHECK(s.repairs.requests == 1);
    CHECK(s.repairs.waited == 1);
    CHECK(s.repairs.repaired == 0);
    encoder_thread_free(c.t);
    c.t = nullptr;
    CHECK(c.keys == std::vector<int64_t>{0, 3});
}

TEST_CASE("encoder_thread: an encoder that cannot change its bitrate is opened anew, now and then",
          "[threads]")
{
    coder c(encoder_traits{false, false, false});
    encoder_thread_set_viewers(c.t, 1, 0);
    c.encode(0, 1);
    // A request with every frame: the encoder follows the first one that is due, in one step. The
    // last one is made when one is due, however slow the machine is.
    usec_t begun = clock_now(), at = begun;
    for (int64_t n = 1; at - begun < 3 * USEC_PER_SEC / 2; n++) {
        at = clock_now();
        encoder_thread_set_bitrate(c.t, 0, 49500 - (int)(n % 2));
        c.encode(n, n + 1);
    }
    live_feed_size_stats s;
    encoder_thread_stats(c.t, 0, &s);
    CHECK(s.bitrate_bps / 1000 == 49);
    encoder_thread_free(c.t);
    c.t = nullptr;
    CHECK(c.keys.size() == 2);
    CHECK(c.keys[0] == 0);
}
