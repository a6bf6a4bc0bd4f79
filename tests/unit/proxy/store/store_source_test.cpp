// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>
#include <uv.h>

#include "common/base/err.h"
#include "proxy/store/store.h"
#include "tests/unit/proxy/store/stored_copy.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{
struct open_film {
    temp_folder folder;
    std::string path = folder / "cache";
    uv_loop_t loop;
    store *s;
    store_film *film;

    explicit open_film(const sdp &description)
    {
        uv_loop_init(&loop);
        store_config config = {&loop, path.c_str(), 100 << 20, 0};
        s = store_new(&config);
        REQUIRE(s);
        film = store_open(s, "rtsp://origin.example/film", &description);
        REQUIRE(film);
    }
    ~open_film()
    {
        store_film_release(film);
        store_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    // What a source of these sizes says; empty levels: there is none.
    std::string validator(unsigned sizes, ladder *l = nullptr)
    {
        group_source *source = store_source_new(film, sizes);
        if (!source)
            return "none";
        const stored_info *info = source->ops->info(source);
        std::string text = info->validator;
        CHECK(text == info->sdp.validator);
        if (l)
            *l = info->sdp.ladder;
        source->ops->free(source);
        return text;
    }
};
} // namespace

TEST_CASE("store_source: the whole film has its validator, a part of it another one", "[threads]")
{
    open_film f(film_sdp("v"));
    ladder l;
    CHECK(f.validator(3, &l) == "v");
    CHECK(l.level_count == 4);
    CHECK(f.validator(1, &l) == "v sizes=1");
    CHECK(l.sizes[0].width == 64);
    CHECK(f.validator(2, &l) == "v sizes=2");
    CHECK(l.sizes[0].width == 128);
    REQUIRE(l.level_count == 2);
    CHECK(l.levels[1].size_id == 0);
    CHECK(l.levels[1].temporal_id == 1);
    CHECK(l.levels[1].bitrate_bps == 400000);
    CHECK(f.validator(4) == "none");
    CHECK(f.validator(0) == "none");
}

TEST_CASE("store_source: a part has no validator if its own groups would be others, or the text is "
          "too long",
          "[threads]")
{
    sdp description = film_sdp("v");
    description.ladder.sizes[1].fps = {5,
                                       1};  // with three layers the pattern repeats every 8 frames,
    description.ladder.sizes[1].layers = 3; // and 24 make a group; of size 0 alone 20 do
    description.duration = 7.2;
    open_film f(description);
    CHECK(f.validator(3) == "v");
    CHECK(f.validator(1).empty());
    CHECK(f.validator(2) == "v sizes=2");
    open_film g(film_sdp(std::string(SDP_MAX_VALIDATOR - 8, 'x').c_str()));
    CHECK(g.validator(3).size() == SDP_MAX_VALIDATOR - 8);
    CHECK(g.validator(1).empty());
}

TEST_CASE("store_source: a group is not read before it is verified", "[threads]")
{
    open_film f(film_sdp("v"));
    const stored_info *info = store_film_info(f.film);
    store_film_put(f.film, make_group(info, 0).get(), 1, false);
    while (store_film_pending(f.film))
        uv_run(&f.loop, UV_RUN_ONCE);
    REQUIRE(store_film_group(f.film, 1, 0) == GROUP_WHOLE);
    stored_bytes b = {};
    CHECK(store_film_read(f.film, 1, 0, &b) == ERR_NOT_FOUND);
    CHECK(b.data == nullptr);
    stored_digest d = digest_of(info, 0, 1);
    store_film_verify(f.film, 1, 0, &d); // its file may have either name now
    CHECK(store_film_read(f.film, 1, 0, &b) == 0);
    free(b.data);
}

TEST_CASE("store_source: a group that is not there is not read", "[threads]")
{
    open_film f(film_sdp("v"));
    for (int track : {1, (int)STORED_AUDIO_TRACK})
        store_film_put(f.film, make_group(store_film_info(f.film), 0).get(), track, false);
    while (store_film_pending(f.film))
        uv_run(&f.loop, UV_RUN_ONCE);
    group_source *source = store_source_new(f.film, 2);
    stored_group *g = nullptr;
    CHECK(source->ops->read(source, 1, ~0u, &g) == ERR_IO);
    CHECK(g == nullptr);
    CHECK(f.folder.logged().find("group 1 of the cache cannot be read") != std::string::npos);
    source->ops->free(source);
}
