// SPDX-License-Identifier: GPL-2.0-or-later
// A stored ladder of 40 frames at 10 frames/s, in two groups of one layer (unless more are wanted),
// without audio, in a folder that is deleted with the object.
#ifndef WEIR_TESTS_STORED_FILM_HPP
#define WEIR_TESTS_STORED_FILM_HPP

#include <cstdio>
#include <unistd.h>
#include <vector>

#include "media/stored/stored_maker.h"
#include "media/stored/stored_mux.h"
#include "media/stored/stored_parts.h"
#include "server/stored/stored_cache.h"
#include "tests/support/coded_stream.hpp"
#include "tests/unit/temp_folder.hpp"

struct stored_film {
    static constexpr int FRAMES = 40, GROUP = FRAMES / 2;

    temp_folder folder;
    std::string path = folder / "film.weir.mkv";

    // `table`: is attached to it.
    explicit stored_film(int groups = 2, int layers = 1, const std::vector<uint8_t> &table = {})
    {
        const int frames = groups * GROUP;
        sdp description{};
        stored_plan plan;
        snprintf(description.title, sizeof(description.title), "a film");
        description.codec = SDP_H264;
        description.ext.adu = RTP_EXT_ADU_ID;
        description.ladder = one_size(64, 48, 10, layers, {{layers - 1, 100000}});
        REQUIRE(stored_plan_init(&plan, &description.ladder) == 0);
        REQUIRE(plan.gop == GROUP);
        std::string parts = folder / "parts";
        int lock = stored_parts_open(parts.c_str(), "a plan");
        REQUIRE(lock >= 0);
        stored_maker *maker =
            stored_maker_new(&description.ladder, &plan, SDP_H264, nullptr, parts.c_str(), 1);
        REQUIRE(maker);
        for (int group = 0; group < groups; group++) {
            picture *pictures[GROUP];
            for (int i = 0; i < GROUP; i++)
                pictures[i] = draw(description.ladder, 0, group * GROUP + i).release();
            REQUIRE(stored_maker_add(maker, group, pictures, GROUP) == 0);
        }
        REQUIRE(stored_maker_wait(maker) == 0);
        stored_maker_free(maker);
        description.duration = frames / 10.;
        stored_plan_end(&plan, &description.ladder, frames);
        const stored_mux mux = {&description,
                                &plan,
                                {1, 1, frames},
                                parts.c_str(),
                                groups,
                                0,
                                {},
                                path.c_str(),
                                table.empty() ? nullptr : table.data(),
                                table.size()};
        REQUIRE(stored_mux_run(&mux) == 0);
        close(lock);
    }
    stored_cache *open() const
    {
        int err;
        stored_cache *cache = stored_cache_new(path.c_str(), nullptr, &err);
        REQUIRE(cache);
        return cache;
    }
};

#endif
