// SPDX-License-Identifier: GPL-2.0-or-later
// Outcomes of VP9 SVC, as libavcodec's own decoder gives them.
#include "media/encode/vp9_encoder.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <array>
#include <string>

#include "media/coded/ladder.h"
#include "media/picture/quality.h"
#include "media/rtp/vp9.h"
#include "tests/support/coded_stream.hpp"

namespace
{

enum { SIZES = 3, LAYERS = 3 };
using vp9_ptr = std::unique_ptr<vp9_encoder, decltype(&vp9_encoder_free)>;
using pieces = std::array<frame_ptr, SIZES>;
using key_of = std::pair<int, int64_t>; // size, number

ladder small(int bitrate = 600000, int rate = 30)
{
    ladder l;
    REQUIRE(ladder_cumulative(320, 192, {rate, 1}, bitrate, &l) == 0);
    return l;
}

vp9_ptr make(const ladder &l)
{
    vp9_ptr e(vp9_encoder_new(&l), vp9_encoder_free);
    REQUIRE(e);
    return e;
}

pieces encode_all(vp9_encoder *e, const ladder &l, int64_t number)
{
    picture_ptr p = draw(l, SIZES - 1, number);
    coded_frame *out[VP9_MAX_SIZES];
    REQUIRE(vp9_encoder_encode(e, p.get(), out) == 0);
    return {frame_ptr(out[0], coded_frame_unref), frame_ptr(out[1], coded_frame_unref),
            frame_ptr(out[2], coded_frame_unref)};
}

decoder_ptr make_vp9_decoder()
{
    decoder_ptr d(decoder_new_vp9(), decoder_free);
    REQUIRE(d);
    return d;
}

picture_ptr decode_piece(decoder *d, const coded_frame *f)
{
    picture *p = nullptr;
    REQUIRE(decoder_decode(d, f->data, f->bytes, f->number, &p) == 0);
    REQUIRE(p);
    return picture_ptr(p, picture_unref);
}

// All frames of a clip, and the pictures that each gives if none is lost.
struct clip {
    ladder l = small();
    vp9_ptr encoder = make(l);
    decoder_ptr reference = make_vp9_decoder();
    std::vector<frame_ptr> frames; // in decoding order
    std::map<key_of, uint64_t> sums;

    const coded_frame *at(int size_id, int64_t number) const
    {
        for (const frame_ptr &f : frames)
            if (f->size_id == size_id && f->number == number)
                return f.get();
        return nullptr;
    }
    void add(int64_t number)
    {
        for (frame_ptr &f : encode_all(encoder.get(), l, number)) {
            if (!f)
                continue;
            picture_ptr p = decode_piece(reference.get(), f.get());
            CHECK(p->width == l.sizes[f->size_id].width);
            CHECK(p->height == l.sizes[f->size_id].height);
            sums[{f->size_id, f->number}] = checksum(p.get());
            frames.push_back(std::move(f));
        }
    }
    void add(int64_t from, int64_t to)
    {
        for (int64_t n = from; n < to; n++)
            add(n);
    }
    // Decodes the frames that arrive and whose dependencies were decoded; each picture must equal
    // that of the complete stream. Returns the decoded frames.
    std::set<key_of> play(std::function<bool(const coded_frame &)> arrives) const
    {
        decoder_ptr d = make_vp9_decoder();
        std::set<key_of> shown;
        int wrong = 0;
        for (const frame_ptr &f : frames) {
            if (!arrives(*f) || (f->depends_on >= 0 && !shown.count({f->size_id, f->depends_on})) ||
                (f->on_lower && !shown.count({f->size_id - 1, f->number})))
                continue;
            shown.insert({f->size_id, f->number});
            wrong +=
                checksum(decode_piece(d.get(), f.get()).get()) != sums.at({f->size_id, f->number});
        }
        CHECK(wrong == 0);
        return shown;
    }
};

int count_of(const std::set<key_of> &shown, int size_id)
{
    int count = 0;
    for (const key_of &k : shown)
        count += k.first == size_id;
    return count;
}

} // namespace

