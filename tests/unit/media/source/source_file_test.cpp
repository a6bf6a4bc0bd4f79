// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/source/source.h"
#include "tests/support/clip.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace
{
using source_ptr = std::unique_ptr<source, decltype(&source_free)>;

source_ptr open(const std::string &path, bool loop = false)
{
    int err = 1;
    source_ptr s(source_open(path.c_str(), loop, &err), source_free);
    CAPTURE(path, err);
    REQUIRE(s);
    CHECK(err == 0);
    CHECK(s->kind == SDP_SOURCE_FILE);
    return s;
}

int fails(const std::string &path)
{
    int err = 1;
    source_ptr s(source_open(path.c_str(), false, &err), source_free);
    CHECK_FALSE(s);
    return err;
}

// Returns the frame of the clip that a picture shows, by its luma near the lower right corner; -1:
// none.
int frame_of(const picture *p)
{
    int level = p->plane[0][(p->height - 3) * p->stride[0] + p->width - 3];
    int k = (level - 40 + 5) / 10;
    return abs(level_of(k) - level) <= 3 ? k : -1;
}

// Returns the frames of the clip that are shown, at most `limit`; checks their numbers and times.
// `end`: the final result.
std::vector<int> play(source *s, size_t limit = 1000, int64_t first = 0, int *end = nullptr)
{
    std::vector<int> shown;
    int r = 0;
    while (shown.size() < limit) {
        picture *p = nullptr;
        r = s->ops->next(s, &p);
        if (r < 0)
            break;
        CHECK(p->width == s->width);
        CHECK(p->height == s->height);
        CHECK(p->number == first + (int64_t)shown.size());
        CHECK(p->pts == usec_of_frames(p->number, s->fps.num, s->fps.den));
        shown.push_back(frame_of(p));
        picture_unref(p);
    }
    if (end)
        *end = r;
    return shown;
}

std::vector<int> upto(int n)
{
    std::vector<int> v;
    for (int i = 0; i < n; i++)
        v.push_back(i);
    return v;
}

std::vector<std::string> logged;
void remember(const log_entry *e)
{
    if (e->level <= LOG_WARN)
        logged.push_back(e->text);
}

struct log_capture {
    log_capture()
    {
        logged.clear();
        log_to(remember, log_all(LOG_DEBUG));
    }
    ~log_capture()
    {
        log_to(nullptr, log_all(LOG_INFO));
    }
};

void cut(const std::string &path, double keep)
{
    std::filesystem::resize_file(path,
                                 (uintmax_t)((double)std::filesystem::file_size(path) * keep));
}

void write_text(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary) << text;
}

// One second of silence: RIFF, 8 kHz, 8 bits.
void write_wav(const std::string &path)
{
    std::string s("RIFF\x64\x1f\0\0WAVEfmt "
                  "\x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\x40\x1f\0\0",
                  44);
    write_text(path, s + std::string(8000, '\x80'));
}
} // namespace

TEST_CASE("source_file: containers, codecs, rates and odd sizes")
{
    clip_folder dir;
    struct {
        const char *name, *codec;
        int width, height;
        AVRational rate;
        int want_width, want_height;
    } table[] = {
        {"a.mp4", "mpeg4", 96, 64, {25, 1}, 96, 64},
        {"b.mkv", "mpeg4", 97, 65, {24000, 1001}, 96, 64},
        {"c.avi", "mpeg4", 98, 63, {15, 1}, 98, 62},
        {"d.mp4", "libx264", 96, 64, {30000, 1001}, 96, 64},
        {"e.mkv", "libx264", 98, 62, {60, 1}, 98, 62},
        {"f.ts", "libx264", 96, 64, {50, 1}, 96, 64},
        {"g.mov", "mjpeg", 96, 64, {24, 1}, 96, 64},
        {"h.mkv", "ffv1", 95, 33, {30, 1}, 94, 32},
    };
    for (auto &row : table) {
        clip c;
        c.codec = row.codec;
        c.width = row.width;
        c.height = row.height;
        c.rate = row.rate;
        c.pts = steady(14);
        if (row.codec == std::string("mjpeg"))
            c.format = AV_PIX_FMT_YUVJ420P;
        clip_write(c, dir / row.name);
        auto s = open(dir / row.name);
        CAPTURE(row.name);
        CHECK(s->name == std::string(row.name));
        CHECK(s->width == row.want_width);
        CHECK(s->height == row.want_height);
        CHECK(s->fps.num == row.rate.num);
        CHECK(s->fps.den == row.rate.den);
        int end = 0;
        auto shown = play(s.get(), 1000, 0, &end);
        CHECK(end == ERR_END);
        if (row.codec != std::string("mjpeg")) // its full range is made limited: other levels
            CHECK(shown == upto(14));
        CHECK(shown.size() == 14);
        picture *p;
        CHECK(s->ops->next(s.get(), &p) == ERR_END);
    }
}

