// SPDX-License-Identifier: GPL-2.0-or-later
// Makes small files for the tests of sources, in a folder that is deleted with the object. Frame k
// of a clip has luma level_of(k) everywhere but in its top left quarter, which is white.
#ifndef WEIR_TESTS_SUPPORT_CLIP_H
#define WEIR_TESTS_SUPPORT_CLIP_H

#include <catch2/catch.hpp>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

struct clip_folder {
    std::filesystem::path path;
    clip_folder()
    {
        static int count;
        path = std::filesystem::temp_directory_path() /
               ("weir-clip-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directory(path);
    }
    ~clip_folder()
    {
        std::filesystem::remove_all(path);
    }
    clip_folder(const clip_folder &) = delete;
    std::string operator/(const char *name) const
    {
        return (path / name).string();
    }
};

struct clip {
    int width = 96, height = 64;
    AVRational rate = {25, 1};
    const char *codec = "mpeg4";
    AVRational aspect = {1, 1};
    // The display matrix: the direction in which a row is shown, then that of a column. {1, 0} is
    // from left to right, {0, 1} from top to bottom.
    std::array<int, 4> turn = {1, 0, 0, 1};
    int gop = 12;
    std::vector<int64_t> pts; // time stamp of each frame, in ticks of `rate`
    AVPixelFormat format = AV_PIX_FMT_YUV420P;
};

inline int level_of(int k)
{
    return 40 + k % 16 * 10;
}

inline std::vector<int64_t> steady(int n)
{
    std::vector<int64_t> pts;
    for (int i = 0; i < n; i++)
        pts.push_back(i);
    return pts;
}

inline void clip_draw(AVFrame *f, int k)
{
    for (int y = 0; y < f->height; y++) {
        memset(f->data[0] + y * f->linesize[0], level_of(k), (size_t)f->width);
        if (y < f->height / 2)
            memset(f->data[0] + y * f->linesize[0], 235, (size_t)f->width / 2);
    }
    for (int plane = 1; plane < 3; plane++)
        memset(f->data[plane], 128, (size_t)f->linesize[plane] * (size_t)((f->height + 1) / 2));
}

inline void clip_drain(AVCodecContext *c, AVFormatContext *out, AVStream *stream)
{
    AVPacket *packet = av_packet_alloc();
    while (avcodec_receive_packet(c, packet) == 0) {
        packet->duration = 1;
        av_packet_rescale_ts(packet, c->time_base, stream->time_base);
        packet->stream_index = 0;
        REQUIRE(av_interleaved_write_frame(out, packet) == 0);
    }
    av_packet_free(&packet);
}

inline void clip_write(const clip &spec, const std::string &path)
{
    av_log_set_level(AV_LOG_QUIET);
    AVFormatContext *out = nullptr;
    REQUIRE(avformat_alloc_output_context2(&out, nullptr, nullptr, path.c_str()) >= 0);
    const AVCodec *codec = avcodec_find_encoder_by_name(spec.codec);
    REQUIRE(codec);
    AVCodecContext *c = avcodec_alloc_context3(codec);
    c->width = spec.width;
    c->height = spec.height;
    c->pix_fmt = spec.format;
    c->time_base = av_inv_q(spec.rate);
    c->framerate = spec.rate;
    c->gop_size = spec.gop;
    c->sample_aspect_ratio = spec.aspect;
    c->thread_count = 1;
    c->flags |= AV_CODEC_FLAG_QSCALE;
    c->global_quality = 2 * FF_QP2LAMBDA;
    if (out->oformat->flags & AVFMT_GLOBALHEADER)
        c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    REQUIRE(avcodec_open2(c, codec, nullptr) == 0);
    AVStream *stream = avformat_new_stream(out, nullptr);
    avcodec_parameters_from_context(stream->codecpar, c);
    stream->time_base = c->time_base;
    stream->avg_frame_rate = spec.rate;
    stream->sample_aspect_ratio = spec.aspect;
    if (spec.turn != clip().turn) {
        auto *matrix = (int32_t *)av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX,
                                                          9 * sizeof(int32_t));
        const int32_t one = 1 << 16, all[] = {spec.turn[0] * one,
                                              spec.turn[1] * one,
                                              0,
                                              spec.turn[2] * one,
                                              spec.turn[3] * one,
                                              0,
                                              0,
                                              0,
                                              1 << 30};
        memcpy(matrix, all, sizeof(all));
    }
    REQUIRE(avio_open(&out->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0);
    REQUIRE(avformat_write_header(out, nullptr) >= 0);
    AVFrame *f = av_frame_alloc();
    f->width = spec.width;
    f->height = spec.height;
    f->format = spec.format;
    REQUIRE(av_frame_get_buffer(f, 0) == 0);
    for (size_t k = 0; k < spec.pts.size(); k++) {
        REQUIRE(av_frame_make_writable(f) == 0);
        clip_draw(f, (int)k);
        f->pts = spec.pts[k];
        REQUIRE(avcodec_send_frame(c, f) == 0);
        clip_drain(c, out, stream);
    }
    avcodec_send_frame(c, nullptr);
    clip_drain(c, out, stream);
    REQUIRE(av_write_trailer(out) == 0);
    av_frame_free(&f);
    avcodec_free_context(&c);
    avio_closep(&out->pb);
    avformat_free_context(out);
}

#endif
