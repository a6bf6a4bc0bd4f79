// SPDX-License-Identifier: GPL-2.0-or-later
// Reads an MP4 file in memory with libavformat: the reference for what media/cmaf writes.
#ifndef WEIR_TESTS_MP4_READER_HPP
#define WEIR_TESTS_MP4_READER_HPP

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "media/cmaf/cmaf_chunk.h"

struct mp4_packet {
    int64_t dts, pts, duration;
    bool key;
    std::vector<uint8_t> data;
};

struct mp4_file {
    AVCodecParameters *parameters = avcodec_parameters_alloc();
    AVRational time_base{};
    std::vector<mp4_packet> packets;

    // `bytes`: an init segment and chunks.
    explicit mp4_file(const std::vector<uint8_t> &bytes) : left(bytes)
    {
        AVFormatContext *f = avformat_alloc_context();
        auto *buffer = static_cast<unsigned char *>(av_malloc(4096));
        f->pb = avio_alloc_context(buffer, 4096, 0, this, read, nullptr, nullptr);
        AVIOContext *io = f->pb;
        REQUIRE(avformat_open_input(&f, nullptr, av_find_input_format("mp4"), nullptr) == 0);
        REQUIRE(f->nb_streams == 1);
        time_base = f->streams[0]->time_base;
        avcodec_parameters_copy(parameters, f->streams[0]->codecpar);
        AVPacket *p = av_packet_alloc();
        while (av_read_frame(f, p) == 0) {
            packets.push_back({p->dts, p->pts, p->duration, (p->flags & AV_PKT_FLAG_KEY) != 0,
                               std::vector<uint8_t>(p->data, p->data + p->size)});
            av_packet_unref(p);
        }
        av_packet_free(&p);
        avformat_close_input(&f);
        av_freep(&io->buffer);
        avio_context_free(&io);
    }
    ~mp4_file()
    {
        avcodec_parameters_free(&parameters);
    }
    mp4_file(const mp4_file &) = delete;
    mp4_file &operator=(const mp4_file &) = delete;

    // Decodes all packets; returns the times at which frames are shown.
    std::vector<int64_t> decode() const
    {
        const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
        AVCodecContext *c = avcodec_alloc_context3(codec);
        avcodec_parameters_to_context(c, parameters);
        c->err_recognition = AV_EF_EXPLODE;
        REQUIRE(avcodec_open2(c, codec, nullptr) == 0);
        AVPacket *p = av_packet_alloc();
        AVFrame *f = av_frame_alloc();
        std::vector<int64_t> shown;
        for (size_t i = 0; i <= packets.size(); i++) {
            if (i < packets.size()) {
                REQUIRE(av_new_packet(p, static_cast<int>(packets[i].data.size())) == 0);
                memcpy(p->data, packets[i].data.data(), packets[i].data.size());
                p->pts = packets[i].pts;
                p->dts = packets[i].dts;
            }
            REQUIRE(avcodec_send_packet(c, i < packets.size() ? p : nullptr) == 0);
            av_packet_unref(p);
            while (avcodec_receive_frame(c, f) == 0)
                shown.push_back(f->pts);
        }
        av_frame_free(&f);
        av_packet_free(&p);
        avcodec_free_context(&c);
        return shown;
    }

  private:
    std::vector<uint8_t> left;
    size_t at = 0;

    static int read(void *ctx, uint8_t *out, int len)
    {
        auto *f = static_cast<mp4_file *>(ctx);
        size_t n = std::min(f->left.size() - f->at, static_cast<size_t>(len));
        memcpy(out, f->left.data() + f->at, n);
        f->at += n;
        return n ? static_cast<int>(n) : AVERROR_EOF;
    }
};

// Takes the writer's bytes, and appends them.
inline void append(std::vector<uint8_t> &to, mp4_writer &w)
{
    REQUIRE(!w.failed);
    REQUIRE(w.depth == 0);
    to.insert(to.end(), w.data, w.data + w.len);
    mp4_writer_destroy(&w);
}

inline std::vector<uint8_t> init_segment(const cmaf_track &t)
{
    std::vector<uint8_t> out;
    mp4_writer w{};
    cmaf_track_init_segment(&t, &w);
    append(out, w);
    return out;
}

#endif