TEST_CASE("source_file: full range becomes limited range")
{
    clip_folder dir;
    clip c;
    c.codec = "mjpeg";
    c.format = AV_PIX_FMT_YUVJ420P;
    c.pts = steady(3);
    clip_write(c, dir / "a.mov");
    auto s = open(dir / "a.mov");
    picture *p;
    REQUIRE(s->ops->next(s.get(), &p) == 0);
    CHECK(abs(p->plane[0][60 * p->stride[0] + 90] - 50) <= 2); // 40 * 219 / 255 + 16
    CHECK(abs(p->plane[0][4 * p->stride[0] + 4] - 218) <= 2);  // 235 likewise
    CHECK(abs(p->plane[1][0] - 128) <= 1);
    picture_unref(p);
}

TEST_CASE("source_file: a variable rate is converted to a constant one")
{
    clip_folder dir;
    clip c;
    c.rate = {1000, 1}; // a millisecond clock
    c.codec = "ffv1";
    // 25 a second on the whole, with a pause, two in one tick, and jitter.
    c.pts = {0, 41, 79, 121, 240, 244, 283, 320, 360, 400, 440, 480};
    clip_write(c, dir / "a.mkv");
    auto s = open(dir / "a.mkv");
    REQUIRE(s->fps.den == 1);
    std::vector<int> want;
    for (int64_t tick = 0; want.empty() || want.back() != 11;
         tick++) { // the last frame at or before each tick
        int k = 0;
        for (size_t i = 0; i < c.pts.size(); i++) {
            if (std::llround((double)c.pts[i] * s->fps.num / 1000) <= tick)
                k = (int)i;
        }
        want.push_back(k);
    }
    CHECK(play(s.get()) == want);
}

TEST_CASE("source_file: clock jumps are skipped")
{
    clip_folder dir;
    clip c;
    c.rate = {25, 1};
    c.codec = "ffv1";
    c.gop = 1;
    const int64_t day = 25 * 86400;
    c.pts = {0, 1, 2, 3, 4, 5, 6, 7, 400 * day, 400 * day + 1, 400 * day + 2, 400 * day + 3};
    clip_write(c, dir / "a.mkv");
    auto s = open(dir / "a.mkv");
    auto shown = play(s.get(), 200);
    shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
    CHECK(shown == upto(12));
    picture *p = nullptr;
    CHECK(s->ops->next(s.get(), &p) == ERR_END);
}

TEST_CASE("source_file: the size may change within the file")
{
    clip_folder dir;
    std::ofstream both(dir / "a.h264", std::ios::binary);
    for (int width : {96, 160}) {
        clip c;
        c.codec = "libx264";
        c.width = width;
        c.pts = steady(5);
        clip_write(c, dir / "part.h264");
        both << std::ifstream(dir / "part.h264", std::ios::binary).rdbuf();
    }
    both.close();
    auto s = open(dir / "a.h264");
    CHECK(s->width == 96);
    CHECK(play(s.get(), 5) == upto(5));
    for (int i = 0; i < 5; i++) { // 160x64 in 96x64: 38 rows, between bars
        picture *p = nullptr;
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        CHECK(p->plane[0][10 * p->stride[0] + 90] == 16);
        CHECK(p->plane[0][54 * p->stride[0] + 90] == 16);
        CHECK(p->plane[1][4 * p->stride[1] + 40] == 128);
        CHECK(abs(p->plane[0][45 * p->stride[0] + 90] - level_of(i)) <= 3);
        CHECK(p->plane[0][20 * p->stride[0] + 4] > 200);
        picture_unref(p);
    }
}

