// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_cache.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "common/base/err.h"

namespace
{

// Notes what is read; no group can be.
struct noting_source {
    group_source base; // first
    std::unique_ptr<stored_info> info = std::make_unique<stored_info>();
    std::vector<int64_t> *reads;
};

const group_source_ops noting_ops = [] {
    group_source_ops ops{};
    ops.info = [](const group_source *s) -> const stored_info * {
        return reinterpret_cast<const noting_source *>(s)->info.get();
    };
    ops.read = [](group_source *s, int64_t group, unsigned, stored_group **out) {
        reinterpret_cast<noting_source *>(s)->reads->push_back(group);
        *out = nullptr;
        return (int)ERR_IO;
    };
    ops.free = [](group_source *s) { delete reinterpret_cast<noting_source *>(s); };
    return ops;
}();

} // namespace

TEST_CASE("stored_cache: a viewer's group waits for two digests at most", "[threads]")
{
    std::vector<int64_t> reads;
    auto *source = new noting_source{};
    source->base.ops = &noting_ops;
    source->reads = &reads;
    source->info->sdp.ladder.size_count = 1;
    source->info->plan.gop = 10;
    source->info->origin.frames = 400;
    uv_loop_t loop;
    uv_loop_init(&loop);
    stored_cache *c = stored_cache_new_of(&source->base);
    REQUIRE(stored_cache_start(c, &loop) == 0);
    stored_digest d;
    for (int64_t group = 0; group < 30; group++)
        CHECK(stored_cache_digest(c, 0, group, &d) == ERR_AGAIN);
    bool broken = false;
    while (!broken) {
        CHECK(stored_cache_hold(c, 35, 1, &broken) == nullptr);
        if (!broken)
            uv_run(&loop, UV_RUN_ONCE);
    }
    CHECK(reads == std::vector<int64_t>{0, 1, 35});
    CHECK(stored_cache_digest(c, 0, 1, &d) == ERR_IO);
    int err;
    while ((err = stored_cache_digest(c, 0, 20, &d)) == ERR_AGAIN) // others have their turn now
        uv_run(&loop, UV_RUN_ONCE);
    CHECK(err == ERR_IO);
    stored_cache_free(c);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
