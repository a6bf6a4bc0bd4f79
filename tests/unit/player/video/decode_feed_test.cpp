// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "player/video/decode_feed.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

// What the decoder's thread reports is kept until the test takes it.
struct reports {
    std::mutex mutex;
    std::condition_variable come;
    std::vector<play_frame *> frames;

    static void take(void *ctx, play_frame *f)
    {
        auto *r = static_cast<reports *>(ctx);
        std::lock_guard<std::mutex> lock(r->mutex);
        r->frames.push_back(f);
        r->come.notify_one();
    }
    void wait_for(size_t count)
    {
        std::unique_lock<std::mutex> lock(mutex);
        REQUIRE(
            come.wait_for(lock, std::chrono::seconds(600), [&] { return frames.size() >= count; }));
    }
};

struct fixture {
    decode_feed feed{};
    play_frame *done = nullptr;

    fixture()
    {
        feed.session = 7;
    }
    // A frame that holds no picture.
    video_output output(int64_t number, int64_t depends_on, bool show = true)
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = number;
        f->key = depends_on < 0;
        f->depends_on = depends_on;
        f->bytes = 4;
        f->data = static_cast<uint8_t *>(calloc(1, 4 + 64));
        f->last_arrived = 900 * ms;
        f->capture_wall = 5000 * ms;
        return {VIDEO_DECODE, f, 0, show, 1060 * ms};
    }
    decode_feed_result push(const video_output &out)
    {
        return decode_feed_push(&feed, &out, &done, 1000 * ms);
    }
    void back()
    {
        decode_feed_back(&feed, done);
        play_frame_free(done);
        done = nullptr;
    }
};

} // namespace

TEST_CASE("decode_feed: a frame without a picture is done when it is due")
{
    fixture f;
    REQUIRE(f.push(f.output(0, -1)) == FEED_DONE);
    CHECK(f.done->fate == FATE_SHOWN);
    CHECK(f.done->shown_at == 1060 * ms);
    CHECK(f.done->session == 7);
    CHECK(f.done->number == 0);
    CHECK(f.done->depends_on == -1);
    CHECK(f.done->bytes == 4);
    CHECK(f.done->last_arrived == 900 * ms);
    CHECK(f.done->capture_wall == 5000 * ms);
    CHECK(f.done->handed_over == 1000 * ms);
    CHECK(f.feed.in_flight == 1);
    f.back();
    CHECK(f.feed.in_flight == 0);
    CHECK(f.feed.decoded == 1);
    REQUIRE(f.push(f.output(1, 0, false)) == FEED_DONE);
    CHECK(f.done->fate == FATE_DECODED_ONLY);
    f.back();
    CHECK(f.feed.decoded == 2);
}

TEST_CASE("decode_feed: a frame that failed is no picture")
{
    fixture f;
    for (frame_fate fate : {FATE_FAILED, FATE_DISCARDED}) {
        REQUIRE(f.push(f.output(0, -1)) == FEED_DONE);
        f.done->fate = fate;
        f.back();
    }
    CHECK(f.feed.decoded == 0);
    CHECK(f.feed.in_flight == 0);
}

TEST_CASE("decode_feed: no more frames under way than there is room for", "[threads]")
{
    fixture f;
    reports r;
    std::unique_ptr<render_queue, void (*)(render_queue *)> show{
        render_queue_new(reports::take, &r), render_queue_free};
    f.feed.decoder =
        decode_thread_new(show.get(), decoder_new(DECODER_PLAIN), DECODER_PLAIN, reports::take, &r);
    REQUIRE(f.feed.decoder);
    for (int i = 0; i < DECODE_FEED_MAX_FRAMES; i++) {
        REQUIRE(f.push(f.output(i, -1)) == FEED_TAKEN);
        r.wait_for(static_cast<size_t>(i) + 1); // the decoder's own queue is never full
    }
    const int64_t last = DECODE_FEED_MAX_FRAMES;
    CHECK(f.push(f.output(last, -1)) == FEED_SLOW);
    for (play_frame *each : r.frames) {
        CHECK(each->fate == FATE_FAILED);
        f.done = each;
        f.back();
    }
    CHECK(f.feed.in_flight == 0);
    CHECK(f.feed.decoded == 0);
    r.frames.clear();
    CHECK(f.push(f.output(last + 1, -1)) == FEED_TAKEN);
    r.wait_for(1);
    play_frame_free(r.frames[0]);
    render_queue_close(show.get());
    decode_thread_free(f.feed.decoder);
}

TEST_CASE("decode_feed: why a picture was not seen")
{
    struct {
        usec_t show_at; // ms after it was handed over
        usec_t decoded_at;
        bool low_latency;
        frame_end why;
    } table[] = {
        {60, 30, false, FRAME_END_UNSEEN}, // in time: the display was slow
        {60, 61, false, FRAME_END_SLOW},
        {0, 30, false, FRAME_END_LATE}, // due when it was handed over
        {0, 61, false, FRAME_END_SLOW}, // the usual lead would not have done
        {200, 150, false, FRAME_END_UNSEEN},
        {0, 30, true, FRAME_END_UNSEEN}, // always due at once
    };
    for (const auto &t : table) {
        INFO(t.show_at << " " << t.decoded_at << " " << t.low_latency);
        play_frame f{};
        f.handed_over = 1000 * ms;
        f.show_at = f.handed_over + t.show_at * ms;
        f.decoded_at = f.handed_over + t.decoded_at * ms;
        CHECK(decode_feed_unseen(&f, t.low_latency) == t.why);
    }
}