TEST_CASE("source_file: joined parts of other sizes and rates lose no picture")
{
    clip_folder dir;
    struct {
        const char *codec, *format;
        AVRational rate;
        int width, height, pictures;
    } table[] = {
        {"libx264", "ts", {25, 1}, 144, 96, 9},     {"mpeg2video", "ts", {25, 1}, 144, 96, 9},
        {"mpeg2video", "mpg", {25, 1}, 144, 96, 9}, {"mpeg1video", "mpg", {25, 1}, 144, 96, 9},
        {"libx264", "ts", {50, 1}, 96, 64, 100},    {"mpeg2video", "ts", {60, 1}, 96, 64, 100}};
    for (auto &t : table) {
        CAPTURE(t.codec, t.format, t.rate.num);
        std::string name = dir / (std::string("a.") + t.format).c_str(),
                    part = name + ".part." + t.format;
        std::ofstream both(name, std::ios::binary);
        clip c;
        c.codec = t.codec;
        c.pts = steady(64);
        std::vector<int> want = upto(64);
        for (int i = 0; i < 2; i++) {
            clip_write(c, part);
            both << std::ifstream(part, std::ios::binary).rdbuf();
            c.rate = t.rate;
            c.width = t.width;
            c.height = t.height;
            c.pts = steady(t.pictures);
        }
        both.close();
        for (int k = 0; k < t.pictures; k++)
            want.push_back(k);
        for (int &k : want)
            k %= 16;
        auto s = open(name);
        CHECK(fps_value(s->fps) == Approx(av_q2d(t.rate)));
        auto shown = play(s.get());
        shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
        CHECK(shown == want);
    }
}

TEST_CASE("source_file: the shape of a pixel may change within the file")
{
    clip_folder dir;
    std::ofstream both(dir / "a.h264", std::ios::binary);
    for (AVRational aspect : {AVRational{1, 1}, AVRational{1, 2}, AVRational{2, 1}}) {
        clip c;
        c.codec = "libx264";
        c.aspect = aspect;
        c.pts = steady(2);
        clip_write(c, dir / "part.h264");
        both << std::ifstream(dir / "part.h264", std::ios::binary).rdbuf();
    }
    both.close();
    auto s = open(dir / "a.h264");
    CHECK(s->width == 96);
    for (int bars : {0, 0, 1, 1, 2, 2}) { // none; 48x64 in 96x64; 192x64 in 96x64
        picture *p = nullptr;
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        CAPTURE(bars);
        CHECK((p->plane[0][60 * p->stride[0] + 90] == 16) == (bars > 0));
        CHECK((p->plane[0][32 * p->stride[0] + 90] == 16) == (bars == 1));
        CHECK((p->plane[0][60 * p->stride[0] + 48] == 16) == (bars == 2));
        picture_unref(p);
    }
}

TEST_CASE(
    "source_file: a seek leads to a number that is a multiple, and the target stands until it")
{
    clip_folder dir;
    clip c;
    c.codec = "libx264";
    c.gop = 6;
    c.pts = steady(16);
    clip_write(c, dir / "a.mp4");
    auto s = open(dir / "a.mp4");
    s->seek_step = 4;
    CHECK(play(s.get(), 3) == upto(3));
    REQUIRE(s->ops->seek(s.get(), 10 * 40000) == 0);
    CHECK(play(s.get(), 4, 3) == std::vector<int>{10, 10, 11, 12}); // numbers 3 to 6
    REQUIRE(s->ops->seek(s.get(), 15 * 40000) == 0);
    CHECK(play(s.get(), 100, 7) == std::vector<int>{15, 15});
    REQUIRE(s->ops->seek(s.get(), 0) == 0);
    CHECK(play(s.get(), 5, 9) == std::vector<int>{0, 0, 0, 0, 1}); // 12 is the target
}

TEST_CASE("source_file: a file whose clock stops ends, looped or not")
{
    clip_folder dir;
    clip c;
    c.rate = {1000, 1};
    c.codec = "mpeg4";
    for (int i = 0; i < 12; i++)
        c.pts.push_back(i); // 12 pictures in 12 ms
    clip_write(c, dir / "a.mkv");
    auto s = open(dir / "a.mkv");
    CHECK(play(s.get()).size() <= 2);
    auto t = open(dir / "a.mkv", true);
    CHECK(play(t.get(), 50).size() == 50);
}

