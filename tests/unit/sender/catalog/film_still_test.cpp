// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/film_still.h"

#include <catch2/catch.hpp>

#include <fstream>

#include "common/base/err.h"
#include "tests/support/clip.h"

namespace
{

struct taker : picture_taker {
    int calls = 0, width = 0, err = 0;
    usec_t at = -1;

    taker() : picture_taker{}
    {
        on_picture = [](picture_taker *t, const taken_picture *p, usec_t) {
            auto *self = static_cast<taker *>(t);
            self->calls++;
            self->width = p->picture ? p->picture->width : 0;
            self->at = p->picture ? p->picture->pts + p->picture->shift : -1;
            self->err = p->err;
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
        std::ofstream(dir / "text.mkv") << "no film";
        std::filesystem::create_directory(dir / "folder");
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
    // `in` the folder, or a file by its name.
    stream_media *film(const char *path, bool in = true, usec_t at = -1)
    {
        std::string name = dir / path;
        stream_media *m =
            film_still_new(threads, in ? root.c_str() : nullptr, in ? path : name.c_str(), at);
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
    struct {
        const char *path;
        bool in; // the folder
        int err;
    } const table[] = {
        {"a.mkv", true, 0},
        {"a.mkv", false, 0},
        {"none.mkv", true, ERR_NOT_FOUND},
        {"none.mkv", false, ERR_NOT_FOUND},
        {"../a.mkv", true, ERR_NOT_FOUND},
        {"text.mkv", true, ERR_UNSUPPORTED},
        {"text.mkv", false, ERR_UNSUPPORTED},
        {"folder", true, ERR_UNSUPPORTED},
        {"folder", false, ERR_UNSUPPORTED},
    };
    house h;
    for (const auto &row : table) {
        INFO(row.path << " " << row.in);
        taker t;
        stream_media *m = h.film(row.path, row.in);
        m->ops->take(m, &t);
        h.wait(t);
        CHECK(t.err == row.err);
        CHECK(t.width == (row.err ? 0 : 96));
        m->ops->free(m);
    }
}

TEST_CASE("film_still: the key frame at a position, and the last one beyond the end", "[threads]")
{
    house h;
    clip c;
    c.pts = steady(400);
    clip_write(c, h.dir / "long.mkv");
    usec_t last = -1;
    for (usec_t at : {usec_t{0}, 5 * USEC_PER_SEC, 10 * USEC_PER_SEC, 1000 * USEC_PER_SEC}) {
        INFO(at);
        taker t;
        stream_media *m = h.film("long.mkv", true, at);
        m->ops->take(m, &t);
        h.wait(t);
        m->ops->free(m);
        CHECK(t.err == 0);
        CHECK(t.at <= at);
        CHECK(t.at >= last);
        last = t.at;
    }
    CHECK(last > 10 * USEC_PER_SEC);
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
