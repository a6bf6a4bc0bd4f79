// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/coded_stream.hpp"

#include <cstring>
#include <string>
#include <unistd.h>

#include "media/rtp/h264.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace
{

// What libavcodec reads of a coded frame's parameter sets.
struct read_sets {
    int profile = 0, level = 0, b_frames = 0;

    explicit read_sets(const coded_frame &f)
    {
        AVCodecContext *c = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264));
        AVPacket *packet = av_packet_alloc();
        REQUIRE(avcodec_open2(c, nullptr, nullptr) == 0);
        REQUIRE(av_new_packet(packet, static_cast<int>(f.bytes)) == 0);
        std::memcpy(packet->data, f.data, f.bytes);
        REQUIRE(avcodec_send_packet(c, packet) == 0);
        profile = c->profile;
        level = c->level;
        b_frames = c->has_b_frames;
        av_packet_free(&packet);
        avcodec_free_context(&c);
    }
};

ladder small(int layers, int rate = 30)
{
    return one_size(160, 96, rate, layers, {{layers - 1, 150000}});
}

coded_clip clip(encoder *e, const ladder &l, int64_t frames)
{
    coded_clip s;
    for (int64_t n = 0; n < frames; n++)
        REQUIRE(s.add(encode(e, l, 0, n)));
    return s;
}

const coded_frame *frame_of(const coded_clip &s, int64_t number)
{
    for (const frame_ptr &f : s.frames)
        if (f->number == number)
            return f.get();
    return nullptr;
}

// The frame and all frames that it depends on.
std::set<int64_t> closure(const coded_clip &s, int64_t number)
{
    std::set<int64_t> all;
    for (; number >= 0; number = frame_of(s, number)->depends_on)
        all.insert(number);
    return all;
}

void check_closures(const coded_clip &s, size_t step)
{
    for (size_t i = 0; i < s.frames.size(); i += step) {
        std::set<int64_t> need = closure(s, s.frames[i]->number);
        CHECK(play(s, [&](const coded_frame &f) { return need.count(f.number) > 0; }) == need);
    }
}

} // namespace

TEST_CASE("a frame carries the fields of its picture and position")
{
    ladder l = ladder_of(30);
    add_size(l, 64, 48, 30, 1, {{0, 50000}});
    add_size(l, 96, 64, 15, 2, {{0, 50000}, {1, 80000}});
    encoder_ptr e = make_encoder(l, 1);
    // 15 of 30: frames 1, 3, 5, ... are the size's 0, 1, 2, ...
    struct {
        int64_t number;
        int tid;
        bool key;
        int64_t depends_on;
    } table[] = {{1, 0, true, -1}, {3, 1, false, 1}, {5, 0, false, 1},
                 {7, 1, false, 5}, {9, 0, false, 5}, {11, 1, false, 9}};
    for (auto &row : table) {
        frame_ptr f = encode(e.get(), l, 1, row.number);
        REQUIRE(f);
        CHECK(f->number == row.number);
        CHECK(f->size_id == 1);
        CHECK(f->temporal_id == row.tid);
        CHECK(f->key == row.key);
        CHECK(f->depends_on == row.depends_on);
        CHECK(f->pts == row.number * 1000000 / 30);
        CHECK(f->capture_wall == 1000 + row.number);
        // Annex B with NAL units where `nals` says; parameter sets before an IDR only, no SEI.
        std::vector<int> types;
        size_t at = 0;
        for (int i = 0; i < f->nal_count; i++) {
            CHECK(f->nals[i].offset == at + 4);
            CHECK(std::memcmp(f->data + at, "\0\0\0\1", 4) == 0);
            types.push_back(h264_nal_type_of(f->data[at + 4]));
            at += 4 + f->nals[i].len;
        }
        CHECK(at == f->bytes);
        CHECK(types == (row.key ? std::vector<int>{7, 8, 5} : std::vector<int>{1}));
    }
}