TEST_CASE("source_file: rotation and mirroring are applied")
{
    clip_folder dir;
    const struct {
        std::array<int, 4> turn; // where its rows go, and its columns
        int width, height;
        int white; // the white quarter: 0 top left, 1 top right, 2 bottom right, 3 bottom left
    } table[] = {
        {{1, 0, 0, 1}, 96, 64, 0},   // as it is
        {{0, 1, -1, 0}, 64, 96, 1},  // a quarter clockwise: the top row becomes the right column
        {{-1, 0, 0, -1}, 96, 64, 2}, // a half
        {{0, -1, 1, 0}, 64, 96, 3},  // a quarter counterclockwise
        {{-1, 0, 0, 1}, 96, 64, 1},  // left and right exchanged
        {{1, 0, 0, -1}, 96, 64, 3},  // top and bottom exchanged
        {{0, 1, 1, 0}, 64, 96, 0},   // the top row becomes the left column
        {{0, -1, -1, 0}, 64, 96, 2}, // the top row becomes the right column, upwards
        {{0, 0, 0, 1}, 96, 64, 0},   // shows nothing: ignored
    };
    for (auto &row : table) {
        clip c;
        c.turn = row.turn;
        c.pts = steady(3);
        clip_write(c, dir / "a.mp4");
        auto s = open(dir / "a.mp4");
        CAPTURE(row.turn[0], row.turn[1], row.turn[2], row.turn[3]);
        REQUIRE(s->width == row.width);
        REQUIRE(s->height == row.height);
        picture *p;
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        const int x[] = {8, s->width - 8, s->width - 8, 8},
                  y[] = {8, 8, s->height - 8, s->height - 8};
        for (int i = 0; i < 4; i++)
            CHECK((p->plane[0][y[i] * p->stride[0] + x[i]] > 200) == (i == row.white));
        picture_unref(p);
    }
}

TEST_CASE("source_file: rotation may change within the file")
{
    // Display orientation, until the next one or an IDR picture: a quarter counterclockwise.
    const std::string turn("\0\0\0\1\x06\x2f\x03\x08\0\x09\x80", 11);
    clip_folder dir;
    std::ofstream all(dir / "a.h264", std::ios::binary);
    for (bool turns : {false, true, true, false}) {
        clip c;
        c.codec = "libx264";
        c.pts = steady(3);
        clip_write(c, dir / "part.h264");
        all << (turns ? turn : "") << std::ifstream(dir / "part.h264", std::ios::binary).rdbuf();
    }
    all.close();
    auto s = open(dir / "a.h264");
    CHECK((s->width == 96 && s->height == 64));
    for (int i = 0; i < 12; i++) { // 64x96 becomes 42x64, between bars
        picture *p = nullptr;
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        CAPTURE(i);
        bool turned = i >= 3 && i < 9;
        auto luma = [&](int x, int y) { return p->plane[0][y * p->stride[0] + x]; };
        CHECK((luma(8, 8) > 200) == !turned);
        CHECK((luma(8, 32) == 16) == turned);
        CHECK((luma(88, 32) == 16) == turned);
        CHECK((luma(33, 56) > 200) == turned); // the white quarter is at the lower left
        CHECK(abs(luma(62, 8) - level_of(i % 3)) <= 3);
        picture_unref(p);
    }
}

TEST_CASE("source_file: square pixels, even sides")
{
    clip_folder dir;
    struct {
        int width, height;
        AVRational aspect;
        int want_width, want_height;
    } table[] = {
        {96, 64, {16, 11}, 140, 64},      {96, 64, {1, 2}, 96, 128},
        {96, 64, {100, 1}, 96, 64},       {2560, 1440, {1, 1}, 2560, 1440},
        {2048, 858, {1, 1}, 2048, 858},   {1080, 2160, {1, 1}, 1080, 2160},
        {1440, 1080, {4, 3}, 1920, 1080},
    };
    for (auto &row : table) {
        clip c;
        c.width = row.width;
        c.height = row.height;
        c.aspect = row.aspect;
        c.pts = steady(2);
        clip_write(c, dir / "a.mkv");
        auto s = open(dir / "a.mkv");
        CAPTURE(row.width, row.aspect.num);
        CHECK(s->width == row.want_width);
        CHECK(s->height == row.want_height);
        CHECK(play(s.get()) == upto(2));
    }
}

TEST_CASE("source_file: loops with continuing numbers")
{
    clip_folder dir;
    for (const char *name : {"a.mp4", "b.mkv", "c.avi", "d.m4v", "e.h264", "f.ts"}) {
        clip c;
        c.codec = strchr("ef", name[0]) ? "libx264" : "mpeg4";
        c.pts = steady(6);
        clip_write(c, dir / name);
        auto s = open(dir / name, true);
        CAPTURE(name);
        CHECK(s->duration == -1);
        std::vector<int> want;
        for (int i = 0; i < 20; i++)
            want.push_back(i % 6);
        auto shown = play(s.get(), 20);
        CHECK(shown == want);
    }
}

