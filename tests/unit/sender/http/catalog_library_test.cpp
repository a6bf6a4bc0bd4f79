// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "sender/http/catalog_library.h"

#include "sender/feed/filler_media.h"
#include "sender/feed/live_media.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "tests/support/film.hpp"

namespace
{

// A catalog with one stream, at /a b, which opens when the test says so.
struct rig {
    catalog base{}; // first
    uv_loop_t loop;
    stream offered;
    catalog_library *library;
    int holds = 0, changes = 0;
    bool is_open = true;
    int err = 0;      // of opening it
    int status = 503; // CATALOG_REFUSED
    int replaced = 0; // how often its film was
    int opened = 0;   // films that are held

    explicit rig(stream_media *media)
    {
        static catalog_ops ops{};
        ops.take = [](catalog *c, const char *path, catalog_hold *h, bool, stream **out) {
            rig *r = reinterpret_cast<rig *>(c);
            if (std::string(path) != "/a%20b")
                return static_cast<int>(ERR_NOT_FOUND);
            r->holds += h->film == nullptr;
            r->opened += h->film == nullptr;
            h->film = reinterpret_cast<film *>(reinterpret_cast<char *>(r) + r->replaced);
            h->refusal.status = r->status;
            *out = &r->offered;
            return r->err ? r->err : r->is_open ? 0 : static_cast<int>(CATALOG_WAITS);
        };
        ops.leave = [](catalog *c, catalog_hold *h) {
            reinterpret_cast<rig *>(c)->holds -= h->film != nullptr;
            h->film = nullptr;
        };
        base.ops = &ops;
        uv_loop_init(&loop);
        stream_init(&offered, media, nullptr);
        REQUIRE(stream_start(&offered, &loop) == 0);
        catalog_library_config config{};
        config.loop = &loop;
        config.catalog = &base;
        config.segment = USEC_PER_SEC;
        config.aac_bps = 96000;
        config.on_change = [](void *ctx) { static_cast<rig *>(ctx)->changes++; };
        config.ctx = this;
        library = catalog_library_new(&config);
        REQUIRE(library);
    }
    ~rig()
    {
        catalog_library_free(library);
        CHECK(holds == 0);
        stream_destroy(&offered);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    int get(const std::string &path, usec_t now)
    {
        content_request r{};
        r.path = path.c_str();
        REQUIRE(http_target_parse(r.path, &r.target) == 0);
        REQUIRE(http_reload_parse(nullptr, nullptr, &r.reload) == 0);
        http_content *c = catalog_library_content(library);
        http_reply reply{};
        int result = c->ops->get(c, &r, now, now, &reply);
        http_body_unref(result ? nullptr : reply.body);
        return result;
    }
};

stream_media *encoded()
{
    ladder l = film::levels();
    return live_media_new(film::make(60), &l, SDP_H264, video_engine_at(0));
}

} // namespace

TEST_CASE("catalog_library: a stream is held from its first request until some time after the last")
{
    rig r(encoded());
    const usec_t now = clock_now();
    CHECK(r.get("/other/index.m3u8", now) == ERR_NOT_FOUND);
    CHECK(r.holds == 0);
    CHECK(r.get("/a b/index.m3u8", now) == 0);
    CHECK(r.get("/a b/v0.m3u8", now) == HTTP_WAITS);
    CHECK(r.get("/a b/none.m3u8", now) == ERR_NOT_FOUND);
    CHECK(r.holds == 1);
    catalog_library_tick(r.library, now + CATALOG_LIBRARY_IDLE);
    CHECK(r.holds == 1);
    CHECK(r.get("/a b/index.m3u8", now + CATALOG_LIBRARY_IDLE) == 0);
    catalog_library_tick(r.library, now + CATALOG_LIBRARY_IDLE + USEC_PER_SEC);
    CHECK(r.holds == 1);
    catalog_library_tick(r.library, now + 2 * CATALOG_LIBRARY_IDLE + USEC_PER_SEC);
    CHECK(r.holds == 0);
    CHECK(r.get("/a b/index.m3u8", now + 3 * CATALOG_LIBRARY_IDLE) == 0); // it is opened again
}

TEST_CASE("catalog_library: a request waits while the stream is being opened")
{
    rig r(encoded());
    r.is_open = false;
    CHECK(r.get("/a b/index.m3u8", 1) == HTTP_WAITS);
    CHECK(r.get("/a b/index.m3u8", 2) == HTTP_WAITS);
    CHECK(r.holds == 1);
    r.is_open = true;
    CHECK(r.get("/a b/index.m3u8", 3) == 0);
}

TEST_CASE("catalog_library: a stream that the catalog replaces or removes is not held on to")
{
    rig r(encoded());
    usec_t now = clock_now();
    CHECK(r.get("/a b/index.m3u8", now) == 0);
    CHECK(r.get("/a b/index.m3u8", now += 2 * USEC_PER_SEC) == 0);
    CHECK(r.opened == 2); // the second one only asked
    r.replaced++;
    CHECK(r.get("/a b/index.m3u8", now) == 0); // the catalog is asked once a second
    CHECK(r.opened == 2);
    CHECK(r.get("/a b/index.m3u8", now += 2 * USEC_PER_SEC) == 0);
    CHECK(r.opened == 4);
    CHECK(r.holds == 1);
    for (int busy : {(int)CATALOG_WAITS, (int)ERR_FULL, (int)ERR_AGAIN}) {
        r.err = busy;
        CHECK(r.get("/a b/index.m3u8", now += 2 * USEC_PER_SEC) == 0);
    }
    r.err = ERR_NOT_FOUND;
    CHECK(r.get("/a b/index.m3u8", now += 2 * USEC_PER_SEC) == ERR_NOT_FOUND);
    CHECK(r.holds == 0);
}

TEST_CASE("catalog_library: why there are no files")
{
    const struct {
        int err, expected;
    } rows[] = {{ERR_FULL, ERR_FULL},      {ERR_AGAIN, ERR_FULL},
                {ERR_TIMED_OUT, ERR_FULL}, {CATALOG_REFUSED, ERR_FULL},
                {ERR_END, ERR_NOT_FOUND},  {ERR_NOT_FOUND, ERR_NOT_FOUND},
                {ERR_IO, ERR_NOT_FOUND}};
    rig r(encoded());
    for (const auto &row : rows) {
        CAPTURE(row.err);
        r.err = row.err;
        CHECK(r.get("/a b/index.m3u8", 1) == row.expected);
        CHECK(r.holds == 0);
    }
    r.err = CATALOG_REFUSED;
    r.status = 404; // no client publishes
    CHECK(r.get("/a b/index.m3u8", 1) == ERR_NOT_FOUND);
    CHECK(r.holds == 0);
    rig synthetic(filler_media_new(SDP_SOURCE_GREEDY, 1000000));
    CHECK(synthetic.get("/a b/index.m3u8", 1) == ERR_NOT_FOUND);
    CHECK(synthetic.holds == 0);
}
