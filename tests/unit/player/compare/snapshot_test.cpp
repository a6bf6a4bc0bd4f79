// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <string>

#include "player/compare/snapshot.h"
#include "tests/unit/temp_folder.hpp"

TEST_CASE("snapshot: success and failure are reported")
{
    temp_folder folder;
    auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path);
    std::filesystem::create_directory("weir-snapshot-8.png"); // in the way of the second one
    uv_loop_t loop;
    REQUIRE(uv_loop_init(&loop) == 0);
    picture *p = picture_new(16, 16);
    REQUIRE(p);
    for (int i = 0; i < 3; i++)
        memset(p->plane[i], 128, (size_t)p->stride[i] * (i ? 8 : 16));
    std::string told;
    auto done = [](void *ctx, const char *name, bool written) {
        *static_cast<std::string *>(ctx) += std::string(name) + (written ? " written\n" : " not\n");
    };
    for (int64_t number : {7, 8}) {
        p->number = number;
        snapshot_take(&loop, p, done, &told);
        uv_run(&loop, UV_RUN_DEFAULT);
    }
    CHECK(told == "weir-snapshot-7.png written\nweir-snapshot-8.png not\n");
    CHECK(folder.read("weir-snapshot-7.png").substr(1, 3) == "PNG");
    CHECK(p->references == 1);
    picture_unref(p);
    CHECK(uv_loop_close(&loop) == 0);
    std::filesystem::current_path(before);
}
