// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/still/still_maker.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{

struct source : stream_media { // gives pictures when the test says so
    picture_taker *taker = nullptr;
    int takes = 0, leaves = 0;

    explicit source(bool has_pictures = true) : stream_media{}
    {
        static const stream_media_ops with = [] {
            stream_media_ops o{};
            o.take = [](stream_media *m, picture_taker *t) {
                auto *s = static_cast<source *>(m);
                REQUIRE(s->taker == nullptr);
                s->taker = t;
                s->takes++;
            };
            o.leave = [](stream_media *m, picture_taker *t) {
                auto *s = static_cast<source *>(m);
                CHECK(s->taker == t);
                s->taker = nullptr;
                s->leaves++;
            };
            return o;
        }();
        static const stream_media_ops without{};
        ops = has_pictures ? &with : &without;
    }
    void give(bool ends = false)
    {
        picture *p = ends ? nullptr : picture_new(64, 36);
        if (p) {
            memset(p->plane[0], 100, static_cast<size_t>(p->stride[0] * 36));
            memset(p->plane[1], 128, static_cast<size_t>(p->stride[1] * 18));
            memset(p->plane[2], 128, static_cast<size_t>(p->stride[2] * 18));
        }
        picture_taker *t = taker;
        taker = nullptr;
        REQUIRE(t);
        const taken_picture taken = {p, nullptr, 0, 0, p ? 0 : ERR_END};
        t->on_picture(t, &taken, 0);
        picture_unref(p);
    }
    // Gives a picture that is coded already, or a reason why there is none.
    void give_coded(const std::string &jpeg, usec_t age, int err = 0)
    {
        picture_taker *t = taker;
        taker = nullptr;
        REQUIRE(t);
        const taken_picture taken = {nullptr,
                                     err ? nullptr : reinterpret_cast<const uint8_t *>(jpeg.data()),
                                     jpeg.size(), age, err};
        t->on_picture(t, &taken, 0);
    }
};

struct viewer {
    still_request request{};
    int calls = 0;

    viewer()
    {
        request.ctx = this;
        request.on_ready = [](void *ctx, usec_t) { static_cast<viewer *>(ctx)->calls++; };
    }
};

struct house {
    uv_loop_t loop;
    still_maker *maker;
    still_picture got{};

    house()
    {
        uv_loop_init(&loop);
        maker = still_maker_new(&loop, &still_newest);
        REQUIRE(maker);
    }
    ~house()
    {
        still_maker_free(maker);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    int get(viewer &v, source &s, usec_t now, const char *path = "/front")
    {
        return still_maker_get(maker, path, &s, &v.request, &got, now);
    }
    void wait(const viewer &v)
    {
        while (!v.calls)
            uv_run(&loop, UV_RUN_ONCE);
    }
};

enum { STILLS = 32 };               // still_newest.count
const usec_t SOON = USEC_NEVER / 2; // after all that the loop's clock says

} // namespace

TEST_CASE("still_maker: small pictures are kept longer", "[threads]")
{
    CHECK(still_newest.count == STILLS);
    CHECK(still_film.age > still_newest.age);
    CHECK(still_film.count * still_film.bytes <= 8 * 1000 * 1000);
}

TEST_CASE("still_maker: a picture serves all that wait, and those of the next second", "[threads]")
{
    house h;
    source s;
    viewer a, b, c;
    CHECK(h.get(a, s, SOON) == STILL_WAITS);
    CHECK(h.get(a, s, SOON) == STILL_WAITS);
    CHECK(h.get(b, s, SOON) == STILL_WAITS);
    CHECK(s.takes == 1);
    s.give();
    CHECK(h.get(c, s, SOON) == STILL_WAITS); // while it is encoded
    h.wait(a);
    CHECK(b.calls == 1);
    CHECK(c.calls == 1);
    REQUIRE(h.get(a, s, SOON + 100 * USEC_PER_SEC) == 0); // however late it is
    REQUIRE(h.got.bytes > 100);
    CHECK((h.got.data[0] == 0xff && h.got.data[1] == 0xd8));
    CHECK(h.get(b, s, SOON) == 0);
    CHECK(h.get(c, s, SOON) == 0);
    CHECK(h.get(a, s, 0) == 0); // the newest picture is not a second old
    CHECK(s.takes == 1);
    CHECK(h.get(a, s, SOON) == STILL_WAITS); // it is older
    CHECK(s.takes == 2);
    still_maker_leave(&a.request);
    CHECK(s.leaves == 1);
    still_maker_leave(&a.request);
}

