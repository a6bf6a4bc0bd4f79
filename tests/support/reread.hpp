// SPDX-License-Identifier: GPL-2.0-or-later
// A folder of a test, and a recording read back by libavformat.
#ifndef WEIR_TESTS_REREAD_HPP
#define WEIR_TESTS_REREAD_HPP

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

struct scratch_folder {
    std::string path;

    scratch_folder()
    {
        char name[] = "/tmp/weir-unit-XXXXXX";
        REQUIRE(mkdtemp(name));
        path = name;
    }
    ~scratch_folder()
    {
        std::filesystem::remove_all(path);
    }
    scratch_folder(const scratch_folder &) = delete;
    scratch_folder &operator=(const scratch_folder &) = delete;
};

struct reread_file {
    struct packet {
        int64_t msec;
        bool key;
    };
    int width = 0, height = 0;
    bool has_audio = false;
    double duration = 0;
    std::map<std::string, std::string> tags;
    std::vector<packet> video, audio;
    size_t decoded = 0; // pictures, without an error

    explicit reread_file(const std::string &path)
    {
        INFO(path);
        AVFormatContext *format = nullptr;
        REQUIRE(avformat_open_input(&format, path.c_str(), nullptr, nullptr) == 0);
        duration = (double)format->duration / AV_TIME_BASE;
        const AVDictionaryEntry *tag = nullptr;
        while ((tag = av_dict_get(format->metadata, "", tag, AV_DICT_IGNORE_SUFFIX)))
            tags[tag->key] = tag->value;
        const AVCodecParameters *of = format->streams[0]->codecpar;
        REQUIRE(of->codec_id == AV_CODEC_ID_H264);
        width = of->width;
        height = of->height;
        has_audio = format->nb_streams == 2;
        AVCodecContext *codec = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264));
        codec->thread_count = 1;
        codec->err_recognition = AV_EF_EXPLODE;
        REQUIRE(avcodec_parameters_to_context(codec, of) == 0);
        REQUIRE(avcodec_open2(codec, nullptr, nullptr) == 0);
        AVPacket *p = av_packet_alloc();
        while (av_read_frame(format, p) == 0) {
            (p->stream_index ? audio : video).push_back({p->pts, !!(p->flags & AV_PKT_FLAG_KEY)});
            if (p->stream_index == 0 && avcodec_send_packet(codec, p) == 0)
                take(codec);
            av_packet_unref(p);
        }
        avcodec_send_packet(codec, nullptr);
        take(codec);
        av_packet_free(&p);
        avcodec_free_context(&codec);
        avformat_close_input(&format);
    }

  private:
    void take(AVCodecContext *codec)
    {
        AVFrame *f = av_frame_alloc();
        while (avcodec_receive_frame(codec, f) == 0)
            decoded++;
        av_frame_free(&f);
    }
};

#endif
