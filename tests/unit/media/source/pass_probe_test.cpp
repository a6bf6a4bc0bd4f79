// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/pass_probe.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "common/base/err.h"
#include "media/source/source.h"
#include "tests/support/clip.h"

namespace
{
using unit = std::vector<uint8_t>;

// The packets of a film, in decoding order.
std::vector<unit> packets_of(const std::string &path)
{
    std::vector<unit> all;
    AVFormatContext *in = nullptr;
    REQUIRE(avformat_open_input(&in, path.c_str(), nullptr, nullptr) == 0);
    AVPacket *packet = av_packet_alloc();
    while (av_read_frame(in, packet) == 0) {
        all.emplace_back(packet->data, packet->data + packet->size);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    avformat_close_input(&in);
    return all;
}

// The NAL units of a coded frame, as an MP4 or Matroska file has them: with lengths. Parameter sets
// that an IDR got are left out.
unit packed(const coded_frame *f)
{
    unit all;
    for (int i = 0; i < f->nal_count; i++) {
        const uint8_t *at = f->data + f->nals[i].offset;
        uint32_t len = f->nals[i].len;
        if ((at[0] & 31) == 7 || (at[0] & 31) == 8)
            continue;
        for (int shift = 24; shift >= 0; shift -= 8)
            all.push_back((uint8_t)(len >> shift));
        all.insert(all.end(), at, at + len);
    }
    return all;
}

clip film(int frames)
{
    clip c;
    c.codec = "libx264";
    c.pts = steady(frames);
    return c;
}

struct passing {
    pass_probe probe{};
    std::unique_ptr<source, decltype(&source_free)> s{nullptr, source_free};

    explicit passing(const std::string &path, bool loop = false)
    {
        int err;
        REQUIRE(pass_probe_file(path.c_str(), 100000000, nullptr, &probe) == 0);
        s.reset(source_file_open(path.c_str(), loop, &probe.coded, nullptr, &err));
        REQUIRE(s);
    }
    // Gives the coded frames of the next pictures, at most `limit` pictures; the turn of each.
    std::vector<std::pair<int64_t, coded_frame *>> pull(int limit)
    {
        std::vector<std::pair<int64_t, coded_frame *>> all;
        picture *p = nullptr;
        for (int i = 0; i < limit && s->ops->next(s.get(), &p) == 0; i++) {
            if (p->coded)
                all.emplace_back(p->number, coded_frame_ref(p->coded));
            picture_unref(p);
        }
        return all;
    }
};
} // namespace

TEST_CASE("pass_probe: each access unit comes once, in decoding order, with its place")
{
    clip_folder folder;
    for (const char *name : {"a.mp4", "a.mkv"}) {
        INFO(name);
        clip_write(film(60), folder / name);
        std::vector<unit> packets = packets_of(folder / name);
        passing film(folder / name);
        CHECK(film.probe.verdict == PASS_YES);
        CHECK(film.probe.coded.passes);
        CHECK(film.probe.coded.reorders); // x264's default has B frames
        CHECK(film.probe.coded.bitrate_bps > 0);
        CHECK(film.s->coded.passes);
        auto frames = film.pull(1000);
        REQUIRE(frames.size() == 60);
        std::vector<bool> seen(60);
        for (size_t i = 0; i < frames.size(); i++) {
            const coded_frame *f = frames[i].second;
            CHECK(frames[i].first == (int64_t)i);
            CHECK(packed(f) == packets[i]);
            CHECK(f->number + f->reorder == (int64_t)i);
            CHECK(f->pts == usec_of_frames(f->number, 25, 1));
            REQUIRE((f->number >= 0 && f->number < 60));
            CHECK_FALSE(seen[(size_t)f->number]);
            seen[(size_t)f->number] = true;
            if (f->key)
                CHECK((f->depends_on == -1 && f->reorder == 0 && f->nal_count >= 3));
            else
                CHECK((f->depends_on >= 0 && seen[(size_t)f->depends_on]));
            coded_frame_unref(frames[i].second);
        }
    }
}

TEST_CASE("pass_probe: after a seek the frames continue at the next IDR")
{
    clip_folder folder;
    clip_write(film(60), folder / "a.mkv"); // an IDR every 12 frames
    std::vector<unit> packets = packets_of(folder / "a.mkv");
    passing film(folder / "a.mkv");
    for (auto &one : film.pull(5))
        coded_frame_unref(one.second);
    REQUIRE(film.s->ops->seek(film.s.get(), usec_of_frames(27, 25, 1)) == 0);
    auto frames = film.pull(1000); // the picture of frame 27 has number 5
    REQUIRE(frames.size() >= 24);  // at least those from frame 36 on
    REQUIRE(frames.size() < 60 - 27);
    size_t first = 60 - frames.size();
    CHECK(frames[0].second->key);
    for (size_t i = 0; i < frames.size(); i++) {
        CHECK(frames[i].first == (int64_t)(5 + first - 27 + i));
        CHECK(packed(frames[i].second) == packets[first + i]);
        coded_frame_unref(frames[i].second);
    }
}

TEST_CASE("pass_probe: a loop has all frames again")
{
    clip_folder folder;
    clip_write(film(24), folder / "a.mp4");
    std::vector<unit> packets = packets_of(folder / "a.mp4");
    passing film(folder / "a.mp4", true);
    auto frames = film.pull(72);
    REQUIRE(frames.size() == 72);
    for (size_t i = 0; i < frames.size(); i++) {
        CHECK(frames[i].first == (int64_t)i);
        CHECK(packed(frames[i].second) == packets[i % 24]);
        coded_frame_unref(frames[i].second);
    }
}

TEST_CASE("pass_probe: films that do not pass give no coded frames")
{
    clip_folder folder;
    clip turned = film(30), flipped = film(30), odd = film(30), wide = film(30), gap = film(30),
         other = film(30), fast = film(30);
    turned.turn = {0, 1, -1, 0};
    flipped.turn = {1, 0, 0, -1};
    wide.aspect = {4, 3};
    for (size_t i = 8; i < gap.pts.size(); i++)
        gap.pts[i] += 3;
    other.codec = "mpeg4";
    fast.rate = {240, 1};
    odd.format = AV_PIX_FMT_YUV444P;
    const struct {
        const clip *film;
        enum pass_verdict verdict;
    } table[] = {{&turned, PASS_TURNED},    {&flipped, PASS_TURNED}, {&wide, PASS_OTHER_PIXELS},
                 {&gap, PASS_VARYING_RATE}, {&fast, PASS_FAST},      {&other, PASS_OTHER_CODEC},
                 {&odd, PASS_OTHER_FORMAT}};
    for (const auto &row : table) {
        INFO(pass_check_reason(row.verdict));
        clip_write(*row.film, folder / "a.mp4");
        passing film(folder / "a.mp4");
        CHECK(film.probe.verdict == row.verdict);
        CHECK_FALSE(film.s->coded.passes);
        CHECK(film.pull(10).empty());
    }
    pass_probe probe;
    clip_write(film(30), folder / "a.mp4");
    REQUIRE(pass_probe_file((folder / "a.mp4").c_str(), 100000000, nullptr, &probe) == 0);
    CHECK(probe.verdict == PASS_YES);
    int bps = probe.coded.bitrate_bps;
    REQUIRE(pass_probe_file((folder / "a.mp4").c_str(), bps, nullptr, &probe) == 0);
    CHECK(probe.verdict == PASS_YES);
    REQUIRE(pass_probe_file((folder / "a.mp4").c_str(), bps - 1, nullptr, &probe) == 0);
    CHECK(probe.verdict == PASS_HIGH_RATE);
    CHECK_FALSE(probe.coded.passes);
    CHECK(probe.coded.bitrate_bps == bps);
    CHECK(pass_probe_file((folder / "none.mp4").c_str(), 100000000, nullptr, &probe) ==
          ERR_NOT_FOUND);
}

TEST_CASE("pass_probe: where a whole film has IDR pictures")
{
    clip_folder folder;
    clip_write(film(1500), folder / "a.mkv"); // 60 s, of which the other probe reads 40
    pass_probe probe;
    pass_keys keys;
    REQUIRE(pass_probe_whole((folder / "a.mkv").c_str(), 100000000, nullptr, &probe, &keys) == 0);
    CHECK(probe.verdict == PASS_YES);
    CHECK(keys.frames == 1500);
    REQUIRE(keys.count >= 125); // at least every 12 frames, and at changes of the scene
    CHECK(keys.at[0] == 0);
    for (int i = 1; i < keys.count; i++) {
        CHECK(keys.at[i] > keys.at[i - 1]);
        CHECK(keys.at[i] <= keys.at[i - 1] + 12);
    }
    CHECK(keys.at[keys.count - 1] >= 1500 - 12);
    pass_keys_free(&keys);
    CHECK(pass_probe_whole((folder / "none.mp4").c_str(), 100000000, nullptr, &probe, &keys) ==
          ERR_NOT_FOUND);
    pass_keys_free(&keys);
}
