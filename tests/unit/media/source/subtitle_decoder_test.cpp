// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "media/source/subtitle_decoder.h"

namespace
{

struct track {
    AVFormatContext *format = avformat_alloc_context();
    AVStream *stream = avformat_new_stream(format, nullptr);
    subtitle_list *list = subtitle_list_new();
    subtitle_decoder *decoder = nullptr;

    explicit track(AVCodecID codec)
    {
        stream->codecpar->codec_type = AVMEDIA_TYPE_SUBTITLE;
        stream->codecpar->codec_id = codec;
        stream->time_base = {1, 1000};
    }
    ~track()
    {
        subtitle_decoder_free(decoder);
        subtitle_list_free(list);
        avformat_free_context(format);
    }
    int add(const std::string &data, int64_t pts = 1000, int64_t duration = 500)
    {
        if (!decoder)
            decoder = subtitle_decoder_new(stream);
        REQUIRE(decoder);
        AVPacket *p = av_packet_alloc();
        REQUIRE(av_new_packet(p, (int)data.size()) == 0);
        memcpy(p->data, data.data(), data.size());
        p->pts = pts;
        p->duration = duration;
        int err = subtitle_decoder_add(decoder, p, list);
        av_packet_free(&p);
        return err;
    }
    std::string found()
    {
        static subtitle_cue cue;
        if (!subtitle_list_find(list, 0, SUBTITLE_LAST, &cue, 1))
            return "";
        return std::to_string(cue.begin) + "-" + std::to_string(cue.end) + " " + cue.text;
    }
};

} // namespace

TEST_CASE("subtitle_decoder: each kind of text becomes an event")
{
    static const struct {
        AVCodecID codec;
        std::string data;
        const char *event;
    } rows[] = {
        {AV_CODEC_ID_SUBRIP, "<i>Hello</i>\nthere", "0,Default,,0,0,0,,{\\i1}Hello{\\i0}\\Nthere"},
        {AV_CODEC_ID_WEBVTT, "<b>Hi</b>", "0,Default,,0,0,0,,{\\b1}Hi{\\b0}"},
        {AV_CODEC_ID_MOV_TEXT, std::string("\0\5Hello", 7), "0,Default,,0,0,0,,Hello"},
        {AV_CODEC_ID_ASS, "4,2,Top,,0,0,0,,{\\fad(1,2)}x", "2,Top,,0,0,0,,{\\fad(1,2)}x"},
    };
    for (const auto &row : rows) {
        track t(row.codec);
        CHECK(t.add(row.data) == 0);
        CHECK(t.found() == std::string("1000000-1500000 ") + row.event);
        static char head[SUBTITLE_HEAD];
        CHECK(subtitle_decoder_head(t.decoder, head));
    }
}

TEST_CASE("subtitle_decoder: packets that show nothing, and one that is too long")
{
    track t(AV_CODEC_ID_SUBRIP);
    CHECK(t.add("x", AV_NOPTS_VALUE) == 0);
    CHECK(t.add("x", -5) == 0);
    CHECK(t.add("x", SUBTITLE_LAST) == 0);
    CHECK(t.found() == "");
    CHECK(t.add(std::string(SUBTITLE_BYTES, 'x')) == ERR_TOO_BIG);
    CHECK(t.found() == "");
    CHECK(t.add("x", 1000, 0) == 0); // it does not say how long
    CHECK(t.found() == "1000000-4000000 0,Default,,0,0,0,,x");
}

TEST_CASE("subtitle_decoder: which codecs are text")
{
    for (int codec :
         {AV_CODEC_ID_SUBRIP, AV_CODEC_ID_WEBVTT, AV_CODEC_ID_ASS, AV_CODEC_ID_MOV_TEXT})
        CHECK(subtitle_decoder_is_text(codec));
    for (int codec : {AV_CODEC_ID_DVD_SUBTITLE, AV_CODEC_ID_H264})
        CHECK_FALSE(subtitle_decoder_is_text(codec));
}
