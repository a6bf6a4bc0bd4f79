// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/stored_track.h"

#include <algorithm>
#include <vector>

#include "common/base/err.h"
#include "tests/unit/proxy/store/stored_copy.hpp"

namespace
{

std::vector<int64_t> missing_of(const stored_info &info, int64_t group, int track, stored_bytes b)
{
    std::vector<int64_t> out;
    stored_track_missing(
        &info, group, track, b,
        [](void *ctx, int64_t frame) {
            static_cast<std::vector<int64_t> *>(ctx)->push_back(frame);
        },
        &out);
    CHECK(stored_track_is_whole(&info, group, track, b) == out.empty());
    return out;
}

stored_bytes written(const stored_info &info, const stored_group *g, int track)
{
    stored_bytes b;
    REQUIRE(stored_track_write(&info, g, track, &b) == 0);
    return b;
}

bool same(stored_bytes a, stored_bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

void remove_audio(stored_group *g, int at, int count)
{
    for (int i = at; i < at + count; i++)
        coded_audio_unref(g->audio[i]);
    memmove(&g->audio[at], &g->audio[at + count],
            sizeof(*g->audio) * (size_t)(g->audio_count - at - count));
    g->audio_count -= count;
}

} // namespace

TEST_CASE("stored_track: what is written is read, and what is missing is listed")
{
    static stored_info info = film_info();
    for (int64_t group : {0, 1, FILM_GROUPS - 1})
        for (int track : {0, 1, (int)STORED_AUDIO_TRACK}) {
            CAPTURE(group, track);
            group_ptr g = make_group(&info, group);
            stored_bytes b = written(info, g.get(), track);
            CHECK(missing_of(info, group, track, b).empty());
            group_ptr back(static_cast<stored_group *>(calloc(1, sizeof(stored_group))),
                           stored_group_free);
            back->index = group;
            back->frames = g->frames;
            REQUIRE(stored_track_read(&info, b, track, back.get()) == 0);
            stored_bytes again = written(info, back.get(), track);
            CHECK(same(b, again));
            free(b.data);
            free(again.data);
        }
    CHECK(missing_of(info, 1, 0, {}).size() == FILM_GOP);
    CHECK(missing_of(info, 1, STORED_AUDIO_TRACK, {}).size() == FILM_GOP);
}

TEST_CASE("stored_track: two parts join to the whole")
{
    static stored_info info = film_info();
    group_ptr g = make_group(&info, 1), h = make_group(&info, 1);
    stored_bytes whole = written(info, g.get(), 1);
    for (int place = 0; place < FILM_GOP; place++) {
        auto *from = place % 3 ? g.get() : h.get();
        coded_frame_unref(from->at[1][place]);
        from->at[1][place] = nullptr;
    }
    stored_bytes a = written(info, g.get(), 1), b = written(info, h.get(), 1), joined;
    CHECK(missing_of(info, 1, 1, b) == std::vector<int64_t>{20, 23, 26, 29, 32, 35, 38});
    REQUIRE(stored_track_merge(1, a, b, &joined) == 0);
    CHECK(same(whole, joined));
    free(joined.data);
    REQUIRE(stored_track_merge(1, whole, b, &joined) == 0); // nothing new
    CHECK(same(whole, joined));
    for (stored_bytes x : {whole, a, b, joined})
        free(x.data);
}

TEST_CASE("stored_track: missing audio is named by the frames that it is heard with")
{
    static stored_info info = film_info(); // a frame has 4800 samples: 5 packets
    const struct {
        int64_t group;
        int at, count;
        std::vector<int64_t> frames;
    } rows[] = {
        {1, 0, 5, {20}},   // from the beginning
        {1, 7, 1, {21}},   // the eighth packet: 6720 after 96000
        {1, 95, 5, {39}},  // the end
        {0, 0, 6, {0, 1}}, // with the one before 0
        {3, 45, 5, {}},    // the audio may end before the film
    };
    for (auto &row : rows) {
        CAPTURE(row.group, row.at);
        group_ptr g = make_group(&info, row.group);
        remove_audio(g.get(), row.at, row.count);
        stored_bytes b = written(info, g.get(), STORED_AUDIO_TRACK);
        auto missing = missing_of(info, row.group, STORED_AUDIO_TRACK, b);
        for (int64_t frame : row.frames)
            CHECK(std::find(missing.begin(), missing.end(), frame) != missing.end());
        CHECK(missing.size() <= row.frames.size() + 1);
        CHECK(missing.empty() == row.frames.empty());
        free(b.data);
    }
}

TEST_CASE("stored_track: bytes that break the format or the plan are refused")
{
    static stored_info info = film_info();
    group_ptr g = make_group(&info, 0);
    stored_bytes b = written(info, g.get(), 0);
    auto read = [&](stored_bytes from) {
        group_ptr back(static_cast<stored_group *>(calloc(1, sizeof(stored_group))),
                       stored_group_free);
        back->frames = FILM_GOP;
        return stored_track_read(&info, from, 0, back.get());
    };
    CHECK(read(b) == 0);
    CHECK(read({b.data, b.len - 1}) == ERR_MALFORMED);
    CHECK(read({b.data, 3}) == ERR_MALFORMED);
    b.data[1] = 200; // a place beyond the group
    CHECK(read(b) == ERR_MALFORMED);
    b.data[1] = 0;
    b.data[2] = 0x7f; // a length beyond the bytes
    CHECK(read(b) == ERR_MALFORMED);
    b.data[2] = 0;
    b.data[8] = 7; // no start code
    CHECK(read(b) == ERR_MALFORMED);
    stored_bytes joined;
    CHECK(stored_track_merge(0, {b.data, 3}, b, &joined) == ERR_MALFORMED);
    free(b.data);
}
