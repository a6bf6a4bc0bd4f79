// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cassert>
#include <vector>

#include "common/base/err.h"
#include "media/record/policy/record_parse.h"

using bytes = std::vector<uint8_t>;

static bytes operator+(bytes a, const bytes &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// An element with a size of one byte.
static bytes element(const bytes &id, const bytes &body)
{
    assert(body.size() < 127);
    return id + bytes{(uint8_t)(0x80 | body.size())} + body;
}

static const bytes ebml = {0x1A, 0x45, 0xDF, 0xA3}, segment = {0x18, 0x53, 0x80, 0x67},
                   info = {0x15, 0x49, 0xA9, 0x66}, cluster = {0x1F, 0x43, 0xB6, 0x75},
                   tracks = {0x16, 0x54, 0xAE, 0x6B};
// 2001-01-01 and 1.5 s, in ns
static const bytes date = element({0x44, 0x61}, {0, 0, 0, 0, 0x59, 0x68, 0x2F, 0x00});
static const bytes scale = element({0x2A, 0xD7, 0xB1}, {0x0F, 0x42, 0x40});
static const bytes unknown = {0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

static bytes head()
{
    return element(ebml, {1, 2, 3}) + segment + unknown + element(info, scale + date) +
           element(tracks, bytes(40));
}

static bytes block(int track, int msec, uint8_t flags, const bytes &data)
{
    return element(
        {0xA3}, bytes{(uint8_t)(0x80 | track), (uint8_t)(msec >> 8), (uint8_t)msec, flags} + data);
}

static const bytes time_2000 = element({0xE7}, {0x07, 0xD0});

TEST_CASE("record parse: the head")
{
    bytes file = head() + cluster + bytes{0x80};
    struct record_head h;
    REQUIRE(record_head_parse(file.data(), file.size(), &h) == 0);
    CHECK(h.bytes == head().size());
    CHECK(h.wall == 978307200 * USEC_PER_SEC + 1500 * USEC_PER_MSEC);
    for (size_t len = 0; len < head().size() + 5; len++)
        CHECK(record_head_parse(file.data(), len, &h) == ERR_AGAIN);
}

TEST_CASE("record parse: heads that are none")
{
    struct record_head h;
    const bytes bad[] = {
        bytes(64),
        segment + unknown + element(info, scale + date) + cluster + bytes{0x80},
        element(ebml, {}) + segment + unknown + cluster + bytes{0x80}, // no Info
        element(ebml, {}) + segment + unknown + element(info, scale) + cluster + bytes{0x80},
        element(ebml, {}) + segment + unknown +
            element(info, element({0x2A, 0xD7, 0xB1}, {1}) + date) + cluster + bytes{0x80},
        element(ebml, {}) + segment + unknown + tracks + bytes{0x08, 0xFF, 0xFF, 0xFF, 0xFF},
    };
    for (const bytes &b : bad)
        CHECK(record_head_parse(b.data(), b.size(), &h) == ERR_MALFORMED);
}

TEST_CASE("record parse: a cluster and its blocks")
{
    struct record_cluster_head h;
    bytes checked =
        element(cluster, element({0xBF}, {1, 2, 3, 4}) + time_2000 + block(1, 0, 0, {}));
    REQUIRE(record_cluster_parse(checked.data(), checked.size(), &h) == 0);
    CHECK(h.time == 2 * USEC_PER_SEC);
    CHECK(checked[h.head] == 0xA3);

    bytes group = element({0xA0}, element({0xA1}, {0x81, 0, 40, 0, 9}) + element({0xFB}, {0x11}));
    bytes body = time_2000 + element({0xEC}, {0, 0}) + block(2, 0, 0x80, {5}) +
                 block(1, 33, 0x80, {1, 2, 3}) + group + block(1, -1, 0, {});
    bytes c = element(cluster, body);
    REQUIRE(record_cluster_parse(c.data(), c.size(), &h) == 0);
    CHECK(h.bytes == c.size());
    CHECK(h.time == 2 * USEC_PER_SEC);
    for (size_t len = 0; len < 9; len++)
        CHECK(record_cluster_parse(c.data(), len, &h) == ERR_AGAIN);

    REQUIRE(record_cluster_parse(c.data(), RECORD_CLUSTER_HEAD, &h) == 0);
    size_t at = h.head;
    struct record_block b;
    REQUIRE(record_block_next(c.data(), c.size(), &at, &b) == 1);
    CHECK((b.track == RECORD_AUDIO_TRACK && b.key && b.time == 0 && b.len == 1 && *b.data == 5));
    REQUIRE(record_block_next(c.data(), c.size(), &at, &b) == 1);
    CHECK((b.track == RECORD_VIDEO_TRACK && b.key && b.time == 33000 && b.len == 3));
    REQUIRE(record_block_next(c.data(), c.size(), &at, &b) == 1);
    CHECK((b.track == 1 && !b.key && b.time == 40000 && b.len == 1 && *b.data == 9));
    REQUIRE(record_block_next(c.data(), c.size(), &at, &b) == 1);
    CHECK((b.time == -1000 && !b.key && b.len == 0));
    CHECK(record_block_next(c.data(), c.size(), &at, &b) == 0);

    for (size_t len = h.head + 1; len < c.size(); len++) { // in an allocation of its own
        bytes part(c.begin(), c.begin() + (long)len);
        at = h.head;
        int got;
        while ((got = record_block_next(part.data(), part.size(), &at, &b)) == 1)
            CHECK(b.data + b.len <= part.data() + part.size());
        CHECK((got == 0 || got == ERR_MALFORMED));
    }
}

TEST_CASE("record parse: clusters that begin with a key frame")
{
    const struct {
        bytes body;
        bool key;
    } rows[] = {{block(1, 0, 0x80, bytes(50)), true},
                {block(2, 0, 0x80, {1}) + block(1, 5, 0x80, bytes(50)), true},
                {block(2, 0, 0x80, {1}) + block(1, 5, 0, bytes(50)), false},
                {block(1, 0, 0, bytes(20)) + block(1, 5, 0x80, bytes(20)), false},
                {block(2, 0, 0x80, {1}), false}};
    for (const auto &row : rows) {
        bytes c = element(cluster, time_2000 + row.body);
        struct record_cluster_head h;
        REQUIRE(record_cluster_parse(c.data(), c.size(), &h) == 0);
        CHECK(record_cluster_is_key(c.data(), c.size(), &h) == row.key);
        if (row.key) // the frame's end is not needed
            CHECK(record_cluster_is_key(c.data(), c.size() - 20, &h));
        for (size_t len = h.head; len < c.size(); len++) {
            bytes part(c.begin(), c.begin() + (long)len);
            CHECK((!record_cluster_is_key(part.data(), part.size(), &h) || row.key));
        }
    }
}

TEST_CASE("record parse: what is no cluster")
{
    struct record_cluster_head h;
    size_t at = 0;
    struct record_block b;
    const bytes bad[] = {element({0x1C, 0x53, 0xBB, 0x6B}, bytes(20)), // Cues
                         cluster + unknown + time_2000, element(cluster, block(1, 0, 0, {1})),
                         bytes(20)};
    for (const bytes &c : bad)
        CHECK(record_cluster_parse(c.data(), c.size(), &h) == ERR_MALFORMED);
    bytes laced = block(1, 0, 0x02, {1, 2});
    CHECK(record_block_next(laced.data(), laced.size(), &at, &b) == ERR_MALFORMED);
}

TEST_CASE("record parse: searches for a cluster")
{
    bytes data = bytes(100) + cluster + bytes(10) + cluster;
    CHECK(record_cluster_search(data.data(), data.size(), 0) == 100);
    CHECK(record_cluster_search(data.data(), data.size(), 101) == 114);
    CHECK(record_cluster_search(data.data(), data.size(), 115) == data.size());
    CHECK(record_cluster_search(data.data(), 3, 0) == 3);
}
