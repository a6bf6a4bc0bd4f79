// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_media.h"

#include <string>

#include "tests/support/stored_film.hpp"

TEST_CASE("stored_media: the description of a prepared file")
{
    stored_film film;
    stream_media *m = stored_media_new(film.open(), true, true);
    REQUIRE(m);
    CHECK(std::string(m->title) == "a film");
    CHECK(m->kind == SDP_SOURCE_FILE);
    CHECK(m->duration == Approx(4));
    CHECK(m->audio_bps == 0);
    CHECK(m->ladder.sizes[0].width == 64);
    sdp description{};
    m->ops->describe(m, 0, &description);
    CHECK(std::string(description.sprop).find(',') != std::string::npos);
    CHECK(std::string(description.profile_level_id).size() == 6);
    m->ops->free(m);
}

TEST_CASE("stored_media: validator, and digests of the groups")
{
    stored_film film;
    uv_loop_t loop;
    uv_loop_init(&loop);
    stream_media *m = stored_media_new(film.open(), false, true);
    REQUIRE(m->ops->start(m, &loop) == 0);
    sdp description{};
    m->ops->describe(m, 0, &description);
    CHECK(std::string(description.validator).find("bytes=") == 0);
    stored_digest a, b;
    int err;
    while ((err = m->ops->digest(m, 0, 1, &a)) == ERR_AGAIN)
        uv_run(&loop, UV_RUN_ONCE);
    REQUIRE(err == 0);
    CHECK(m->ops->digest(m, 0, 1, &b) == 0); // it is kept
    CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    while ((err = m->ops->digest(m, 0, 0, &b)) == ERR_AGAIN)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK(memcmp(&a, &b, sizeof(a)) != 0);
    CHECK(m->ops->digest(m, 0, 2, &a) == ERR_NOT_FOUND);
    CHECK(m->ops->digest(m, 1, 0, &a) == ERR_NOT_FOUND);
    CHECK(m->ops->digest(m, STORED_AUDIO_TRACK, 0, &a) == ERR_NOT_FOUND); // it has none
    m->ops->free(m);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