TEST_CASE("source_file: seeks to the frame at a time")
{
    clip_folder dir;
    for (const char *name : {"a.mp4", "b.mkv"}) {
        clip c;
        c.codec = "libx264";
        c.gop = 6;
        c.pts = steady(16);
        clip_write(c, dir / name);
        auto s = open(dir / name);
        CAPTURE(name);
        CHECK(s->duration == Approx(0.64).margin(0.05));
        CHECK(play(s.get(), 3) == upto(3));
        REQUIRE(s->ops->seek(s.get(), 10 * 40000) == 0);
        CHECK(play(s.get(), 3, 3) == std::vector<int>{10, 11, 12});
        REQUIRE(s->ops->seek(s.get(), 8 * 40000 + 5000) == 0);
        CHECK(play(s.get(), 2, 6) == std::vector<int>{8, 9});
        REQUIRE(s->ops->seek(s.get(), -5) == 0);
        CHECK(play(s.get(), 100, 8) == upto(16));
        REQUIRE(s->ops->seek(s.get(), 0) == 0); // also after the end
        CHECK(play(s.get(), 2, 24) == upto(2));
    }
}

TEST_CASE("source_file: a seek skips frames that the target does not depend on")
{
    clip_folder dir;
    clip c;
    c.codec = "libx264"; // with B frames
    c.gop = 60;
    c.pts = steady(60);
    clip_write(c, dir / "b.mkv");
    auto s = open(dir / "b.mkv");
    int64_t number = 0;
    for (int to : {31, 32, 33, 34, 57, 2}) {
        CAPTURE(to);
        REQUIRE(s->ops->seek(s.get(), to * 40000) == 0);
        CHECK(play(s.get(), 2, number) == std::vector<int>{to % 16, (to + 1) % 16});
        number += 2;
    }
}

TEST_CASE(
    "source_file: containers without an index are searched for the key frame before the target")
{
    clip_folder dir;
    clip c;
    c.codec = "libx264";
    c.gop = 60; // key frames at 0, 60, 120: 2.4 s apart
    c.pts = steady(150);
    clip_write(c, dir / "a.ts");
    auto s = open(dir / "a.ts");
    int64_t number = 0;
    for (int to : {31, 59, 60, 61, 119, 149, 2, 0}) {
        CAPTURE(to);
        REQUIRE(s->ops->seek(s.get(), to * 40000) == 0);
        CHECK(play(s.get(), 1, number) == std::vector<int>{to % 16});
        number += 1;
    }
}

TEST_CASE("source_file: a file without seeking can still start again")
{
    clip_folder dir;
    clip c;
    c.codec = "libx264";
    c.pts = steady(20);
    clip_write(c, dir / "a.h264");
    auto s = open(dir / "a.h264");
    int64_t number = 0;
    for (size_t count : {3u, 100u, 100u}) {
        auto shown = play(s.get(), count, number);
        CHECK(shown.size() == (count < 20 ? count : 20));
        CHECK(shown[0] == 0);
        number += (int64_t)shown.size();
        REQUIRE(s->ops->seek(s.get(), 0) == 0);
    }
    CHECK(s->ops->seek(s.get(), 400000) == ERR_UNSUPPORTED);
}

TEST_CASE("source_file: the same file gives the same pictures")
{
    clip_folder dir;
    clip c;
    c.codec = "libx264";
    c.aspect = {4, 3};
    c.turn = {0, 1, -1, 0};
    c.pts = steady(9);
    clip_write(c, dir / "a.mkv");
    auto s = open(dir / "a.mkv", true), t = open(dir / "a.mkv", true);
    for (int i = 0; i < 30; i++) {
        picture *p, *q;
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        REQUIRE(t->ops->next(t.get(), &q) == 0);
        bool same = true;
        for (int y = 0; y < p->height; y++)
            same = same && memcmp(p->plane[0] + y * p->stride[0], q->plane[0] + y * q->stride[0],
                                  (size_t)p->width) == 0;
        CHECK(same);
        picture_unref(p);
        picture_unref(q);
    }
}