TEST_CASE("vp9: a picture is a frame of each size, with position and dependencies")
{
    clip c;
    c.add(0, 9);
    struct {
        int64_t number;
        int tid;
        int64_t depends_on;
    } table[] = {{0, 0, -1}, {1, 2, 0}, {2, 1, 0}, {3, 2, 2}, {4, 0, 0},
                 {5, 2, 4},  {6, 1, 4}, {7, 2, 6}, {8, 0, 4}};
    for (auto &row : table)
        for (int s = 0; s < SIZES; s++) {
            INFO("number " << row.number << " size " << s);
            const coded_frame *f = c.at(s, row.number);
            REQUIRE(f);
            CHECK(f->temporal_id == row.tid);
            CHECK(f->depends_on == row.depends_on);
            CHECK(f->key == (row.number == 0 && s == 0));
            CHECK(f->on_lower == (s > 0));
            CHECK(f->pts == row.number * 1000000 / 30);
            CHECK(f->capture_wall == 1000 + row.number);
            REQUIRE(f->nal_count == 1);
            CHECK(f->nals[0].len == f->bytes);
        }
}

TEST_CASE("vp9: each of the nine prefixes decodes exactly, at its size")
{
    clip c;
    c.add(0, 40);
    for (int s = 0; s < SIZES; s++)
        for (int t = 0; t < LAYERS; t++) {
            INFO("size " << s << " layer " << t);
            auto shown =
                c.play([&](const coded_frame &f) { return f.size_id <= s && f.temporal_id <= t; });
            for (int i = 0; i < SIZES; i++)
                CHECK(count_of(shown, i) == (i <= s ? 10 << t : 0));
        }
}

// A superframe through libavcodec as any program uses it: the last picture that it gives.
static picture_ptr decode_superframe(AVCodecContext *c, std::vector<uint8_t> bytes)
{
    size_t len = bytes.size();
    bytes.resize(len + AV_INPUT_BUFFER_PADDING_SIZE);
    std::unique_ptr<AVPacket, void (*)(AVPacket *)> packet(av_packet_alloc(),
                                                           [](AVPacket *p) { av_packet_free(&p); });
    std::unique_ptr<AVFrame, void (*)(AVFrame *)> frame(av_frame_alloc(),
                                                        [](AVFrame *f) { av_frame_free(&f); });
    packet->data = bytes.data();
    packet->size = (int)len;
    REQUIRE(avcodec_send_packet(c, packet.get()) == 0);
    picture_ptr p(nullptr, picture_unref);
    while (avcodec_receive_frame(c, frame.get()) == 0) {
        p.reset(picture_new(frame->width, frame->height));
        for (int i = 0; i < 3; i++)
            for (int y = 0; y < (i ? p->height / 2 : p->height); y++)
                std::copy_n(frame->data[i] + y * frame->linesize[i], i ? p->width / 2 : p->width,
                            p->plane[i] + y * p->stride[i]);
    }
    return p;
}

