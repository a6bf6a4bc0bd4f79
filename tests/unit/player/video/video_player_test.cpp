// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/video_player.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>
#include <vector>

#include "stream/video/video_pipeline.h"
#include "tests/support/two_levels.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;

// Plays synthetic media: without a decoder each frame is done when it is pushed. In low-latency
// mode it is shown at once, so no test waits for a timer. 10 frames/s.
struct fixture {
    uv_loop_t loop;
    play_options options = {};
    sdp description = {};
    clock_sync clock = {};
    std::unique_ptr<qoe, void (*)(qoe *)> report{qoe_new("rtsp://h/", 0, 0), qoe_free};
    struct render_queue *queue =
        render_queue_new([](void *, play_frame *f) { play_frame_free(f); }, nullptr);
    struct video_player *p = nullptr;
    std::vector<int64_t> shown;
    std::vector<int> levels;
    int keys = 0, started = 0, ended = 0;
    bool moves = false;

    explicit fixture(bool low_latency = true)
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        options.low_latency = low_latency;
        options.buffer = low_latency ? 0 : 250 * ms;
        description.source = SDP_SOURCE_LAYERS;
        description.duration = -1;
        description.ladder = two_levels();
        qoe_setup setup = {"udp", "", "synthetic", "", &description.ladder, false};
        qoe_on_setup(report.get(), &setup, 0);
        video_player_config config = {};
        config.loop = &loop;
        config.options = &options;
        config.sdp = &description;
        config.clock = &clock;
        config.qoe = report.get();
        config.show = queue;
        config.level = 1;
        config.session = 3;
        config.request_key = [](void *ctx, usec_t) { of(ctx)->keys++; };
        config.on_level = [](void *ctx, int level, usec_t) { of(ctx)->levels.push_back(level); };
        config.on_empty = [](void *, usec_t) {};
        config.on_started = [](void *ctx, usec_t) { of(ctx)->started++; };
        config.on_clock = [](void *ctx, bool playing, const media_clock *) {
            of(ctx)->moves = playing;
        };
        config.on_picture = [](void *ctx, const play_frame *f, usec_t pts) {
            CHECK(f->session == 3);
            CHECK(pts == f->number * 100 * ms);
            of(ctx)->shown.push_back(f->number);
        };
        config.on_ended = [](void *ctx, usec_t) { of(ctx)->ended++; };
        config.ctx = this;
        p = video_player_new(&config);
        REQUIRE(p);
    }
    ~fixture()
    {
        video_player_free(p);
        render_queue_free(queue);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    static fixture *of(void *ctx)
    {
        return static_cast<fixture *>(ctx);
    }
    // Frame `number` arrives at its own time; one that is no key frame depends on the one before.
    void arrive(int64_t number, bool key = false, int level = 1)
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        REQUIRE(f);
        f->number = number;
        f->temporal_id = level ? static_cast<int>(number & 1) : 0;
        f->level = level;
        f->key = key;
        f->depends_on = key ? -1 : number - 1;
        f->bytes = 700;
        f->packets = 1;
        f->last_arrived = number * 100 * ms;
        rtp_packet packet = {};
        packet.has_adu = true;
        packet.adu.frame = static_cast<uint32_t>(number);
        packet.adu.first = packet.adu.last = true;
        video_player_packet(p, &packet, 1000 + number, number * 100 * ms);
        video_player_push(p, f, number * 100 * ms);
    }
};

} // namespace

TEST_CASE("video_player: frames are shown as they arrive, and the end follows the last one")
{
    fixture f;
    CHECK(video_player_level_shown(f.p) == -1);
    for (int i = 0; i < 5; i++)
        f.arrive(i, i == 0);
    CHECK(f.shown == std::vector<int64_t>{0, 1, 2, 3, 4});
    CHECK(f.started == 1);
    CHECK(f.moves);
    CHECK(f.keys == 0);
    CHECK(video_player_level_shown(f.p) == 1);
    CHECK(video_player_decoded(f.p) == 5);
    CHECK(video_player_last_shown(f.p) == nullptr); // synthetic media has no pictures
    CHECK(video_pipeline_arrived(video_player_pipeline(f.p)) == 4);

    CHECK(f.ended == 0);
    video_player_end(f.p, 500 * ms);
    CHECK(f.ended == 1);
    video_player_end(f.p, 600 * ms);
    CHECK(f.ended == 1);
}

TEST_CASE("video_player: a frame without the one that it depends on is not shown")
{
    fixture f;
    f.arrive(0, true);
    f.arrive(1);
    f.arrive(3); // 2 is lost
    f.arrive(4);
    CHECK(f.shown == std::vector<int64_t>{0, 1});
    CHECK(f.keys > 0);
    f.arrive(5, true);
    f.arrive(6);
    CHECK(f.shown == std::vector<int64_t>{0, 1, 5, 6});
}

TEST_CASE("video_player: in a pause nothing is shown, and afterwards what arrives then")
{
    fixture f;
    f.arrive(0, true);
    video_player_pause(f.p, 50 * ms);
    CHECK_FALSE(f.moves);
    f.arrive(1);
    CHECK(f.shown == std::vector<int64_t>{0});
    video_player_resume(f.p, 150 * ms);
    f.arrive(2, true);
    CHECK(f.shown.back() == 2);
    CHECK(f.moves);
}

TEST_CASE("video_player: after it was stopped nothing is shown")
{
    fixture f;
    f.arrive(0, true);
    video_player_stop(f.p, 50 * ms);
    CHECK_FALSE(f.moves);
    f.arrive(1);
    CHECK(f.shown == std::vector<int64_t>{0});
    video_player_end(f.p, 200 * ms);
    CHECK(f.ended == 0);
}

TEST_CASE("video_player: with a buffer playing starts when it is full")
{
    fixture f(false);
    f.arrive(0, true);
    f.arrive(1);
    CHECK(f.shown.empty());
    CHECK(f.started == 0);
    for (int i = 2; i < 5; i++)
        f.arrive(i);
    CHECK(f.started == 1);
    CHECK_FALSE(f.shown.empty());
    CHECK(f.shown.size() < 5); // the others are due later
}
