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