TEST_CASE("parameter sets are known before encoding, and equal those in band")
{
    ladder l = small(2);
    encoder_ptr e = make_encoder(l);
    char sprop[256], profile[8];
    REQUIRE(encoder_parameter_sets(e.get(), sprop, sizeof(sprop), profile) == 0);
    CHECK(std::string(profile).size() == 6);
    CHECK(std::string(profile).substr(0, 2) == "64"); // High
    CHECK(std::string(sprop).substr(0, 2) == "Z2");   // base64 of 67 64
    CHECK(std::string(sprop).find(',') != std::string::npos);
    for (size_t cap = 0; cap <= std::strlen(sprop); cap += 7)
        CHECK(encoder_parameter_sets(e.get(), sprop, cap, profile) == ERR_FULL);
    frame_ptr f = encode(e.get(), l, 0, 0);
    char in_band[8];
    const uint8_t *sps = f->data + f->nals[0].offset;
    snprintf(in_band, sizeof(in_band), "%02x%02x%02x", sps[1], sps[2], sps[3]);
    CHECK(std::string(in_band) == profile);
}

TEST_CASE("the baseline profile: what libavcodec reads, and what WebRTC calls it")
{
    struct {
        int width, height, layers;
        bool baseline;
        const char *profile;
        int read;
        int level;
    } const table[] = {
        {1280, 720, 2, true, "42e01f", FF_PROFILE_H264_CONSTRAINED_BASELINE, 31},
        {1280, 720, 3, true, "42e01f", FF_PROFILE_H264_CONSTRAINED_BASELINE, 31},
        {1280, 720, 2, false, "640028", FF_PROFILE_H264_HIGH, 40},
        {640, 360, 2, true, "42e01e", FF_PROFILE_H264_CONSTRAINED_BASELINE, 30},
        {1920, 1080, 2, true, "42e032", FF_PROFILE_H264_CONSTRAINED_BASELINE, 50},
    };
    for (const auto &row : table) {
        INFO(row.width << " " << row.layers << " " << row.baseline);
        ladder l = one_size(row.width, row.height, 30, row.layers, {{row.layers - 1, 900000}});
        l.baseline = row.baseline;
        encoder_ptr e = make_encoder(l);
        char sprop[256], profile[8];
        REQUIRE(encoder_parameter_sets(e.get(), sprop, sizeof(sprop), profile) == 0);
        CHECK(std::string(profile) == row.profile);
        read_sets read(*encode(e.get(), l, 0, 0));
        CHECK(read.profile == row.read);
        CHECK(read.level == row.level);
        CHECK(read.b_frames == 0);
    }
}

TEST_CASE("the baseline profile: fewer references suffice for layers, repairs and large frames")
{
    ladder l = one_size(1280, 720, 30, 3, {{2, 300000}});
    l.baseline = true;
    encoder_ptr e = make_encoder(l);
    coded_clip s;
    for (int64_t n = 0; n < 24; n++) {
        if (n == 10)
            encoder_repair(e.get(), 8);
        REQUIRE(s.add(encode(e.get(), l, 0, n, n < 14 ? 0 : 1))); // a cut: a frame is too large
    }
    CHECK(play(s, [](const coded_frame &f) { return f.temporal_id == 0; }).size() == 6);
    CHECK(play(s, [](const coded_frame &f) { return f.number != 8 && f.temporal_id < 2; }).size() >=
          7);
}

TEST_CASE("no frame is output before the first IDR position")
{
    ladder l = small(3);
    encoder_ptr e = make_encoder(l);
    for (int64_t n = 1; n < 4; n++)
        CHECK_FALSE(encode(e.get(), l, 0, n));
    frame_ptr f = encode(e.get(), l, 0, 4);
    REQUIRE(f);
    CHECK(f->key);
}

TEST_CASE("every prefix of the layers decodes exactly, and depends_on is correct")
{
    for (int layers = 1; layers <= LEVEL_MAX_LAYERS; layers++) {
        INFO("layers " << layers);
        ladder l = small(layers);
        encoder_ptr e = make_encoder(l);
        coded_clip s = clip(e.get(), l, 50);
        for (int top = 0; top < layers; top++) {
            size_t shown =
                play(s, [&](const coded_frame &f) { return f.temporal_id <= top; }).size();
            size_t expected = (50 + (1u << (layers - 1 - top)) - 1) >> (layers - 1 - top);
            CHECK(shown == expected);
        }
        check_closures(s, 7);
    }
}

