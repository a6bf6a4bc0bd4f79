// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

extern "C" {
#include "media/source/media_input.h"
}

#include <sys/stat.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "tests/support/clip.h"

namespace
{

struct opened {
    char why[MEDIA_INPUT_REASON] = "";
    int err = 0;
    media_input *in;

    opened(const std::string &path, media_guard *guard = nullptr)
        : in(media_input_open(path.c_str(), nullptr, guard, why, &err))
    {
        if (!err)
            err = media_input_probe(in, why);
    }
    ~opened()
    {
        media_input_free(in);
    }
    opened(const opened &) = delete;
    bool says(const char *text) const
    {
        return std::string(why).find(text) != std::string::npos;
    }
};

void put(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace

TEST_CASE("media_input: containers that hold their media are allowed, by any of their names")
{
    for (const char *name : {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "avi", "mpegts", "h264",
                             "yuv4mpegpipe", "png_pipe"})
        CHECK(media_input_allows(name));
    for (const char *name :
         {"hls", "dash", "concat", "sdp", "rtsp", "image2", "tty", "imf", "lavfi", "", "mov2"})
        CHECK_FALSE(media_input_allows(name));
}

TEST_CASE("media_input: a clip opens and reads")
{
    clip_folder dir;
    clip c;
    c.pts = steady(4);
    clip_write(c, dir / "a.mkv");
    opened o(dir / "a.mkv");
    REQUIRE(o.err == 0);
    CHECK(media_input_format(o.in)->nb_streams == 1);
    AVPacket *packet = av_packet_alloc();
    int count = 0;
    while (media_input_read(o.in, packet) >= 0) {
        count++;
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    CHECK(count == 4);
    CHECK(media_input_seek(o.in, 0, 0, AVSEEK_FLAG_BACKWARD) >= 0);
}

TEST_CASE("media_input: a file that refers to other files is refused")
{
    clip_folder dir;
    clip c;
    c.pts = steady(4);
    clip_write(c, dir / "part.ts");
    const std::string list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.0,\npart.ts\n";
    for (const char *name : {"a.m3u8", "b.mp4"}) {
        put(dir / name, list);
        opened o(dir / name);
        CHECK(o.err == ERR_UNSUPPORTED);
        CHECK(o.says("hls is not a format that contains its own video"));
    }
    put(dir / "c.mkv", "ffconcat version 1.0\nfile part.ts\n");
    opened o(dir / "c.mkv");
    CHECK(o.err == ERR_UNSUPPORTED);
}

TEST_CASE("media_input: what is missing in a film that is not whole is named")
{
    clip_folder dir;
    clip c;
    c.pts = steady(20);
    struct {
        const char *name;
        uintmax_t keep; // bytes
        const char *reason;
    } table[] = {
        {"a.mp4", 200, "its index is missing"},
        {"b.mp4", 40, "its index is missing"},
        {"c.mp4", 0, "the file is empty"},
        {"d.mkv", 200, "breaks off before its first"},
        {"e.avi", 100, "breaks off before its first"},
    };
    for (auto &row : table) {
        CAPTURE(row.name);
        clip_write(c, dir / row.name);
        std::filesystem::resize_file(dir / row.name, row.keep);
        opened o(dir / row.name);
        CHECK(o.err == ERR_UNSUPPORTED);
        CHECK(o.says(row.reason));
    }
}

TEST_CASE("media_input: only a regular file is opened")
{
    clip_folder dir;
    REQUIRE(mkfifo((dir / "fifo").c_str(), 0600) == 0);
    CHECK(opened(dir / "fifo").err == ERR_UNSUPPORTED);
    CHECK(opened(dir.path.string()).err == ERR_UNSUPPORTED);
    opened none(dir / "none");
    CHECK(none.err == ERR_NOT_FOUND);
    CHECK(none.says("No such file"));
}

TEST_CASE("media_input: little is read of a bare stream without contents")
{
    clip_folder dir;
    put(dir / "torn.h264", std::string("\0\0\0\1\x67\x42\0\x1e", 8));
    REQUIRE(truncate((dir / "torn.h264").c_str(), 1 << 30) == 0);
    opened o(dir / "torn.h264");
    CHECK(o.err == ERR_UNSUPPORTED);
    CHECK(o.says("first 16 MB"));
}

TEST_CASE("media_input: a guard ends the reading")
{
    clip_folder dir;
    clip c;
    c.pts = steady(4);
    clip_write(c, dir / "a.mkv");
    media_guard *guard = media_guard_new(clock_now() - 1);
    {
        opened late(dir / "a.mkv", guard);
        CHECK(late.err == ERR_TIMED_OUT);
        media_guard_until(guard, USEC_NEVER);
        opened good(dir / "a.mkv", guard);
        REQUIRE(good.err == 0);
        media_guard_stop(guard);
        CHECK(opened(dir / "a.mkv", guard).err == ERR_CLOSED);
        CHECK(media_input_seek(good.in, 0, 0, AVSEEK_FLAG_BACKWARD) == AVERROR_EXIT);
        AVPacket *packet = av_packet_alloc();
        CHECK(media_input_read(good.in, packet) == AVERROR_EXIT);
        av_packet_free(&packet);
    }
    CHECK(media_guard_check(guard) == ERR_CLOSED);
    CHECK(media_guard_check(nullptr) == 0);
    media_guard_unref(guard);
}
