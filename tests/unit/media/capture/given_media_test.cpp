// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/given_media.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "common/base/err.h"
#include "common/net/clock.h"

namespace
{
using media = std::unique_ptr<given_media, decltype(&given_media_unref)>;
using pictures = std::unique_ptr<source, decltype(&source_free)>;

media make(bool has_audio = false)
{
    geometry g = {160, 90, {10, 1}};
    media m(given_media_new(&g, has_audio), given_media_unref);
    REQUIRE(m);
    return m;
}

// Any thread may call it, so it asserts nothing: Catch2's assertions are the main thread's.
picture *grey(int width, int height, uint8_t luma)
{
    picture *p = picture_new(width, height);
    if (!p)
        throw std::bad_alloc();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            p->plane[0][y * p->stride[0] + x] = luma;
    return p;
}

int push(const media &m, int width, int height, uint8_t luma, usec_t captured = 0)
{
    picture *p = grey(width, height, luma);
    int err = given_media_push_picture(m.get(), p, captured);
    picture_unref(p); // it was copied
    return err;
}

// These cases have a time of capture of 300 ms ago, and are tried again if the machine was so busy
// in between that the time is another one: of 400 ms ago at most, or of two clocks read apart.
constexpr int TRIES = 300;
constexpr usec_t UNDISTURBED = 8 * USEC_PER_MSEC;
} // namespace

TEST_CASE("given_media: a pushed picture comes out, with the time of its capture")
{
    bool is_judged = false;
    for (int i = 0; i < TRIES && !is_judged; i++) {
        media m = make();
        pictures s(given_media_source(m.get()), source_free);
        REQUIRE(s);
        CHECK(s->live);
        CHECK(s->width == 160);
        CHECK(s->fps.num == 10);
        picture *p = nullptr;
        CHECK(s->ops->next(s.get(), &p) == ERR_AGAIN); // there is none yet
        usec_t begun = clock_now(), captured = clock_wall() - 300 * USEC_PER_MSEC;
        CHECK(push(m, 160, 90, 77, captured) == 0);
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        is_judged = clock_now() - begun < UNDISTURBED;
        CHECK(p->number == 0);
        CHECK(p->pts == 0);
        CHECK(p->plane[0][89 * p->stride[0] + 159] == 77);
        if (is_judged) {
            CHECK(p->capture_wall >= captured - 2 * UNDISTURBED);
            CHECK(p->capture_wall <= captured + 2 * UNDISTURBED);
        }
        picture_unref(p);
    }
    CHECK(is_judged);
}

TEST_CASE("given_media: what is refused")
{
    media m = make();
    CHECK(push(m, 320, 180, 1) == ERR_UNSUPPORTED);
    CHECK(push(m, 160, 92, 1) == ERR_UNSUPPORTED);
    std::vector<int16_t> pcm(2 * 960);
    CHECK(given_media_push_audio(m.get(), pcm.data(), 960, 0) == ERR_UNSUPPORTED);
    int err;
    CHECK(given_media_audio(m.get(), &err) == nullptr);
    CHECK(err == ERR_NOT_FOUND);
    media heard = make(true);
    CHECK(given_media_push_audio(heard.get(), pcm.data(), -1, 0) == ERR_UNSUPPORTED);
    CHECK(given_media_push_audio(heard.get(), pcm.data(), 960, 0) == 0);
}

TEST_CASE("given_media: audio is that of its picture, by the same clock")
{
    bool is_judged = false;
    for (int tries = 0; tries < TRIES && !is_judged; tries++) {
        media m = make(true);
        pictures s(given_media_source(m.get()), source_free);
        int err;
        std::unique_ptr<audio_source, decltype(&audio_source_free)> a(
            given_media_audio(m.get(), &err), audio_source_free);
        REQUIRE((s && a));
        std::vector<int16_t> out(2 * 4800, 1);
        a->ops->read(a.get(), 0, out.data(), 4800);
        CHECK(out[0] == 0); // no picture has come, so media time does not run
        picture *p = nullptr;
        CHECK(s->ops->next(s.get(), &p) == ERR_AGAIN);
        // 300 ms before now, 300 ms of a ramp began to be captured, and a picture was.
        std::vector<int16_t> ramp(2 * 14400);
        for (size_t i = 0; i < ramp.size(); i++)
            ramp[i] = (int16_t)(1 + i / 2);
        usec_t begun = clock_now(), captured = clock_wall() - 300 * USEC_PER_MSEC;
        CHECK(push(m, 160, 90, 1, captured) == 0);
        CHECK(given_media_push_audio(m.get(), ramp.data(), 14400, captured) == 0);
        is_judged = clock_now() - begun < UNDISTURBED;
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        picture_unref(p);
        a->ops->read(a.get(), 4800, out.data(), 4800);
        int64_t first = 4800 - a->lag; // of the ramp, which begins at media time 0
        for (int i = 0; is_judged && i < 4800; i += 100) {
            int64_t wanted = first + i < 0 ? 0 : 1 + first + i;
            CHECK(std::abs(out[(size_t)(2 * i)] - wanted) < 480); // the clocks are read in turn
        }
    }
    CHECK(is_judged);
}

TEST_CASE("given_media: the program pushes while another thread reads", "[threads]")
{
    media m = make(true);
    pictures s(given_media_source(m.get()), source_free);
    std::atomic<bool> done{false};
    std::thread program([&] {
        std::vector<int16_t> pcm(2 * 480);
        while (!done) {
            (void)push(m, 160, 90, 1);
            (void)given_media_push_audio(m.get(), pcm.data(), 480, 0);
        }
    });
    int64_t next = 0;
    for (int i = 0; i < 10;) {
        picture *p = nullptr;
        if (s->ops->next(s.get(), &p) != 0)
            continue;
        CHECK(p->number == next++);
        picture_unref(p);
        if (++i == 5)
            s->ops->idle(s.get());
    }
    done = true;
    program.join();
    s.reset();
    CHECK(push(m, 160, 90, 1) == 0); // the source has gone; a program need not know
}