TEST_CASE("a large picture is encoded in slices: prefixes decode exactly, losses are repaired")
{
    ladder l = one_size(1280, 720, 120, 2, {{1, 3000000}}); // four slices, if there are the cores
    encoder_ptr e = make_encoder(l);
    coded_clip s;
    for (int64_t n = 0; n < 16; n++) {
        if (n == 10)
            CHECK(encoder_repair(e.get(), 8) == 0);
        REQUIRE(s.add(encode(e.get(), l, 0, n)));
    }
    const coded_frame *key = s.frames[0].get();
    CHECK(key->nal_count >= 2 + (sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1)); // SPS, PPS, slices
    CHECK(frame_of(s, 10)->depends_on == 6);
    check_closures(s, 5);
}

TEST_CASE("layers may be added and removed at any frame, and any top-layer frame may be lost")
{
    rng r = rng_seeded(3);
    for (int layers = 2; layers <= 3; layers++) {
        ladder l = small(layers);
        encoder_ptr e = make_encoder(l);
        coded_clip s = clip(e.get(), l, 90);
        for (int round = 0; round < 4; round++) {
            int top = 0;
            auto shown = play(s, [&](const coded_frame &f) {
                if (rng_below(&r, 5) == 0)
                    top = (int)rng_below(&r, (uint64_t)layers);
                return f.temporal_id <= top;
            });
            CHECK(shown.size() >= 90u >> (layers - 1));
            auto most = play(s, [&](const coded_frame &f) {
                return f.temporal_id < layers - 1 || rng_below(&r, 2) == 0;
            });
            CHECK(most.size() >= 45);
        }
    }
}

TEST_CASE("frames skipped by a late encoder")
{
    rng r = rng_seeded(4);
    for (int layers = 1; layers <= 3; layers++) {
        ladder l = small(layers);
        encoder_ptr e = make_encoder(l);
        coded_clip s;
        for (int64_t n = 0; n < 90; n++)
            if (n == 0 || rng_below(&r, 3) != 0)
                s.add(encode(e.get(), l, 0, n));
        for (int top = 0; top < layers; top++)
            play(s, [&](const coded_frame &f) { return f.temporal_id <= top; });
        check_closures(s, 11);
    }
    // Only top-layer frames for longer than the window: they stop, and a key frame starts again.
    ladder l = small(2);
    encoder_ptr e = make_encoder(l);
    coded_clip s;
    REQUIRE(s.add(encode(e.get(), l, 0, 0)));
    int made = 0;
    for (int64_t n = 1; n < 40; n += 2)
        made += s.add(encode(e.get(), l, 0, n));
    CHECK(made == 8);
    REQUIRE(s.add(encode(e.get(), l, 0, 40)));
    CHECK(s.frames.back()->key);
}

// A viewer lacks `lost` and reports it `age` frames later.
static void check_repair(int layers, int64_t lost, int age)
{
    INFO("layers " << layers << " lost " << lost << " age " << age);
    ladder l = small(layers);
    encoder_ptr e = make_encoder(l);
    coded_clip s = clip(e.get(), l, lost + age + 1);
    int verdict = encoder_repair(e.get(), lost);
    int64_t period = 1 << (layers - 1);
    int64_t told = lost + age, end = told + 3 * period;
    for (int64_t n = told + 1; n <= end; n++)
        REQUIRE(s.add(encode(e.get(), l, 0, n)));
    bool key_after = false;
    for (int64_t n = told + 1; n <= end; n++)
        key_after |= frame_of(s, n)->key;
    auto shown = play(s, [&](const coded_frame &f) { return f.number != lost; });

    // The newest T0 frame before the loss must be among the encoder's last 8 when the next T0 frame
    // is made. A lost frame of a higher layer needs nothing of the sort.
    int64_t good = (lost - 1) / period * period;
    int64_t next_t0 = (told / period + 1) * period;
    bool base = lost % period == 0;
    if (!base || told + 1 - good <= 8)
        CHECK(verdict == 0);
    else
        CHECK(verdict == ERR_NOT_FOUND);
    CHECK(key_after == (base && next_t0 - good > 8));
    // Without an IDR, all frames are decodable from the next one on; otherwise from the IDR on.
    int64_t from = key_after ? next_t0 : told + 1;
    for (int64_t n = from; n <= end; n++)
        CHECK(shown.count(n) == 1);
}

