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

// A table of the film of two groups whose sizes are all `bytes`.
std::vector<uint8_t> table_of(int64_t groups, uint64_t bytes)
{
    const film_shape shape = {1, groups, stored_film::GROUP, stored_film::GROUP, {10, 1}, true};
    film_table *t;
    REQUIRE(film_table_new(&shape, &t) == 0);
    for (int64_t g = 0; g < groups; g++)
        REQUIRE(film_table_set(t, g, 0, bytes, 150) == 0);
    std::vector<uint8_t> out(film_table_encoded_bytes(t));
    film_table_encode(t, out.data());
    film_table_free(t);
    return out;
}
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

TEST_CASE("file_source: the table of a prepared file, and those that are not used")
{
    const struct {
        const char *what;
        std::vector<uint8_t> table;
        bool used;
    } rows[] = {{"none", {}, false},
                {"its own", table_of(2, 20480), true},
                {"of another film", table_of(3, 20480), false},
                {"four times the ladder's rate", table_of(2, 120000), false},
                {"no table", {'W', 'F', 'T', 1, 0, 0}, false}};
    for (const auto &row : rows) {
        CAPTURE(row.what);
        stored_film film(2, 1, row.table);
        guard of;
        int err = 0;
        group_source *s = file_source_open(film.path.c_str(), of.g, &err);
        REQUIRE(s);
        CHECK(stored_info_groups(s->ops->info(s)) == 2);
        const film_table *t = nullptr;
        REQUIRE(s->ops->table(s, &t) == (row.used ? 0 : ERR_NOT_FOUND));
        if (row.used) {
            CHECK(film_table_bytes(t, 1, 0) == Approx(20480).epsilon(0.023));
            CHECK(film_table_quality(t, 1, 0) == 150);
        }
        s->ops->free(s);
    }
}
