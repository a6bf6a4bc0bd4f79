// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/film_still.h"

#include <catch2/catch.hpp>

#include "tests/support/clip.h"

namespace
{

struct taker : picture_taker {
    int calls = 0, width = 0;

    taker() : picture_taker{}
    {
        on_picture = [](picture_taker *t, picture *p, usec_t) {
            auto *self = static_cast<taker *>(t);
            self->calls++;
            self->width = p ? p->width : 0;
        };
    }
};

struct house {
    uv_loop_t loop;
    clip_folder dir;
    workers *threads;
    std::string root;

    house()
    {
        clip c;
        c.width = 96;
        c.pts = steady(40);
        clip_write(c, dir / "a.mkv");
        root = std::filesystem::canonical(dir.path);
        REQUIRE(uv_loop_init(&loop) == 0);
        threads = workers_new(&loop, 1, 1);
        REQUIRE(threads);
    }
    ~house()
    {
        workers_free(threads);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    stream_media *film(const char *path)
    {
        stream_media *m = film_still_new(threads, root.c_str(), path);
        REQUIRE(m);
        return m;
    }
    void wait(const taker &t)
    {
        while (!t.calls)
            uv_run(&loop, UV_RUN_ONCE);
    }
};

} // namespace

TEST_CASE("film_still: a picture of a film; of what is none, none", "[threads]")
{
    house h;
    for (const char *path : {"a.mkv", "none.mkv", "../a.mkv", ""}) {
        INFO(path);
        taker t;
        stream_media *m = h.film(path);
        m->ops->take(m, &t);
        h.wait(t);
        CHECK(t.width == (std::string(path) == "a.mkv" ? 96 : 0));
        m->ops->free(m);
    }
}

TEST_CASE("film_still: a picture that is not wanted any more is not given", "[threads]")
{
    house h;
    taker left, freed, last;
    stream_media *a = h.film("a.mkv"), *b = h.film("a.mkv"), *c = h.film("a.mkv");
    a->ops->take(a, &left);
    a->ops->leave(a, &left);
    a->ops->free(a);
    b->ops->take(b, &freed);
    b->ops->free(b);
    c->ops->take(c, &last); // may find no room
    uv_run(&h.loop, UV_RUN_NOWAIT);
    c->ops->free(c);
    CHECK(left.calls + freed.calls == 0);
}
