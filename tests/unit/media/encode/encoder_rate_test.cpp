// SPDX-License-Identifier: GPL-2.0-or-later
// The promise for each level: over any 2 s its bytes are within 10 % of its bitrate.
#include "tests/support/coded_stream.hpp"

namespace
{

struct sent {
    int64_t number;
    int temporal_id;
    bool key;
    size_t bytes;
};

struct script {
    std::vector<int64_t> keys = {}; // requested before these frames
    int64_t cut_every = 0;          // scene changes, frames
    int64_t rate_at = -1;           // set_bitrate before this frame ...
    int rate_bps = 0;               // ... to this
};

std::vector<sent> run(encoder *e, const ladder &l, int size_id, int64_t frames, const script &how)
{
    std::vector<sent> all;
    for (int64_t n = 0; n < frames; n++) {
        if (size_index_of_frame(l.sizes[size_id].fps, l.source_fps, n) < 0)
            continue;
        for (int64_t k : how.keys)
            if (k == n)
                encoder_request_key(e, -1);
        if (n == how.rate_at)
            encoder_set_bitrate(e, how.rate_bps);
        int scene = how.cut_every ? (int)(n / how.cut_every) : 0;
        frame_ptr f = encode(e, l, size_id, n, scene);
        if (f)
            all.push_back({n, f->temporal_id, f->key, f->bytes});
    }
    return all;
}

struct share {
    double lowest = 1e9;
    double highest = 0;
};

// The fraction of the bitrate in each window of 2 s within the frames from .. end.
share windows(const std::vector<sent> &all, const ladder &l, int tid, double bps, int64_t from,
              int64_t end)
{
    int64_t two_seconds = 2 * l.source_fps.num / l.source_fps.den;
    share s;
    for (int64_t start = from; start + two_seconds <= end; start++) {
        double bits = 0;
        for (const sent &f : all)
            if (f.temporal_id <= tid && f.number >= start && f.number < start + two_seconds)
                bits += 8.0 * (double)f.bytes;
        s.lowest = std::min(s.lowest, bits / (2 * bps));
        s.highest = std::max(s.highest, bits / (2 * bps));
    }
    return s;
}

void check_levels(const std::vector<sent> &all, const ladder &l, int64_t from, int64_t end,
                  double scale = 1)
{
    for (int i = 0; i < l.level_count; i++) {
        share s =
            windows(all, l, l.levels[i].temporal_id, scale * l.levels[i].bitrate_bps, from, end);
        INFO("level of " << l.levels[i].bitrate_bps << " bit/s: " << s.lowest << " .. "
                         << s.highest);
        CHECK(s.highest <= 1.10);
        CHECK(s.lowest >= 0.90);
    }
}

} // namespace

TEST_CASE("each level keeps its bitrate over any 2 s, with key frames at unfavourable times",
          "[long]")
{
    struct {
        int width, height, rate, layers;
        std::vector<std::pair<int, int>> levels;
        int seconds;
    } table[] = {
        {256, 144, 15, 2, {{0, 80000}, {1, 120000}}, 24},
        {256, 144, 15, 3, {{1, 80000}, {2, 120000}}, 12},
        {426, 240, 30, 2, {{0, 240000}, {1, 320000}}, 8},
        {640, 360, 30, 2, {{0, 640000}, {1, 960000}}, 5},
        {640, 360, 30, 3, {{0, 480000}, {1, 700000}, {2, 960000}}, 4},
        {1280, 720, 30, 2, {{1, 1920000}}, 3},
    };
    for (auto &row : table) {
        INFO(row.width << "x" << row.height << " layers " << row.layers);
        ladder l = one_size(row.width, row.height, row.rate, row.layers, row.levels);
        encoder_ptr e = make_encoder(l);
        // Two key frames in short succession, one right after the first frame, then occasional
        // ones.
        int64_t end = row.seconds * row.rate;
        script how = {
            .keys = {3, row.rate + 1, row.rate + row.rate / 3, 5 * row.rate / 2 + 3, 6 * row.rate}};
        check_levels(run(e.get(), l, 0, end, how), l, 0, end);
    }
}

TEST_CASE("the upper bound holds through scene changes")
{
    ladder l = one_size(256, 144, 15, 2, {{0, 80000}, {1, 120000}});
    encoder_ptr e = make_encoder(l);
    auto all = run(e.get(), l, 0, 300, {.keys = {21, 33, 70}, .cut_every = 23});
    for (int i = 0; i < 2; i++) {
        share s = windows(all, l, i, l.levels[i].bitrate_bps, 0, 300);
        INFO("level " << i << ": " << s.lowest << " .. " << s.highest);
        CHECK(s.highest <= 1.10);
        CHECK(s.lowest >= 0.80);
    }
}

TEST_CASE("a new bitrate applies to the next frame, and lower levels keep their proportion")
{
    for (double scale : {0.5, 2.0}) {
        ladder l = one_size(320, 180, 30, 2, {{0, 200000}, {1, 300000}});
        encoder_ptr e = make_encoder(l);
        auto all = run(e.get(), l, 0, 240, {.rate_at = 100, .rate_bps = (int)(300000 * scale)});
        check_levels(all, l, 0, 100);
        INFO("times " << scale);
        check_levels(all, l, 100, 240, scale);
    }
}

TEST_CASE("a size whose rate does not divide the source's")
{
    ladder l = ladder_of(25);
    add_size(l, 192, 108, 20, 2, {{1, 150000}});
    encoder_ptr e = make_encoder(l);
    auto all = run(e.get(), l, 0, 150, {});
    CHECK(all.size() == 120);
    check_levels(all, l, 0, 150);
}
