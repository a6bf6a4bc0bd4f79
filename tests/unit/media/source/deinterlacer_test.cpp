// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>

extern "C" {
#include <libavutil/frame.h>

#include "media/source/deinterlacer.h"
}

namespace
{
enum { SIZE = 64, STEP = 8 };

struct frame_deleter {
    void operator()(AVFrame *f) const
    {
        av_frame_free(&f);
    }
};
using frame_ptr = std::unique_ptr<AVFrame, frame_deleter>;

// A white bar that moves STEP pixels a field: each line shows the place of its field's time.
frame_ptr frame_at(int n, bool interlaced, int size = SIZE)
{
    frame_ptr f(av_frame_alloc());
    f->width = f->height = size;
    f->format = AV_PIX_FMT_YUV420P;
    REQUIRE(av_frame_get_buffer(f.get(), 0) == 0);
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < (i ? size / 2 : size); y++)
            for (int x = 0; x < (i ? size / 2 : size); x++) {
                int bar = 2 * n * STEP / 2 + (interlaced && y % 2 ? STEP / 2 : 0);
                bool white = i == 0 && x >= bar && x < bar + 16;
                f->data[i][y * f->linesize[i] + x] = i ? 128 : white ? 235 : 16;
            }
    f->pts = 100 + 3 * n;
    f->interlaced_frame = interlaced;
    f->top_field_first = 1;
    return f;
}

// Mean difference of neighbouring lines.
double comb(const AVFrame *f)
{
    double sum = 0;
    for (int y = 1; y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            sum += std::abs(f->data[0][y * f->linesize[0] + x] -
                            f->data[0][(y - 1) * f->linesize[0] + x]);
    return sum / (f->width * (f->height - 1));
}

// Puts five frames in and checks what comes out.
template <typename Check> void run(bool interlaced, Check check)
{
    std::unique_ptr<deinterlacer, decltype(&deinterlacer_free)> d(
        deinterlacer_new(frame_at(0, interlaced).get(), {1, 90}), deinterlacer_free);
    REQUIRE(d);
    int count = 0;
    frame_ptr out(av_frame_alloc());
    auto drain = [&] {
        int err;
        while ((err = deinterlacer_take(d.get(), out.get())) == 0) {
            CHECK(out->pts == 100 + 3 * count);
            check(out.get(), count++);
            av_frame_unref(out.get());
        }
        return err;
    };
    for (int n = 0; n < 5; n++) {
        CHECK(deinterlacer_put(d.get(), frame_at(n, interlaced).get()) == 0);
        CHECK(drain() == AVERROR(EAGAIN));
    }
    CHECK(deinterlacer_put(d.get(), nullptr) == 0);
    CHECK(drain() == AVERROR_EOF);
    CHECK(deinterlacer_put(d.get(), nullptr) == 0); // again: no error
    CHECK(count == 5);
}
} // namespace

TEST_CASE("deinterlacer: a picture a frame, without the comb of two fields")
{
    run(true, [](const AVFrame *out, int n) {
        double before = comb(frame_at(n, true).get());
        CHECK(before > 10);
        CHECK(comb(out) < before / 3);
    });
}

TEST_CASE("deinterlacer: progressive frames pass unchanged")
{
    run(false, [](const AVFrame *out, int n) {
        frame_ptr in = frame_at(n, false);
        bool same = true;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                same = same && in->data[0][y * in->linesize[0] + x] ==
                                   out->data[0][y * out->linesize[0] + x];
        CHECK(same);
    });
}

TEST_CASE("deinterlacer: frames of another size need another one")
{
    frame_ptr first = frame_at(0, true);
    deinterlacer *d = deinterlacer_new(first.get(), {1, 90});
    REQUIRE(d);
    CHECK(deinterlacer_fits(d, frame_at(1, true).get()));
    CHECK_FALSE(deinterlacer_fits(d, frame_at(1, true, 2 * SIZE).get()));
    deinterlacer_free(d);
    deinterlacer_free(nullptr);
    frame_ptr tiny = frame_at(0, true, 2); // bwdif requires three lines
    CHECK(deinterlacer_new(tiny.get(), {1, 90}) == nullptr);
}
