// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/file_source.h"

#include "common/base/err.h"
#include "tests/support/stored_film.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{
struct guard {
    media_guard *g = media_guard_new(USEC_NEVER);
    ~guard()
    {
        media_guard_unref(g);
    }
};
} // namespace

TEST_CASE("file_source: the groups of a prepared file")
{
    stored_film film;
    guard of;
    int err = 0;
    group_source *s = file_source_open(film.path.c_str(), of.g, &err);
    REQUIRE(s);
    const stored_info *info = s->ops->info(s);
    CHECK(info->origin.frames == stored_film::FRAMES);
    CHECK(std::string(info->validator).find("bytes=") == 0);
    int64_t frames = 0;
    for (int64_t i = 0; i < stored_info_groups(info); i++) {
        stored_group *g = nullptr;
        REQUIRE(s->ops->read(s, i, ~0u, &g) == 0);
        CHECK(g->index == i);
        CHECK(g->at[0][0]->key);
        frames += g->frames;
        stored_group_free(g);
    }
    CHECK(frames == stored_film::FRAMES);
    s->ops->free(s);
}

TEST_CASE("file_source: a file that is none")
{
    temp_folder folder;
    guard of;
    int err = 0;
    CHECK_FALSE(file_source_open(folder.write("a.weir.mkv", "text").c_str(), of.g, &err));
    CHECK(err == ERR_UNSUPPORTED);
    CHECK_FALSE(file_source_open((folder / "none.weir.mkv").c_str(), of.g, &err));
    CHECK(err == ERR_NOT_FOUND);
}