TEST_CASE("vp9: frames of several sizes, joined to a superframe, give the same picture")
{
    clip c;
    c.add(0, 20);
    for (int sizes = 1; sizes <= SIZES; sizes++) {
        std::unique_ptr<AVCodecContext, void (*)(AVCodecContext *)> codec(
            avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_VP9)),
            [](AVCodecContext *x) { avcodec_free_context(&x); });
        codec->thread_count = 1;
        REQUIRE(avcodec_open2(codec.get(), nullptr, nullptr) == 0);
        int wrong = 0;
        for (int64_t n = 0; n < 20; n++) {
            std::vector<uint8_t> whole;
            std::vector<uint32_t> lengths;
            for (int s = 0; s < sizes; s++) {
                const coded_frame *f = c.at(s, n);
                whole.insert(whole.end(), f->data, f->data + f->bytes);
                lengths.push_back((uint32_t)f->bytes);
            }
            uint8_t index[VP9_MAX_INDEX];
            size_t len = vp9_write_index(lengths.data(), sizes, index);
            whole.insert(whole.end(), index, index + len);
            picture_ptr p = decode_superframe(codec.get(), whole);
            REQUIRE(p);
            CHECK(p->width == c.l.sizes[sizes - 1].width);
            wrong += checksum(p.get()) != c.sums.at({sizes - 1, n});
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("vp9: layers dropped at random, also sizes within a picture, damage no frame that needs "
          "none of them")
{
    clip c;
    c.add(0, 60);
    rng r = rng_seeded(11);
    for (int round = 0; round < 4; round++) {
        int temporal = LAYERS - 1;
        auto shown = c.play([&](const coded_frame &f) {
            if (f.size_id == 0 && rng_below(&r, 4) == 0)
                temporal = (int)rng_below(&r, LAYERS);
            bool is_base = f.size_id == 0 && f.temporal_id == 0;
            return is_base || (f.temporal_id <= temporal && rng_below(&r, 8) > 0);
        });
        CHECK(count_of(shown, 0) >= 20);
    }
}

TEST_CASE("vp9: a lost frame harms only what depends on it")
{
    clip c;
    c.add(0, 16);
    struct {
        int size_id;
        int64_t number;
        int lost[SIZES]; // frames of each size that are not decoded, of 16
    } table[] = {
        {2, 5, {0, 0, 1}},  // T2 of the largest size
        {2, 6, {0, 0, 2}},  // T1: with the T2 frame after it
        {2, 8, {0, 0, 8}},  // T0: no later frame of the size
        {1, 8, {0, 8, 8}},  // ... nor of the larger one
        {1, 13, {0, 1, 1}}, // T2 of the middle size
        {0, 12, {4, 4, 4}},
    };
    for (auto &row : table) {
        INFO("size " << row.size_id << " number " << row.number);
        auto shown = c.play([&](const coded_frame &f) {
            return f.size_id != row.size_id || f.number != row.number;
        });
        for (int s = 0; s < SIZES; s++)
            CHECK(count_of(shown, s) == 16 - row.lost[s]);
    }
}

TEST_CASE("vp9: switching up at a sync frame is exact, without a key frame")
{
    for (int size_id = 1; size_id < SIZES; size_id++) {
        INFO("size " << size_id);
        clip c;
        c.add(0, 10);
        vp9_encoder_sync(c.encoder.get(), size_id, 9);
        c.add(10, 24);
        // The next T0 frame is 12.
        for (int s = 0; s < SIZES; s++) {
            CHECK_FALSE(c.at(s, 12)->key);
            CHECK(c.at(s, 12)->depends_on == (s < size_id ? 8 : -1));
            CHECK(c.at(s, 16)->depends_on == 12);
            CHECK(c.at(s, 12)->starts == size_id);
            CHECK(c.at(s, 16)->starts == SIZES);
        }
        auto shown =
            c.play([&](const coded_frame &f) { return f.size_id < size_id || f.number >= 12; });
        for (int s = 0; s < SIZES; s++)
            CHECK(count_of(shown, s) == (s < size_id ? 24 : 12));
        // Nothing new is due for a request that the sync frame answered.
        vp9_encoder_sync(c.encoder.get(), size_id, 11);
        c.add(24, 29);
        CHECK(c.at(size_id, 24)->depends_on == 20);
        CHECK(c.at(size_id, 28)->depends_on == 24);
    }
}

TEST_CASE("vp9: a key frame on request, for all sizes")
{
    clip c;
    c.add(0, 6);
    vp9_encoder_sync(c.encoder.get(), 0, 5);
    c.add(6, 14);
    CHECK(c.at(0, 8)->key);
    auto shown = c.play([](const coded_frame &f) { return f.number >= 8; });
    CHECK(shown.size() == 6 * SIZES);
    vp9_encoder_sync(c.encoder.get(), 0, 7); // 8 helps whoever cannot use 7
    c.add(14, 18);
    CHECK_FALSE(c.at(0, 16)->key);
    vp9_encoder_sync(c.encoder.get(), 0, -1);
    c.add(18, 22);
    CHECK(c.at(0, 20)->key);
}

TEST_CASE("vp9: a loss is repaired by a sync frame, or by a key frame for the smallest size")
{
    struct {
        int size_id;
        int64_t lost;
        bool needed;
    } table[] = {{2, 8, true},  {1, 8, true},   {0, 8, true},
                 {2, 9, false}, {0, 10, false}, {2, 12, false}}; // 12: not encoded yet
    for (auto &row : table) {
        INFO("size " << row.size_id << " number " << row.lost);
        clip c;
        c.add(0, 11);
        CHECK(vp9_encoder_repair(c.encoder.get(), row.size_id, row.lost) == row.needed);
        c.add(11, 20);
        CHECK(c.at(0, 12)->key == (row.needed && row.size_id == 0));
        auto shown = c.play([&](const coded_frame &f) {
            return f.size_id != row.size_id || f.number != row.lost || row.lost > 11;
        });
        for (int s = 0; s < SIZES; s++)
            for (int64_t n = 12; n < 20; n++)
                CHECK(shown.count({s, n}) == 1);
        // A sync or key frame since then repaired it already.
        CHECK(vp9_encoder_repair(c.encoder.get(), row.size_id, 4) == !row.needed);
    }
}

TEST_CASE("vp9: frames skipped by a late encoder")
{
    clip c;
    for (int64_t n = 1; n < 4; n++)
        c.add(n);
    CHECK(c.frames.empty()); // no frame before the first T0 frame
    rng r = rng_seeded(12);
    std::set<int64_t> made;
    for (int64_t n = 4; n < 100; n++)
        if (n == 4 || rng_below(&r, 3) != 0) {
            c.add(n);
            made.insert(n);
        }
    for (int t = 0; t < LAYERS; t++) {
        auto shown = c.play([&](const coded_frame &f) { return f.temporal_id <= t; });
        int expected = 0;
        for (int64_t n : made)
            expected += layer_temporal_id(n, LAYERS) <= t;
        for (int s = 0; s < SIZES; s++)
            CHECK(count_of(shown, s) == expected);
    }
}

TEST_CASE("vp9: without requests a key frame is made after at most 10 s")
{
    ladder l = small(300000, 4);
    vp9_ptr e = make(l);
    std::vector<int64_t> keys;
    for (int64_t n = 0; n < 90; n++)
        if (encode_all(e.get(), l, n)[0]->key)
            keys.push_back(n);
    CHECK(keys == std::vector<int64_t>{0, 40, 80});
}

TEST_CASE(
    "vp9: at the ladder's rates, each larger size looks better than the smaller ones enlarged")
{
    ladder l = small();
    vp9_ptr e = make(l);
    decoder_ptr d = make_vp9_decoder();
    std::unique_ptr<scaler, decltype(&scaler_free)> enlarge(scaler_new(), scaler_free);
    std::array<double, SIZES> ssim = {};
    enum { FROM = 30, TO = 60 };
    for (int64_t n = 0; n < TO; n++) {
        picture_ptr source = draw(l, SIZES - 1, n);
        for (frame_ptr &f : encode_all(e.get(), l, n)) {
            if (!f)
                continue;
            picture_ptr p = decode_piece(d.get(), f.get());
            picture_ptr whole(picture_new(source->width, source->height), picture_unref);
            REQUIRE(scaler_run(enlarge.get(), p.get(), whole.get()) == 0);
            if (n >= FROM)
                ssim[(size_t)f->size_id] += quality_ssim_y(source.get(), whole.get()) / (TO - FROM);
        }
    }
    INFO(ssim[0] << " " << ssim[1] << " " << ssim[2]);
    CHECK(ssim[0] < ssim[1] - 0.01);
    CHECK(ssim[1] < ssim[2] - 0.01);
    CHECK(ssim[2] > 0.9);
}

TEST_CASE("vp9: the rate of each layer follows the ladder, and changes while it runs")
{
    ladder l = small(800000);
    vp9_ptr e = make(l);
    int bps[LADDER_MAX_LEVELS];
    auto run = [&](int64_t from, int64_t to) {
        std::vector<double> rate((size_t)l.level_count);
        for (int64_t n = from; n < to; n++)
            for (frame_ptr &f : encode_all(e.get(), l, n))
                for (int i = 0; i < l.level_count; i++)
                    if (f->size_id <= l.levels[i].size_id &&
                        f->temporal_id <= l.levels[i].temporal_id)
                        rate[(size_t)i] += 8.0 * (double)f->bytes * 30 / (double)(to - from);
        return rate;
    };
    auto check = [&](const std::vector<double> &rate, double factor) {
        for (int i = 0; i < l.level_count; i++) {
            INFO("level " << i << ": " << rate[(size_t)i] << " of "
                          << factor * l.levels[i].bitrate_bps);
            CHECK(rate[(size_t)i] < 1.35 * factor * l.levels[i].bitrate_bps);
            CHECK(rate[(size_t)i] > 0.6 * factor * l.levels[i].bitrate_bps);
        }
    };
    run(0, 60);
    check(run(60, 180), 1);
    for (int i = 0; i < l.level_count; i++)
        bps[i] = l.levels[i].bitrate_bps / 2;
    REQUIRE(vp9_encoder_set_rates(e.get(), bps) == 0);
    run(180, 270);
    check(run(270, 390), 0.5);
    bps[1] = bps[0]; // T1 would have no bits
    CHECK(vp9_encoder_set_rates(e.get(), bps) == ERR_RANGE);
}

TEST_CASE("vp9: after so many skipped frames that no difference reaches the reference, a key frame")
{
    for (int64_t gap : {124, 128}) {
        clip c;
        c.add(0, 5);
        c.add(4 + gap, 9 + gap);
        INFO("gap " << gap);
        CHECK(c.at(0, 4 + gap)->key == (gap > 127));
    }
    clip c;
    c.add(0, 5);
    c.add(134, 138); // begins with T1
    CHECK_FALSE(c.at(0, 134));
    CHECK(c.at(0, 136)->key);
}