TEST_CASE("source_file: a truncated file ends where it is cut")
{
    clip_folder dir;
    for (const char *name : {"a.mkv", "b.avi", "c.ts"}) {
        for (double keep : {0.9, 0.6, 0.4}) {
            clip c;
            c.codec = "libx264";
            c.pts = steady(16);
            clip_write(c, dir / name);
            cut(dir / name, keep);
            int err = 0;
            source_ptr s(source_open((dir / name).c_str(), false, &err), source_free);
            CAPTURE(name, keep, err);
            if (!s) {
                CHECK(err == ERR_UNSUPPORTED);
                continue;
            }
            int end = 0;
            auto shown = play(s.get(), 1000, 0, &end);
            CHECK(end == ERR_END);
            CHECK(shown.size() <= 16);
        }
    }
    clip c; // the index of an mp4 stands at the end: nothing can be read
    c.pts = steady(16);
    clip_write(c, dir / "d.mp4");
    cut(dir / "d.mp4", 0.7);
    CHECK(fails(dir / "d.mp4") == ERR_UNSUPPORTED);
}

TEST_CASE("source_file: damage in the middle is skipped, and counted once")
{
    clip_folder dir;
    clip c;
    c.codec = "mjpeg";
    c.format = AV_PIX_FMT_YUVJ420P;
    c.pts = steady(16);
    clip_write(c, dir / "a.avi");
    std::fstream file(dir / "a.avi", std::ios::binary | std::ios::in | std::ios::out);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    size_t at = 0;
    for (int i = 0; i < 6; i++)
        at = bytes.find("00dc", at + 1);
    file.clear();
    uint32_t size;
    memcpy(&size, &bytes[at + 4], 4);
    file.seekp((std::streamoff)at + 8);
    file << std::string(size, '\x11'); // all of the sixth chunk
    file.close();
    log_capture log;
    auto s = open(dir / "a.avi");
    int end = 0;
    auto shown = play(s.get(), 1000, 0, &end);
    CHECK(end == ERR_END);
    CHECK(shown.size() == 16); // its neighbour stands for it
    REQUIRE(logged.size() == 1);
    CHECK(logged[0].find("a.avi: skipped") != std::string::npos);
}

TEST_CASE("source_file: a single picture stands for as long as it is read")
{
    clip_folder dir;
    picture *p = picture_new(64, 64);
    memset(p->plane[0], 90, (size_t)p->stride[0] * 64);
    memset(p->plane[1], 128, (size_t)p->stride[1] * 32);
    memset(p->plane[2], 128, (size_t)p->stride[2] * 32);
    REQUIRE(picture_write_png(p, (dir / "still.png").c_str()) == 0);
    picture_unref(p);
    source_ptr s = open(dir / "still.png");
    CHECK(s->is_still);
    CHECK(s->duration == -1);
    CHECK(s->ops->seek(s.get(), 0) == ERR_UNSUPPORTED);
    for (int i = 0; i < 1000; i++) {
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        CHECK(p->number == i);
        CHECK(abs(p->plane[0][0] - 90) <= 1);
        picture_unref(p);
    }
}

TEST_CASE("source_file: a file without video is refused with its name")
{
    clip_folder dir;
    log_capture log;
    CHECK(fails(dir / "missing.mp4") == ERR_NOT_FOUND);
    CHECK(fails(dir.path.string()) == ERR_UNSUPPORTED);
    write_text(dir / "text.mp4", "This is no video at all.\n");
    CHECK(fails(dir / "text.mp4") == ERR_UNSUPPORTED);
    write_text(dir / "text.txt", std::string(5000, 'a'));
    CHECK(fails(dir / "text.txt") == ERR_UNSUPPORTED);
    write_text(dir / "empty.mp4", "");
    CHECK(fails(dir / "empty.mp4") == ERR_UNSUPPORTED);
    write_wav(dir / "sound.wav");
    CHECK(fails(dir / "sound.wav") == ERR_UNSUPPORTED);
    CHECK(logged.back() == dir / "sound.wav" + ": the file has no video");
    write_text(
        dir / "list.m3u8",
        "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n");
    CHECK(fails(dir / "list.m3u8") == ERR_UNSUPPORTED);
    clip small;
    small.width = small.height = 8;
    small.pts = steady(2);
    clip_write(small, dir / "small.mkv");
    CHECK(fails(dir / "small.mkv") == ERR_UNSUPPORTED);
    for (auto &line : logged)
        CHECK(line.find(dir.path.string()) == 0);
    CHECK(logged.size() == 8);
}
