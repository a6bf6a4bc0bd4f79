// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/store/film_recorder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

// A session with an origin that sends the film as stored_feed does.
struct recording {
    temp_folder folder;
    uv_loop_t loop;
    store *s;
    store_film *film;
    film_recorder *r;
    stored_info info = film_info();

    recording()
    {
        uv_loop_init(&loop);
        std::string path = folder / "cache";
        store_config config = {&loop, path.c_str(), 100 << 20, 0};
        s = store_new(&config);
        REQUIRE(s);
        sdp description = film_sdp("v");
        film = store_open(s, "rtsp://a/film", &description);
        REQUIRE(film);
        r = film_recorder_new(film);
    }
    ~recording()
    {
        film_recorder_free(r);
        store_film_release(film);
        store_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void settle()
    {
        film_recorder_flush(r);
        while (store_film_pending(film))
            uv_run(&loop, UV_RUN_ONCE);
    }
    // The film's frame `at` arrives with this number.
    void frame(int size, int64_t at, int64_t number, int wrong_layer = 0)
    {
        coded_frame *f = make_frame(&info, size, at);
        const stored_place &place =
            stored_plan_shape(&info.plan, at / FILM_GOP)->places[size][at % FILM_GOP];
        received_frame got = {};
        got.number = number;
        got.reorder = place.slot - (int)(at % FILM_GOP);
        got.size_id = size;
        got.temporal_id = place.temporal_id + wrong_layer;
        got.key = f->key;
        got.depends_on = place.depends < 0 ? -1 : number + place.depends - at % FILM_GOP;
        got.data = f->data;
        got.bytes = f->bytes;
        film_recorder_frame(r, &got);
        coded_frame_unref(f);
    }
    void audio(int64_t at, int64_t base)
    {
        coded_audio *c = make_audio(at);
        film_recorder_audio(r, at + base * 4800, c->data, c->bytes);
        coded_audio_unref(c);
    }
    // Plays frames from .. to - 1 in numbers from `base` on, with audio.
    void play(int size, int64_t from, int64_t to, int64_t base)
    {
        for (int64_t at = from; at < to; at++) {
            frame(size, at, base + at);
            for (int64_t p = -312; p < FILM_FRAMES * 4800; p += 960)
                if (p < (at + 1) * 4800 && (at == 0 || p >= at * 4800))
                    audio(p, base);
        }
    }
    bool is_the_origins(int track, int64_t group)
    {
        stored_digest d = digest_of(&info, group, track);
        store_film_verify(film, track, group, &d);
        return store_film_group(film, track, group) == GROUP_VERIFIED;
    }
};

} // namespace

TEST_CASE("film_recorder: a whole film, with numbers that begin anywhere", "[threads]")
{
    for (int64_t base : {0, 2, 1000}) {
        CAPTURE(base);
        recording x;
        film_recorder_place(x.r, 0, 1, base, base);
        x.play(1, 0, FILM_FRAMES, base);
        x.settle();
        for (int64_t group = 0; group < FILM_GROUPS; group++) {
            CHECK(x.is_the_origins(1, group));
            CHECK(x.is_the_origins(STORED_AUDIO_TRACK, group));
            CHECK(store_film_group(x.film, 0, group) == GROUP_NONE);
        }
        CHECK(store_film_is_complete(x.film, 1));
        CHECK_FALSE(store_film_is_complete(x.film, 0));
    }
}

TEST_CASE("film_recorder: a seek, and frames of before it", "[threads]")
{
    recording x;
    film_recorder_place(x.r, 0, 1, 0, 0);
    x.play(0, 0, 25, 0);
    film_recorder_place(x.r, 4.5, 1, 30, 35); // the group of frame 40 begins with number 30
    x.frame(0, 25, 25);                       // it was under way
    x.play(0, 40, FILM_FRAMES, -10);
    x.settle();
    CHECK(x.is_the_origins(0, 0));
    CHECK(store_film_group(x.film, 0, 1) == GROUP_PART);
    CHECK(x.is_the_origins(0, 2));
    CHECK(x.is_the_origins(0, 3));
    CHECK(x.is_the_origins(STORED_AUDIO_TRACK, 2));
}

TEST_CASE("film_recorder: the film begins again", "[threads]")
{
    recording x;
    film_recorder_place(x.r, 4, 1, 40, 40);
    x.play(0, 40, FILM_FRAMES, 0);
    x.play(0, 0, 40, FILM_FRAMES);
    x.settle();
    for (int64_t group = 0; group < FILM_GROUPS; group++)
        CHECK(x.is_the_origins(0, group));
}

TEST_CASE("film_recorder: lost frames leave a part, in any order of arrival", "[threads]")
{
    recording x;
    film_recorder_place(x.r, 0, 1, 0, 0);
    for (int64_t at : {3, 0, 1, 4, 2, 6, 5})
        x.frame(1, at, at);
    x.settle();
    CHECK(store_film_group(x.film, 1, 0) == GROUP_PART);
    for (int64_t at = 7; at < FILM_GOP; at++)
        x.frame(1, at, at);
    x.settle();
    CHECK(x.is_the_origins(1, 0));
}

TEST_CASE("film_recorder: what has no place in the film is not stored", "[threads]")
{
    recording x;
    x.frame(0, 0, 0); // before PLAY
    film_recorder_place(x.r, NAN, 1, -1, -1);
    x.frame(0, 0, 0);
    film_recorder_place(x.r, 0.1, 1, 0, 0); // no multiple of the period
    x.frame(0, 0, 0);
    for (int64_t number : {int64_t{1} << 40, INT64_MAX}) { // of a lying origin: its time overflows
        film_recorder_place(x.r, 0, 1, number, number);
        x.frame(0, 0, number - 1);
        x.audio(0, 0);
    }
    film_recorder_place(x.r, 0, 1, 0, 0);
    x.audio(-1000000, 0);
    x.frame(0, 1, 1, 1); // another layer than the plan's
    x.settle();
    CHECK(store_film_group(x.film, 0, 0) == GROUP_NONE);
    CHECK(x.folder.logged().find("not those of a prepared file") != std::string::npos);
}

TEST_CASE("film_recorder: fast forward and rewind are not recorded, and bring no group",
          "[threads]")
{
    for (double scale : {2.0, 0.5, -2.0}) {
        CAPTURE(scale);
        recording x;
        film_recorder_place(x.r, 0, 1, 0, 0);
        x.play(1, 0, FILM_GOP, 0);
        const store_flow *flow = store_film_flows(x.film);
        REQUIRE(flow);
        CHECK(flow->sizes == 2);
        CHECK(flow->has_audio);
        film_recorder_place(x.r, 2, scale, FILM_GOP, FILM_GOP);
        x.play(1, FILM_GOP, 2 * FILM_GOP, 0);
        CHECK(flow->sizes == 0);
        CHECK_FALSE(flow->has_audio);
        x.settle();
        CHECK(store_film_group(x.film, 1, 0) == GROUP_WHOLE);
        CHECK(store_film_group(x.film, 1, 1) == GROUP_NONE);
        film_recorder_place(x.r, 4, 1, 2 * FILM_GOP, 2 * FILM_GOP);
        x.play(1, 2 * FILM_GOP, 3 * FILM_GOP, 0);
        CHECK(flow->sizes == 2);
        x.settle();
        CHECK(x.is_the_origins(1, 2));
    }
}
