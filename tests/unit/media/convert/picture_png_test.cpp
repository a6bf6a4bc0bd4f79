// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "media/picture/picture.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <vector>

namespace
{
void fill(picture *p, int y, int u, int v)
{
    memset(p->plane[0], y, (size_t)p->stride[0] * (size_t)p->height);
    memset(p->plane[1], u, (size_t)p->stride[1] * (size_t)p->height / 2);
    memset(p->plane[2], v, (size_t)p->stride[2] * (size_t)p->height / 2);
}

struct decoded {
    int width, height;
    std::vector<uint8_t> rgb;
};

decoded read_png(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    AVCodecContext *c = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_PNG));
    REQUIRE(avcodec_open2(c, nullptr, nullptr) == 0);
    AVPacket *packet = av_packet_alloc();
    REQUIRE(av_new_packet(packet, (int)bytes.size()) == 0);
    memcpy(packet->data, bytes.data(), bytes.size());
    AVFrame *f = av_frame_alloc();
    REQUIRE(avcodec_send_packet(c, packet) == 0);
    REQUIRE(avcodec_receive_frame(c, f) == 0);
    REQUIRE(f->format == AV_PIX_FMT_RGB24);
    decoded d{f->width, f->height, {}};
    for (int y = 0; y < f->height; y++)
        d.rgb.insert(d.rgb.end(), f->data[0] + y * f->linesize[0],
                     f->data[0] + y * f->linesize[0] + 3 * f->width);
    av_frame_free(&f);
    av_packet_free(&packet);
    avcodec_free_context(&c);
    return d;
}
} // namespace

TEST_CASE("picture_write_png: colours are preserved, and no temporary file remains")
{
    namespace fs = std::filesystem;
    fs::path dir = fs::temp_directory_path() / ("weir-png-" + std::to_string(getpid()));
    fs::create_directory(dir);
    struct {
        int y, u, v, r, g, b;
    } table[] = {
        // BT.709, limited range
        {16, 128, 128, 0, 0, 0},   {235, 128, 128, 255, 255, 255}, {126, 128, 128, 128, 128, 128},
        {63, 102, 240, 255, 0, 0}, {173, 42, 26, 0, 255, 0},       {32, 240, 118, 0, 0, 255},
    };
    picture *p = picture_new(38, 22);
    std::string path = dir / "a.png";
    for (auto &t : table) {
        fill(p, t.y, t.u, t.v);
        REQUIRE(picture_write_png(p, path.c_str()) == 0);
        decoded d = read_png(path);
        CHECK(d.width == 38);
        CHECK(d.height == 22);
        CHECK(abs(d.rgb[0] - t.r) <= 2);
        CHECK(abs(d.rgb[1] - t.g) <= 2);
        CHECK(abs(d.rgb[d.rgb.size() - 1] - t.b) <= 2);
    }
    CHECK(picture_write_png(p, (dir / "none" / "a.png").c_str()) == ERR_IO);
    fs::create_directory(dir / "b.png");
    CHECK(picture_write_png(p, (dir / "b.png").c_str()) == ERR_IO);
    CHECK(std::distance(fs::directory_iterator(dir), {}) == 2);
    picture_unref(p);
    fs::remove_all(dir);
}