TEST_CASE("a loss is repaired without an IDR within the window, beyond it with one")
{
    for (int age = 0; age <= 10; age++) {
        check_repair(1, 12, age);
        check_repair(2, 12, age);
        check_repair(3, 12, age);
    }
    for (int age = 0; age <= 4; age++) {
        check_repair(2, 13, age); // top layer
        check_repair(3, 14, age); // the middle one
    }
}

TEST_CASE("many losses and repairs, reported late, give no viewer a wrong picture")
{
    rng r = rng_seeded(5);
    for (int layers = 1; layers <= 4; layers++) {
        ladder l = small(layers);
        encoder_ptr e = make_encoder(l);
        coded_clip s;
        std::set<int64_t> lost;
        std::map<int64_t, int64_t> news; // when, what
        for (int64_t n = 0; n < 150; n++) {
            if (news.count(n))
                encoder_repair(e.get(), news[n]);
            if (rng_below(&r, 12) == 0)
                continue;
            s.add(encode(e.get(), l, 0, n));
            if (n > 0 && rng_below(&r, 10) == 0) {
                lost.insert(n);
                news[n + 1 + (int64_t)rng_below(&r, 10)] = n;
            }
        }
        auto shown = play(s, [&](const coded_frame &f) { return !lost.count(f.number); });
        CHECK(shown.size() > 70);
        check_closures(s, 13);
    }
}

TEST_CASE("repair of a frame without dependent frames does nothing")
{
    ladder l = small(2);
    encoder_ptr e = make_encoder(l);
    coded_clip s = clip(e.get(), l, 11);
    encoder_request_key(e.get(), -1);
    for (int64_t n = 11; n < 14; n++)
        REQUIRE(s.add(encode(e.get(), l, 0, n)));
    REQUIRE(frame_of(s, 12)->key);
    CHECK(encoder_repair(e.get(), 4) == 0);   // before the key frame
    CHECK(encoder_repair(e.get(), 13) == 0);  // top layer
    CHECK(encoder_repair(e.get(), 999) == 0); // never made
    REQUIRE(s.add(encode(e.get(), l, 0, 14)));
    CHECK(frame_of(s, 14)->depends_on == 12);
    CHECK(encoder_repair(e.get(), 12) == ERR_NOT_FOUND); // the key frame itself
    REQUIRE(s.add(encode(e.get(), l, 0, 15)));
    REQUIRE(s.add(encode(e.get(), l, 0, 16)));
    CHECK(frame_of(s, 16)->key);
}

TEST_CASE("a key frame is made at the next IDR position, unless a newer one was sent")
{
    ladder l = small(3);
    encoder_ptr e = make_encoder(l);
    auto next_key = [&](int64_t from) {
        for (int64_t n = from; n < from + 30; n++)
            if (encode(e.get(), l, 0, n)->key)
                return n;
        return (int64_t)-1;
    };
    CHECK(next_key(0) == 0);
    encode(e.get(), l, 0, 1);
    encoder_request_key(e.get(), -1);
    CHECK(next_key(2) == 4);
    encoder_request_key(e.get(), 3); // 4 helps whoever cannot use 3
    CHECK(next_key(5) == -1);
    encoder_request_key(e.get(), 4); // it did not help
    CHECK(next_key(35) == 36);
}

TEST_CASE("without requests a key frame is made after at most 10 s")
{
    for (int layers = 1; layers <= 3; layers++) {
        ladder l = one_size(64, 48, 8, layers, {{layers - 1, 40000}});
        encoder_ptr e = make_encoder(l);
        std::vector<int64_t> keys;
        for (int64_t n = 0; n < 170; n++)
            if (encode(e.get(), l, 0, n)->key)
                keys.push_back(n);
        CHECK(keys == std::vector<int64_t>{0, 80, 160});
    }
}

TEST_CASE("where all viewers report losses, a key frame is made on request alone")
{
    ladder l = one_size(64, 48, 8, 2, {{1, 40000}});
    encoder_ptr e = make_encoder(l);
    encoder_set_periodic_keys(e.get(), false);
    std::vector<int64_t> keys;
    for (int64_t n = 0; n < 300; n++) {
        if (n == 200)
            encoder_request_key(e.get(), -1);
        if (encode(e.get(), l, 0, n)->key)
            keys.push_back(n);
    }
    CHECK(keys == std::vector<int64_t>{0, 200});
}
