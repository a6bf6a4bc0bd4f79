// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_table.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "media/stored/stored_file.h"
#include "tests/support/stored_film.hpp"

namespace
{
struct made {
    stored_film film{3, 2};
    stored_file *file = nullptr;
    const stored_info *info = nullptr;
    std::string parts = film.folder / "parts";
    film_table *t = nullptr;

    made()
    {
        int err;
        file = stored_file_open(film.path.c_str(), nullptr, &err);
        REQUIRE(file);
        info = stored_file_info(file);
    }
    ~made()
    {
        film_table_free(t);
        stored_file_free(file);
    }
    made(const made &) = delete;
    made &operator=(const made &) = delete;
    int run(const ladder &l)
    {
        return prepare_table(&l, &info->plan, parts.c_str(), info->origin.frames, &t);
    }
};

// Replaces a part by what `keep` leaves of it.
template <class Keep> void rewrite(const std::string &folder, int64_t part, Keep keep)
{
    stored_record r;
    uint8_t *data;
    FILE *in = stored_part_read(folder.c_str(), part),
         *out = stored_part_begin(folder.c_str(), part);
    REQUIRE(in);
    REQUIRE(out);
    while (stored_part_next(in, &r, &data) == 0) {
        if (keep(r))
            REQUIRE(stored_part_put(out, &r, data) == 0);
        free(data);
    }
    fclose(in);
    REQUIRE(stored_part_end(out, folder.c_str(), part, true) == 0);
}
} // namespace

TEST_CASE("prepare_table: the bytes of each level's frames, and how it looks")
{
    made m;
    ladder l = m.info->sdp.ladder;
    l.level_count = 2; // its base layer alone, and all of it
    l.levels[1] = l.levels[0];
    l.levels[0].temporal_id = 0;
    // The quality in the parts is that of the ladder that they were made with, of one level.
    REQUIRE(m.run(l) == 0);
    CHECK_FALSE(film_table_shape(m.t)->has_quality);
    for (int64_t i = 0; i < 3; i++) {
        stored_group *g;
        REQUIRE(stored_file_read(m.file, i, &g) == 0);
        double bytes[2] = {0, 0};
        for (int at = 0; at < g->frames; at++)
            for (int level = 0; level < 2; level++)
                if (g->at[0][at] && g->at[0][at]->temporal_id <= level)
                    bytes[level] += (double)g->at[0][at]->bytes;
        for (int level = 0; level < 2; level++)
            CHECK((double)film_table_bytes(m.t, i, level) ==
                  Approx(std::max(bytes[level], 1024.)).epsilon(0.03));
        stored_group_free(g);
    }
}

TEST_CASE("prepare_table: quality is left out if a part of an older version has none")
{
    made m;
    REQUIRE(m.run(m.info->sdp.ladder) == 0);
    CHECK(film_table_shape(m.t)->has_quality);
    for (int64_t g = 0; g < 3; g++)
        CHECK(film_table_quality(m.t, g, 0) > 60); // dB / 10: SSIM above .75
    film_table_free(m.t);
    m.t = nullptr;
    rewrite(m.parts, 2, [](const stored_record &r) { return r.track != STORED_QUALITY; });
    REQUIRE(m.run(m.info->sdp.ladder) == 0);
    CHECK_FALSE(film_table_shape(m.t)->has_quality);
    CHECK(film_table_shape(m.t)->groups == 3);
}

TEST_CASE("prepare_table: a part that is not there, or has no frame")
{
    made m;
    rewrite(m.parts, 1, [](const stored_record &) { return false; });
    CHECK(m.run(m.info->sdp.ladder) != 0);
    CHECK_FALSE(m.t);
    unlink((m.parts + "/000001").c_str());
    CHECK(m.run(m.info->sdp.ladder) == ERR_IO);
}