TEST_CASE("still_maker: what cannot be made", "[threads]")
{
    house h;
    source none(false), ended;
    viewer v;
    CHECK(h.get(v, none, 0) == ERR_UNSUPPORTED);
    CHECK(h.get(v, ended, SOON) == STILL_WAITS);
    ended.give(true);
    CHECK(v.calls == 1);
    CHECK(h.get(v, ended, SOON) == ERR_END);
    // A source that gives none: the deadline has passed for the loop's clock.
    CHECK(h.get(v, ended, 0) == STILL_WAITS);
    v.calls = 0;
    h.wait(v);
    CHECK(ended.leaves == 1);
    CHECK(h.get(v, ended, 0) == ERR_TIMED_OUT);
}

TEST_CASE("still_maker: a picture of another server is kept as it came, as long as that says")
{
    const usec_t s = USEC_PER_SEC;
    struct {
        usec_t age, kept; // still_newest.age is the most
    } const table[] = {{0, 0}, {s / 2, s / 2}, {s, s}, {600 * s, s}};
    for (const auto &row : table) {
        INFO(row.age);
        house h;
        source origin;
        viewer v;
        std::string jpeg("\xff\xd8\xff\0x", 5);
        CHECK(h.get(v, origin, 0) == STILL_WAITS);
        origin.give_coded(jpeg, row.age);
        CHECK(v.calls == 1);
        REQUIRE(h.get(v, origin, 0) == 0); // however old
        CHECK(std::string(reinterpret_cast<const char *>(h.got.data), h.got.bytes) == jpeg);
        CHECK(h.got.age == row.kept);
        if (row.kept)
            CHECK(h.get(v, origin, row.kept - 1) == 0);
        CHECK(h.get(v, origin, row.kept) == STILL_WAITS);
        origin.give_coded(jpeg, row.age, ERR_NOT_FOUND);
        CHECK(h.get(v, origin, row.kept) == ERR_NOT_FOUND);
        CHECK(h.get(v, origin, row.kept) == STILL_WAITS);
        origin.give_coded(std::string(still_newest.bytes + 1, 'x'), row.age);
        CHECK(h.get(v, origin, row.kept) == ERR_TOO_BIG);
    }
}

TEST_CASE("still_maker: it holds no media that nobody waits for", "[threads]")
{
    house h;
    source before, after; // of one path, such as before and after a change of the configuration
    viewer a, b;
    CHECK(h.get(a, before, SOON) == STILL_WAITS);
    CHECK(h.get(b, after, SOON) == STILL_WAITS);
    CHECK(after.takes == 0);
    still_maker_leave(&a.request);
    CHECK(before.leaves == 1);
    CHECK(after.takes == 1);
    after.give();
    h.wait(b);
    CHECK(h.get(b, after, SOON) == 0);
}

TEST_CASE("still_maker: pictures of many paths are bounded", "[threads]")
{
    house h;
    source sources[STILLS + 1];
    viewer viewers[STILLS + 1];
    for (int i = 0; i < STILLS; i++)
        CHECK(h.get(viewers[i], sources[i], SOON, std::to_string(i).c_str()) == STILL_WAITS);
    viewer &last = viewers[STILLS];
    CHECK(h.get(last, sources[STILLS], SOON, "last") == ERR_FULL);
    still_maker_leave(&viewers[3].request);
    CHECK(h.get(last, sources[STILLS], SOON, "last") == STILL_WAITS);
    for (auto &v : viewers)
        still_maker_leave(&v.request);
}
