// SPDX-License-Identifier: GPL-2.0-or-later
// Coded clips for the tests of encoder and decoder, and a player that checks the decoded pictures.
#ifndef WEIR_TESTS_CODED_STREAM_HPP
#define WEIR_TESTS_CODED_STREAM_HPP

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "media/decode/decoder.h"
#include "media/encode/encoder.h"
#include "tests/moving_picture.h"

using frame_ptr = std::unique_ptr<coded_frame, decltype(&coded_frame_unref)>;
using picture_ptr = std::unique_ptr<picture, decltype(&picture_unref)>;
using encoder_ptr = std::unique_ptr<encoder, decltype(&encoder_free)>;
using decoder_ptr = std::unique_ptr<decoder, decltype(&decoder_free)>;

inline ladder ladder_of(int source_rate)
{
    ladder l = {};
    l.source_fps = {source_rate, 1};
    l.source_width = 1280;
    l.source_height = 720;
    return l;
}

// Levels: {temporal id, bit/s}.
inline void add_size(ladder &l, int width, int height, int rate, int layers,
                     std::vector<std::pair<int, int>> levels)
{
    for (auto [tid, bps] : levels)
        l.levels[l.level_count++] = {l.size_count, tid, bps};
    l.sizes[l.size_count++] = {width, height, {rate, 1}, layers};
}

inline ladder one_size(int width, int height, int rate, int layers,
                       std::vector<std::pair<int, int>> levels)
{
    ladder l = ladder_of(rate);
    add_size(l, width, height, rate, layers, levels);
    return l;
}

inline encoder_ptr make_encoder(const ladder &l, int size_id = 0)
{
    encoder_ptr e(encoder_new(&l, size_id), encoder_free);
    REQUIRE(e);
    return e;
}

inline decoder_ptr make_decoder()
{
    decoder_ptr d(decoder_new(DECODER_PLAIN), decoder_free);
    REQUIRE(d);
    return d;
}

inline picture_ptr draw(const ladder &l, int size_id, int64_t number, int scene = 0)
{
    static const std::unique_ptr<moving_picture> moving = [] {
        auto m = std::make_unique<moving_picture>();
        moving_picture_init(m.get(), 1, 2.0);
        return m;
    }();
    const size_spec &s = l.sizes[size_id];
    picture_ptr p(picture_new(s.width, s.height), picture_unref);
    REQUIRE(p);
    moving_picture_draw(moving.get(), (double)number / fps_value(l.source_fps), scene, number,
                        p.get());
    p->number = number;
    p->pts = usec_of_frames(number, l.source_fps.num, l.source_fps.den);
    p->capture_wall = 1000 + number;
    return p;
}

inline frame_ptr encode(encoder *e, const ladder &l, int size_id, int64_t number, int scene = 0)
{
    picture_ptr p = draw(l, size_id, number, scene);
    coded_frame *f = nullptr;
    REQUIRE(encoder_encode(e, p.get(), &f) == 0);
    return frame_ptr(f, coded_frame_unref);
}

inline uint64_t checksum(const picture *p)
{
    return moving_picture_checksum(p);
}

inline uint64_t decode(decoder *d, const coded_frame *f)
{
    picture *p = nullptr;
    REQUIRE(decoder_decode(d, f->data, f->bytes, f->number, &p) == 0);
    REQUIRE(p);
    CHECK(p->number == f->number);
    uint64_t sum = checksum(p);
    picture_unref(p);
    return sum;
}

struct coded_clip {
    std::vector<frame_ptr> frames;
    std::map<int64_t, uint64_t> sums; // checksum of each frame, by number, decoded without losses
    decoder_ptr reference = make_decoder();

    // Returns false if the encoder produced no frame.
    bool add(frame_ptr f)
    {
        if (!f)
            return false;
        sums[f->number] = decode(reference.get(), f.get());
        frames.push_back(std::move(f));
        return true;
    }
};

// Decodes the frames that arrive and whose reference was decoded; each picture must equal that of
// the complete stream. Returns the numbers of the decoded frames.
inline std::set<int64_t> play(const coded_clip &s, std::function<bool(const coded_frame &)> arrives)
{
    decoder_ptr d = make_decoder();
    std::set<int64_t> shown;
    int wrong = 0;
    for (const frame_ptr &f : s.frames) {
        if (!arrives(*f) || (f->depends_on >= 0 && !shown.count(f->depends_on)))
            continue;
        shown.insert(f->number);
        wrong += decode(d.get(), f.get()) != s.sums.at(f->number);
    }
    CHECK(wrong == 0);
    return shown;
}

#endif
