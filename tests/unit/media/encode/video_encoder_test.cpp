// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/encode/video_encoder.h"

#include <array>

#include "media/coded/ladder.h"
#include "tests/support/coded_stream.hpp"

namespace
{

struct video {
    ladder levels;
    video_encoder *e;

    explicit video(bool vp9)
    {
        REQUIRE(ladder_cumulative(256, 144, {30, 1}, 400000, &levels) == 0);
        e = vp9 ? video_encoder_new_vp9(&levels) : video_encoder_new_h264(&levels, 1);
        REQUIRE(e);
    }
    ~video()
    {
        e->ops->free(e);
    }
    video(const video &) = delete;
    video &operator=(const video &) = delete;

    // The frames of all sizes, "." for one that starts its size anew, "-" for another one.
    std::string encode(int64_t number, size_t *bytes = nullptr)
    {
        picture_ptr p = draw(levels, e->first_size + e->size_count - 1, number);
        CHECK(p->width == e->width);
        coded_frame *out[VIDEO_ENCODER_MAX_SIZES] = {};
        REQUIRE(e->ops->encode(e, p.get(), out) == 0);
        std::string text;
        for (int i = 0; i < e->size_count; i++) {
            REQUIRE(out[i]);
            CHECK(out[i]->size_id == e->first_size + i);
            text += coded_frame_starts(out[i]) ? '.' : '-';
            if (bytes)
                *bytes += out[i]->bytes;
            coded_frame_unref(out[i]);
        }
        return text;
    }
    std::string encode(int64_t from, int64_t end)
    {
        std::string text;
        for (int64_t n = from; n < end; n++)
            text += encode(n) + (n + 1 < end ? " " : "");
        return text;
    }
};

} // namespace

TEST_CASE("video_encoder: a size starts anew at its next frame of temporal id 0")
{
    video h264(false), vp9(true);
    CHECK(h264.encode(0, 5) == ". - - - -");
    CHECK(vp9.encode(0, 5) == "... --- --- --- ---");
    h264.e->ops->start(h264.e, 1);
    vp9.e->ops->start(vp9.e, 1);
    CHECK(h264.encode(5, 10) == "- - - . -");
    CHECK(vp9.encode(5, 10) == "--- --- --- -.. ---"); // a sync frame, and the larger size with it
    vp9.e->ops->start(vp9.e, 0);
    CHECK(vp9.encode(10, 13) == "--- --- ...");
}

namespace
{

// Fails as long as `fails` is true.
struct unsteady {
    video_encoder base; // first
    bool *fails;
    int *freed;
};

video_encoder *unsteady_new(const ladder *l, bool *fails, int *freed)
{
    static video_encoder_ops ops = {};
    ops.encode = [](video_encoder *e, const picture *, coded_frame *out[]) -> int {
        if (*reinterpret_cast<unsteady *>(e)->fails)
            return ERR_IO;
        out[0] = coded_frame_new(1);
        return 0;
    };
    ops.start = [](video_encoder *, int) {};
    ops.loss = [](const video_encoder *, int, int64_t) { return LAYER_LOSS_NEEDS_KEY; };
    ops.repair = [](video_encoder *, int, int64_t) {};
    ops.set_periodic_keys = [](video_encoder *, bool) {};
    ops.set_bitrate = [](video_encoder *, int, int) {};
    ops.parameter_sets = [](video_encoder *, char *, size_t, char[8]) { return 0; };
    ops.free = [](video_encoder *e) {
        ++*reinterpret_cast<unsteady *>(e)->freed;
        delete reinterpret_cast<unsteady *>(e);
    };
    auto *e = new unsteady{};
    e->base = {&ops, {false, false, false}, 0, 1, l->sizes[0].width, l->sizes[0].height, 300000};
    e->fails = fails;
    e->freed = freed;
    return &e->base;
}

} // namespace

