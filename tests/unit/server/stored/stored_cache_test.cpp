// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_cache.h"

#include <algorithm>
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

namespace
{

// A source that is being filled: some sizes of some groups are there.
struct filled_source {
    group_source base; // first
    std::unique_ptr<stored_info> info = std::make_unique<stored_info>();
    std::vector<std::pair<int64_t, unsigned>> needed, reads;
    unsigned there[4] = {};
    bool fails = false, damaged = false;
    int damage = ERR_AGAIN;

    static filled_source *of(const group_source *s)
    {
        return reinterpret_cast<filled_source *>(const_cast<group_source *>(s));
    }
};

const group_source_ops filled_ops = [] {
    group_source_ops ops{};
    ops.info = [](const group_source *s) -> const stored_info * {
        return filled_source::of(s)->info.get();
    };
    ops.need = [](group_source *s, int64_t group, unsigned *sizes) {
        filled_source *f = filled_source::of(s);
        f->needed.push_back({group, *sizes});
        *sizes &= f->there[group];
        return *sizes || !f->fails ? 0 : (int)ERR_IO;
    };
    ops.digest = [](group_source *, int track, int64_t group, stored_digest *out) {
        out->bytes[0] = (uint8_t)(10 * track + group);
        return group == 3 ? (int)ERR_AGAIN : 0;
    };
    ops.read = [](group_source *s, int64_t group, unsigned sizes, stored_group **out) {
        filled_source *f = filled_source::of(s);
        f->reads.push_back({group, sizes});
        *out = f->damaged ? nullptr : (stored_group *)calloc(1, sizeof(stored_group));
        if (*out)
            (*out)->index = group;
        return *out ? 0 : f->damage;
    };
    ops.free = [](group_source *s) { (void)s; };
    return ops;
}();

} // namespace

TEST_CASE("stored_cache: a source that is being filled", "[threads]")
{
    filled_source source;
    source.base.ops = &filled_ops;
    source.info->sdp.ladder.size_count = 2;
    source.info->plan.gop = 10;
    source.info->origin.frames = 40;
    uv_loop_t loop;
    uv_loop_init(&loop);
    stored_cache *c = stored_cache_new_of(&source.base);
    REQUIRE(stored_cache_start(c, &loop) == 0);
    int changes = 0;
    stored_waiter waiter = {[](void *ctx, usec_t) { ++*static_cast<int *>(ctx); }, &changes,
                            nullptr};
    stored_cache_join(c, &waiter);
    auto hold = [&](int64_t group, unsigned sizes) {
        bool broken;
        const stored_group *g = stored_cache_hold(c, group, sizes, &broken);
        CHECK_FALSE(broken);
        int before = changes;
        while (!g && changes == before)
            uv_run(&loop, UV_RUN_ONCE);
        return g ? g : stored_cache_hold(c, group, sizes, &broken);
    };
    bool broken;
    // Nothing is there: it is not read, and can be asked for again.
    CHECK(stored_cache_hold(c, 0, 1, &broken) == nullptr);
    CHECK_FALSE(broken);
    CHECK(source.needed == std::vector<std::pair<int64_t, unsigned>>{{0, 1}});
    CHECK(source.reads.empty());
    // One of two sizes is there, then both.
    source.there[0] = 2;
    const stored_group *one = hold(0, 3);
    REQUIRE(one);
    CHECK(hold(0, 2) == one);
    source.there[0] = 3;
    const stored_group *both = hold(0, 3);
    REQUIRE(both);
    CHECK(both != one);
    CHECK(source.reads == std::vector<std::pair<int64_t, unsigned>>{{0, 2}, {0, 3}});
    for (const stored_group *g : {one, one, both})
        stored_cache_drop(c, g);
    // A damaged one is needed again; what never comes is broken.
    source.there[1] = 1;
    source.damaged = true;
    CHECK(hold(1, 1) == nullptr);
    source.damaged = false;
    CHECK(hold(1, 1) != nullptr);
    // One that is there but cannot be read is broken: else it would be read again for ever.
    source.there[3] = 1;
    source.damaged = true;
    source.damage = ERR_IO;
    for (broken = false; !broken && !stored_cache_hold(c, 3, 1, &broken);)
        if (!broken)
            uv_run(&loop, UV_RUN_ONCE);
    CHECK(broken);
    CHECK(std::count(source.reads.begin(), source.reads.end(),
                     std::pair<int64_t, unsigned>{3, 1}) == 1);
    source.damaged = false;
    source.fails = true;
    CHECK(stored_cache_hold(c, 2, 1, &broken) == nullptr);
    CHECK(broken);
    // Digests are not read.
    stored_digest d;
    size_t reads = source.reads.size();
    CHECK(stored_cache_digest(c, 1, 2, &d) == 0);
    CHECK(d.bytes[0] == 12);
    CHECK(stored_cache_digest(c, 0, 3, &d) == ERR_AGAIN);
    CHECK(stored_cache_digest(c, 2, 0, &d) == ERR_NOT_FOUND);
    CHECK(source.reads.size() == reads);
    stored_cache_leave(c, &waiter);
    stored_cache_free(c);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("stored_cache: what many viewers want in advance stays until they take it", "[threads]")
{
    enum { VIEWERS = 40, GROUPS = 2 * VIEWERS }; // more than STORED_CACHE_SPARE
    std::vector<int64_t> reads;
    static const group_source_ops ops = [] {
        group_source_ops made = noting_ops;
        made.read = [](group_source *s, int64_t group, unsigned, stored_group **out) {
            reinterpret_cast<noting_source *>(s)->reads->push_back(group);
            *out = static_cast<stored_group *>(calloc(1, sizeof(stored_group)));
            (*out)->index = group;
            return 0;
        };
        return made;
    }();
    auto *source = new noting_source{};
    source->base.ops = &ops;
    source->reads = &reads;
    source->info->sdp.ladder.size_count = 1;
    source->info->plan.gop = 10;
    source->info->origin.frames = 10 * GROUPS;
    uv_loop_t loop;
    uv_loop_init(&loop);
    stored_cache *c = stored_cache_new_of(&source->base);
    REQUIRE(stored_cache_start(c, &loop) == 0);
    std::vector<stored_waiter> viewers(VIEWERS,
                                       stored_waiter{[](void *, usec_t) {}, nullptr, nullptr});
    for (stored_waiter &w : viewers)
        stored_cache_join(c, &w);
    auto hold = [&](int64_t group) {
        bool broken;
        const stored_group *g;
        while (!(g = stored_cache_hold(c, group, 1, &broken)))
            uv_run(&loop, UV_RUN_ONCE);
        return g;
    };
    std::vector<const stored_group *> held;
    for (int64_t i = 0; i < VIEWERS; i++) {
        held.push_back(hold(2 * i));
        stored_cache_want(c, 2 * i + 1, 1);
    }
    for (int64_t i = 0; i < VIEWERS; i++) {
        held.push_back(hold(2 * i + 1));
        stored_cache_drop(c, held[(size_t)i]);
    }
    CHECK(reads.size() == GROUPS); // each once
    for (size_t i = VIEWERS; i < held.size(); i++)
        stored_cache_drop(c, held[i]);
    for (stored_waiter &w : viewers)
        stored_cache_leave(c, &w);
    stored_cache_free(c);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
