// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "sender/catalog/file_catalog.h"
#include "sender/catalog/stream_open.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "tests/support/clip.h"

namespace
{

struct viewer {
    catalog_hold hold{};
    int calls = 0;

    viewer()
    {
        hold.ctx = this;
        hold.on_ready = [](void *ctx, usec_t) { static_cast<viewer *>(ctx)->calls++; };
    }
};

void write(const std::string &path, int width)
{
    clip c;
    c.width = width;
    c.pts = steady(5);
    clip_write(c, path + ".mp4"); // the name says the container
    std::filesystem::rename(path + ".mp4", path);
}

struct served {
    uv_loop_t loop;
    clip_folder dir;
    std::string path = dir / "film";
    options o{};
    stream film{};
    catalog *c = nullptr;

    served()
    {
        film_mark mark;
        write(path, 96);
        REQUIRE(uv_loop_init(&loop) == 0);
        o.source = path.c_str();
        o.path = "/live";
        o.codec = SDP_H264;
        o.encoder = "auto";
        o.audio = "none";
        REQUIRE(file_catalog_mark(&o, &mark));
        REQUIRE(stream_open_in_time(&film, &loop, &o, o.source, CATALOG_OPEN_LIMIT) == 0);
        film.max_viewers = 7;
        c = file_catalog_new(&loop, &o, &film, &mark);
        REQUIRE(c);
    }
    ~served()
    {
        c->ops->free(c);
        stream_destroy(&film);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    int take(viewer &v, bool only = false)
    {
        stream *out = nullptr;
        int err = c->ops->take(c, "/live", &v.hold, only, &out);
        CHECK((out == &film) == (err == 0));
        return err;
    }
    // Takes the film as a viewer does: again when it is ready.
    int wait(viewer &v)
    {
        int err;
        while ((err = take(v)) == CATALOG_WAITS) {
            int calls = v.calls;
            while (v.calls == calls)
                uv_run(&loop, UV_RUN_ONCE);
        }
        return err;
    }
    void leave(viewer &v)
    {
        c->ops->leave(c, &v.hold);
        c->ops->leave(c, &v.hold); // a second time is allowed
    }
    int width() const
    {
        const ladder &l = film.media->ladder;
        return l.sizes[l.size_count - 1].width;
    }
};

} // namespace

TEST_CASE("file_catalog: a film that was replaced is opened again, without its viewers",
          "[threads]")
{
    served s;
    viewer a, b;
    CHECK(s.wait(a) == 0);
    CHECK(s.width() == 96);
    stream_media *before = s.film.media;
    write(s.path, 160);
    CHECK(s.take(b) == 0); // `a` watches: both have the film as it was
    CHECK(s.take(a, true) == 0);
    CHECK(s.film.media == before);
    s.leave(a);
    CHECK(s.take(a) == 0);
    CHECK(s.film.media == before);
    s.leave(a);
    s.leave(b);
    a.calls = 0;
    CHECK(s.take(b) == CATALOG_WAITS);
    CHECK(s.take(a) == CATALOG_WAITS);
    s.leave(a); // while it waits
    CHECK(s.wait(b) == 0);
    CHECK(a.calls == 0);
    CHECK(s.width() == 160);
    CHECK(s.film.max_viewers == 7);
    CHECK(s.film.book);
    before = s.film.media;
    s.leave(b);
    CHECK(s.wait(b) == 0); // it is the same
    CHECK(s.film.media == before);
    s.leave(b);
}

TEST_CASE("file_catalog: a film that is gone or broken is refused until it is there", "[threads]")
{
    served s;
    viewer a;
    std::filesystem::remove(s.path);
    CHECK(s.wait(a) == CATALOG_REFUSED);
    CHECK_THAT(a.hold.refusal.text, Catch::Contains("is not available: not found"));
    s.leave(a);
    write(s.path, 160);
    std::filesystem::resize_file(s.path, 100);
    viewer b; // what the look for the first one found holds for a moment
    do
        REQUIRE(s.wait(b) == CATALOG_REFUSED);
    while (std::string(b.hold.refusal.text).find("not found") != std::string::npos);
    CHECK_THAT(b.hold.refusal.text, Catch::Contains("is not available: not a "));
    write(s.path, 192);
    while (s.wait(b) == CATALOG_REFUSED)
        ;
    CHECK(s.width() == 192);
    s.leave(b);
    stats found{};
    s.c->ops->stats(s.c, &found, nullptr, nullptr, 0);
    CHECK(found.stream_count == 1);
    CHECK(s.c->ops->set_highest(s.c, "/live", 0, 0) == 0);
    CHECK(s.c->ops->set_highest(s.c, "/other", 0, 0) == ERR_NOT_FOUND);
}

TEST_CASE("file_catalog: it ends while the film is looked at", "[threads]")
{
    served s;
    viewer a;
    write(s.path, 160);
    CHECK(s.take(a) == CATALOG_WAITS);
    s.leave(a);
}

TEST_CASE("file_catalog: only files have a mark")
{
    clip_folder dir;
    film_mark mark;
    options o{};
    for (const std::string &other : {dir.path.string(), dir / "none", std::string("test:")}) {
        o.source = other.c_str();
        CHECK_FALSE(file_catalog_mark(&o, &mark));
    }
}

TEST_CASE("file_catalog: a picture of its film, and of no other path", "[threads]")
{
    served s;
    for (const char *path : {"live", "other", ""}) {
        INFO(path);
        still_wish wish = {path, -1, "", {}};
        int err = 0;
        stream_media *m = s.c->ops->still(s.c, &wish, &err);
        CHECK((m != nullptr) == (std::string(path) == "live"));
        if (m)
            m->ops->free(m);
        else
            CHECK(err == ERR_UNSUPPORTED);
    }
}