TEST_CASE("video_encoder: a device that fails for good is replaced by the processor, once")
{
    ladder l = one_size(160, 96, 30, 1, {{0, 300000}});
    bool fails = false;
    int freed = 0;
    video_encoder *e = video_encoder_new_steady(unsteady_new(&l, &fails, &freed), "test", &l);
    REQUIRE(e);
    int64_t number = 0;
    auto encode = [&]() -> std::string {
        coded_frame *out[VIDEO_ENCODER_MAX_SIZES] = {};
        picture_ptr p = draw(l, 0, number++);
        int err = e->ops->encode(e, p.get(), out);
        std::string got = err ? "error" : !out[0] ? "none" : out[0]->key ? "key" : "frame";
        coded_frame_unref(out[0]);
        return got;
    };
    for (int i = 0; i < 100; i++) { // one failure of three pictures is no end
        fails = i % 3 == 0;
        CHECK(encode() == (fails ? "error" : "frame"));
    }
    e->ops->set_bitrate(e, 0, 200000);
    fails = true;
    int errors = 0;
    std::string got;
    while ((got = encode()) == "error")
        errors++;
    CHECK(errors <= VIDEO_ENCODER_FAILURES);
    CHECK(errors >= VIDEO_ENCODER_FAILURES - 1);
    CHECK(got == "key"); // of x264
    CHECK(encode() == "frame");
    e->ops->start(e, 0);
    CHECK(encode() == "key");
    e->ops->free(e);
    CHECK(freed == 1);
}

TEST_CASE("video_encoder: what a loss needs")
{
    video h264(false), vp9(true);
    h264.encode(0, 3);
    vp9.encode(0, 6);
    CHECK(h264.e->ops->loss(h264.e, 1, 2) == LAYER_LOSS_REPAIRED); // 3 would depend on it
    CHECK(h264.e->ops->loss(h264.e, 1, 1) == LAYER_LOSS_HARMLESS);
    h264.e->ops->repair(h264.e, 1, 2);
    CHECK(h264.e->ops->loss(h264.e, 1, 2) == LAYER_LOSS_HARMLESS);
    CHECK(h264.encode(3, 5) == "- -");
    h264.e->ops->repair(h264.e, 1, 0);
    CHECK(h264.encode(5, 9) == "- - - .");
    for (int s = 0; s < 3; s++) {
        CHECK(vp9.e->ops->loss(vp9.e, s, 4) == LAYER_LOSS_NEEDS_KEY);
        CHECK(vp9.e->ops->loss(vp9.e, s, 3) == LAYER_LOSS_HARMLESS);
    }
    vp9.e->ops->repair(vp9.e, 2, 4);
    CHECK(vp9.encode(6, 9) == "--- --- --.");
    CHECK(vp9.e->ops->loss(vp9.e, 2, 4) == LAYER_LOSS_HARMLESS); // the sync frame repaired it
}

TEST_CASE("video_encoder: key frames without a request, if viewers need them")
{
    for (bool periodic : {true, false}) {
        video vp9(true);
        vp9.e->ops->set_periodic_keys(vp9.e, periodic);
        int keys = 0;
        for (int64_t n = 0; n < 320; n += 4)
            keys += vp9.encode(n) == "...";
        CHECK(keys == (periodic ? 2 : 1));
    }
}

TEST_CASE("video_encoder: VP9 follows the bitrate of any of its sizes")
{
    struct {
        int size_id;
        double share, least, most; // of the bytes at the ladder's rate
    } const table[] = {
        {2, 0.5, 0.35, 0.7}, {1, 0.5, 0.6, 1.0}, {2, 1, 0.9, 1.1}, {2, 0.0001, 0, 0.4}};
    auto bytes_of = [](video &v) {
        size_t bytes = 0;
        for (int64_t n = 0; n < 150; n++)
            v.encode(n, n >= 30 ? &bytes : nullptr);
        return (double)bytes;
    };
    video usual(true);
    double whole = bytes_of(usual);
    for (auto &row : table) {
        video v(true);
        int rate = ladder_size_bitrate(&v.levels, row.size_id);
        v.e->ops->set_bitrate(v.e, row.size_id, (int)(rate * row.share));
        double got = bytes_of(v) / whole;
        INFO("size " << row.size_id << " share " << row.share << ": " << got);
        CHECK(got > row.least);
        CHECK(got < row.most);
    }
}
