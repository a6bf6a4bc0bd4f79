// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/group_verifier.h"

#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/net/clock.h"
#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

// A film in a store, and a verifier whose requests are noted.
struct verified {
    temp_folder folder;
    uv_loop_t loop;
    store *s;
    store_film *film;
    stored_info info = film_info();
    std::vector<std::string> asked;
    bool can_ask = true;
    group_verifier *v;

    explicit verified(double seconds = 0)
    {
        uv_loop_init(&loop);
        std::string path = folder / "cache";
        store_config config = {&loop, path.c_str(), 100 << 20, 0};
        s = store_new(&config);
        sdp description = film_sdp("v");
        if (seconds > 0) {
            description.duration = seconds;
            info.origin.frames = (int64_t)(seconds * 10);
            stored_plan_end(&info.plan, &info.sdp.ladder, info.origin.frames);
        }
        film = store_open(s, "rtsp://a/film", &description);
        REQUIRE(film);
        group_verifier_config verifier = {&loop, film,
                                          [](void *ctx, const char *body, usec_t) {
                                              auto *x = static_cast<verified *>(ctx);
                                              if (x->can_ask)
                                                  x->asked.push_back(body);
                                              return x->can_ask;
                                          },
                                          this};
        v = group_verifier_new(&verifier);
        REQUIRE(v);
    }
    ~verified()
    {
        group_verifier_free(v);
        store_film_release(film);
        store_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void put(int64_t group, int track)
    {
        store_film_put(film, make_group(&info, group).get(), track, false);
        while (store_film_pending(film))
            uv_run(&loop, UV_RUN_ONCE);
    }
    std::string next_request()
    {
        size_t before = asked.size();
        while (asked.size() == before)
            uv_run(&loop, UV_RUN_ONCE);
        return asked.back();
    }
    std::string digest(int64_t group, int track)
    {
        stored_digest d = digest_of(&info, group, track);
        std::string out;
        char hex[3];
        for (uint8_t byte : d.bytes) {
            snprintf(hex, sizeof(hex), "%02x", byte);
            out += hex;
        }
        return out;
    }
    void answer(const std::string &body)
    {
        group_verifier_take(v, text{body.data(), body.size()}, clock_now());
    }
};

} // namespace

TEST_CASE("group_verifier: asks for what is whole, and verifies it", "[threads]")
{
    verified x;
    CHECK(x.next_request() == "group-hash: 0/0\r\n"); // does the origin name any?
    CHECK_FALSE(store_film_fetch(x.film)->can_verify);
    x.answer("group-hash: 0/0 later\r\n");
    CHECK(store_film_fetch(x.film)->can_verify);
    x.put(1, 0);
    CHECK(x.next_request() == "group-hash: 0/1\r\n");
    x.put(2, STORED_AUDIO_TRACK); // while it waits
    x.answer("group-hash: 0/1 " + x.digest(1, 0) + "\r\n");
    CHECK(store_film_group(x.film, 0, 1) == GROUP_VERIFIED);
    CHECK(x.next_request() == "group-hash: audio/2\r\n");
    x.answer("group-hash: audio/2 later\r\n");
    CHECK(x.next_request() == "group-hash: audio/2\r\n");
    x.answer("group-hash: audio/2 " + x.digest(3, STORED_AUDIO_TRACK) + "\r\n");
    CHECK(store_film_group(x.film, STORED_AUDIO_TRACK, 2) == GROUP_NONE); // it is not the origin's
    CHECK_FALSE(group_verifier_is_refused(x.v));
}

TEST_CASE("group_verifier: a session that does not play, and one that refuses", "[threads]")
{
    verified x;
    x.can_ask = false;
    x.put(0, 1);
    for (int i = 0; i < 2; i++)
        uv_run(&x.loop, UV_RUN_ONCE);
    x.can_ask = true;
    CHECK(x.next_request() == "group-hash: 1/0\r\n");
    for (const char *wrong : {"group-hash: 1/0 12\r\n", "group-hash: 1/99 later\r\n"}) {
        x.answer(wrong);
        CHECK(x.next_request() == "group-hash: 1/0\r\n");
    }
    x.answer("");
    CHECK(group_verifier_is_refused(x.v));
    CHECK_FALSE(store_film_fetch(x.film)->can_verify);
    CHECK(store_film_group(x.film, 1, 0) == GROUP_WHOLE);
}

TEST_CASE("group_verifier: what the origin has not does not keep the rest waiting", "[threads]")
{
    verified x(140); // 70 groups: more than a request names
    REQUIRE(x.next_request() == "group-hash: 0/0\r\n");
    x.can_ask = false;
    x.answer("group-hash: 0/0 later\r\n");
    for (int64_t group = 0; group < 70; group++)
        store_film_put(x.film, make_group(&x.info, group).get(), 0, false);
    while (store_film_pending(x.film))
        uv_run(&x.loop, UV_RUN_ONCE);
    x.can_ask = true;
    std::set<std::string> named;
    for (int i = 0; i < 2; i++) {
        std::istringstream lines(x.next_request());
        std::string answer;
        for (std::string line; std::getline(lines, line);) {
            line.pop_back(); // CR
            named.insert(line);
            answer += line + " later\r\n";
        }
        x.answer(answer);
    }
    CHECK(named.size() == 70);
}
