// SPDX-License-Identifier: GPL-2.0-or-later
// What the filler does while nothing comes from the origin. tests/e2e/test_fill.py has the rest.
#include "proxy/feed/film_filler.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "common/net/clock.h"
#include "common/transport/transport_list.h"
#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

// A film of an origin that refuses each connection.
struct filled {
    temp_folder folder;
    uv_loop_t loop;
    store *s;
    store_film *film;
    std::unique_ptr<origin_rules> rules = std::make_unique<origin_rules>();
    transport_list transports = {};
    film_origin origin = {};
    film_filler *filler = nullptr;
    stored_info info = film_info();

    explicit filled(int64_t max_bytes = 100 << 20, double seconds = 0)
    {
        uv_loop_init(&loop);
        std::string path = folder / "cache";
        store_config config = {&loop, path.c_str(), max_bytes, 0};
        s = store_new(&config);
        REQUIRE(origin_url_allow(rules.get(), "127.0.0.1") == nullptr);
        REQUIRE(transport_list_split("tcp", &transports) == 0);
        sdp description = film_sdp("v");
        if (seconds > 0) {
            description.duration = seconds;
            info.origin.frames = (int64_t)(seconds * 10);
            stored_plan_end(&info.plan, &info.sdp.ladder, info.origin.frames);
        }
        film = store_open(s, "rtsp://127.0.0.1:1/film", &description);
        REQUIRE(film);
        origin = {&loop, &transports, rules.get(), "RTSP/1.0 me"};
    }
    void start(usec_t outage, usec_t after = 0)
    {
        film_filler_config config = {&origin, film, 2, outage, after};
        filler = film_filler_new(&config);
        REQUIRE(filler);
    }
    bool need(int64_t group)
    {
        store_filler *f = film_filler_base(filler);
        return f->need(f->ctx, group, 1);
    }
    // Asks for the group, as a viewer that waits does, until it will not come.
    void wait_failed(int64_t group)
    {
        while (need(group))
            uv_run(&loop, UV_RUN_ONCE);
    }
    void put(int64_t group)
    {
        for (int track : {0, (int)STORED_AUDIO_TRACK}) {
            store_film_put(film, make_group(&info, group).get(), track, false);
            while (store_film_pending(film))
                uv_run(&loop, UV_RUN_ONCE);
            stored_digest d = digest_of(&info, group, track);
            store_film_verify(film, track, group, &d);
        }
    }
    ~filled()
    {
        film_filler_free(filler, clock_now());
        store_film_release(film);
        store_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
};

} // namespace

TEST_CASE("film_filler: fails if what a viewer waits for does not come", "[threads]")
{
    filled x;
    x.start(USEC_PER_SEC / 5);
    x.wait_failed(0);
    CHECK(store_film_fetch(x.film)->failed_at > 0);
    x.put(0); // another session has brought it
    CHECK(x.need(0));
    x.wait_failed(1);
    CHECK(film_filler_bytes(x.filler) == 0);
}

TEST_CASE("film_filler: one viewer's failure is its own, and what comes for others is none of its",
          "[threads]")
{
    filled x;
    x.start(USEC_PER_SEC / 5);
    usec_t begin = clock_now();
    int64_t others = 1;
    while (x.need(0)) { // the origin has it never, but others while the viewer waits
        if (others < FILM_GROUPS && clock_now() - begin > others * (USEC_PER_SEC / 10))
            x.put(others++);
        uv_run(&x.loop, UV_RUN_ONCE);
    }
    CHECK(x.need(3)); // another viewer's
    CHECK_FALSE(x.need(0));
    while (others < FILM_GROUPS)
        x.put(others++);
    CHECK_FALSE(x.need(0)); // still
}

TEST_CASE("film_filler: is freed while it fetches", "[threads]")
{
    filled x;
    x.start(USEC_PER_SEC);
    x.need(0);
    uv_run(&x.loop, UV_RUN_ONCE);
}

TEST_CASE("film_filler: what the cache has no room for is not waited for", "[threads]")
{
    filled x(150000, 200);
    x.start(1000 * USEC_PER_SEC);
    int64_t group = 0;
    while (group < 100 && !store_film_is_full(x.film, clock_now()))
        x.put(group++);
    REQUIRE(group >= 2);
    REQUIRE(group < 100);
    x.wait_failed(group - 1); // at once
    CHECK(store_film_fetch(x.film)->failed_at > 0);
    CHECK(x.need(0)); // it is there
    for (int i = 0; i < 5; i++) {
        x.need(0);
        uv_run(&x.loop, UV_RUN_ONCE);
    }
    CHECK(x.need(0));
    std::string log = x.folder.logged();
    CHECK(log.find("the media ends") != std::string::npos);
    size_t said = log.find("--cache-bytes has no room");
    REQUIRE(said != std::string::npos);
    CHECK(log.find("--cache-bytes has no room", said + 1) == std::string::npos);
    CHECK(log.find("cannot be fetched") == std::string::npos);
}

TEST_CASE("film_filler: no viewer displaces another one", "[threads]")
{
    enum { VIEWERS = 100 };
    filled x(100 << 20, 2 * VIEWERS); // each at a group of its own
    REQUIRE(store_film_groups(x.film) == VIEWERS);
    x.start(USEC_PER_SEC / 5);
    int failed = 0;
    std::vector<bool> waits(VIEWERS, true);
    while (failed < VIEWERS) { // all wait, so each must fail
        for (int64_t group = 0; group < VIEWERS; group++)
            if (waits[(size_t)group] && !x.need(group)) {
                waits[(size_t)group] = false;
                failed++;
            }
        uv_run(&x.loop, UV_RUN_ONCE);
    }
    CHECK(store_film_fetch(x.film)->failed_at > 0);
}
