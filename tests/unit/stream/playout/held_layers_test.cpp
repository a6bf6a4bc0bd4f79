// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/held_layers.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"

namespace
{

received_frame *layer(int64_t number, int size_id, size_t bytes = 10)
{
    auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
    f->number = number;
    f->size_id = size_id;
    f->on_lower = size_id > 0;
    f->bytes = bytes;
    return f;
}

struct layers {
    held_layers h{};
    ~layers()
    {
        held_layers_drop_all(&h);
    }
    int add(int64_t number, int size_id, size_t bytes = 10)
    {
        received_frame *f = layer(number, size_id, bytes);
        int err = held_layers_add(&h, f);
        if (err)
            received_frame_free(f);
        return err;
    }
    // The sizes of the joined picture.
    std::string join(int64_t number)
    {
        received_frame *f = layer(number, 0);
        held_layers_join(&h, f);
        std::string sizes;
        for (const received_frame *one = f; one; one = one->upper) {
            CHECK(one->number == number);
            sizes += std::to_string(one->size_id);
        }
        received_frame_free(f);
        return sizes;
    }
};

} // namespace

TEST_CASE("held_layers: a picture is joined up to its first missing layer")
{
    struct {
        const char *what;
        std::vector<std::pair<int64_t, int>> held;
        const char *joined; // of picture 5
        size_t left;        // bytes
    } const rows[] = {
        {"none", {}, "0", 0},
        {"all", {{5, 1}, {5, 2}, {5, 3}}, "0123", 0},
        {"in any order", {{5, 3}, {5, 1}, {5, 2}}, "0123", 0},
        {"one is missing", {{5, 1}, {5, 3}}, "01", 0},
        {"the first is missing", {{5, 2}, {5, 3}}, "0", 0},
        {"of other pictures", {{4, 1}, {6, 1}, {5, 1}, {6, 2}, {3, 2}}, "01", 20},
    };
    for (const auto &row : rows) {
        INFO(row.what);
        layers l;
        for (const auto &one : row.held)
            CHECK(l.add(one.first, one.second) == 0);
        CHECK(held_layers_bytes(&l.h) == 10 * row.held.size());
        CHECK(l.join(5) == row.joined);
        CHECK(held_layers_bytes(&l.h) == row.left);
    }
}

TEST_CASE("held_layers: which sizes of a picture are there")
{
    layers l;
    l.add(5, 1);
    l.add(5, 2);
    l.add(6, 2);
    CHECK(held_layers_has(&l.h, 5, 0));
    CHECK(held_layers_has(&l.h, 5, 1));
    CHECK(held_layers_has(&l.h, 5, 2));
    CHECK_FALSE(held_layers_has(&l.h, 5, 3));
    CHECK_FALSE(held_layers_has(&l.h, 6, 2));
    CHECK_FALSE(held_layers_has(&l.h, 4, 1));
    held_layers_drop_below(&l.h, 6);
    CHECK_FALSE(held_layers_has(&l.h, 5, 1));
    CHECK(held_layers_bytes(&l.h) == 10);
}

TEST_CASE("held_layers: duplicates and what does not fit are refused")
{
    layers l;
    CHECK(l.add(5, 1) == 0);
    CHECK(l.add(5, 1) == ERR_RANGE);
    CHECK(l.add(6, 1, HELD_LAYERS_MAX_BYTES) == ERR_FULL);
    for (int64_t n = 6; n < 5 + HELD_LAYERS_MAX; n++)
        REQUIRE(l.add(n, 1) == 0);
    CHECK(l.add(1, 1) == ERR_FULL);
    held_layers_drop_below(&l.h, 7);
    CHECK(l.add(7, 2) == 0);
}

TEST_CASE("held_layers: any order of layers joins what a set would")
{
    rng r = rng_seeded(7);
    for (int round = 0; round < 200; round++) {
        layers l;
        bool held[20][8] = {};
        for (int i = 0; i < 100; i++) {
            int n = (int)rng_below(&r, 20), size = 1 + (int)rng_below(&r, 7);
            CHECK((l.add(n, size) == 0) == !held[n][size]);
            held[n][size] = true;
        }
        for (int n = 0; n < 20; n += 1 + (int)rng_below(&r, 3)) {
            std::string expected = "0";
            for (int size = 1; size < 8 && held[n][size]; size++)
                expected += std::to_string(size);
            REQUIRE(l.join(n) == expected);
        }
    }
}
