// SPDX-License-Identifier: GPL-2.0-or-later
// libx264 stands for the encoders of libavcodec: no test machine has the others' devices.
#include "media/encode/avcodec_encoder.h"

#include <cstring>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
}

#include "media/encode/video_engine.h"
#include "media/rtp/h264.h"
#include "tests/support/coded_stream.hpp"

namespace
{

struct av_video {
    ladder levels;
    video_encoder *e;

    explicit av_video(encoder_traits traits = {false, false, true}, int kbps = 300, int width = 160)
    {
        levels = one_size(width, width * 6 / 10, 30, 1, {{0, kbps * 1000}});
        char reason[AVCODEC_REASON_TEXT] = "";
        e = avcodec_encoder_new(video_engine_find("lavc-x264")->av, &traits, &levels, 0, reason);
        INFO(reason);
        REQUIRE(e);
    }
    ~av_video()
    {
        e->ops->free(e);
    }
    av_video(const av_video &) = delete;
    av_video &operator=(const av_video &) = delete;

    frame_ptr encode(int64_t number)
    {
        picture_ptr p = draw(levels, 0, number);
        coded_frame *out[VIDEO_ENCODER_MAX_SIZES] = {};
        REQUIRE(e->ops->encode(e, p.get(), out) == 0);
        REQUIRE(out[0]);
        return frame_ptr(out[0], coded_frame_unref);
    }
    // "." for a key frame, "-" for another one.
    std::string encode(int64_t from, int64_t end, size_t *bytes = nullptr)
    {
        std::string text;
        for (int64_t n = from; n < end; n++) {
            frame_ptr f = encode(n);
            text += f->key ? '.' : '-';
            if (bytes)
                *bytes += f->bytes;
        }
        return text;
    }
};

} // namespace

TEST_CASE("avcodec_encoder: every frame decodes, and says what it depends on")
{
    av_video v;
    coded_clip s;
    for (int64_t n = 0; n < 20; n++) {
        int64_t number = n < 10 ? n : n + 3; // the caller may skip frames
        REQUIRE(s.add(v.encode(number)));
        const coded_frame &f = *s.frames.back();
        CHECK(f.number == number);
        CHECK(f.depends_on == (n == 0 ? -1 : s.frames[(size_t)n - 1]->number));
        CHECK(f.key == (n == 0));
        CHECK(f.temporal_id == 0);
        CHECK(f.pts == usec_of_frames(number, 30, 1));
        CHECK(f.capture_wall == 1000 + number);
        std::vector<int> types;
        for (int i = 0; i < f.nal_count; i++) {
            CHECK(std::memcmp(f.data + f.nals[i].offset - 4, "\0\0\0\1", 4) == 0);
            types.push_back(h264_nal_type_of(f.data[f.nals[i].offset]));
        }
        REQUIRE(types.size() >= 1);
        CHECK(types.back() == (f.key ? H264_IDR : H264_SLICE)); // neither SEI nor delimiter
        if (f.key)
            CHECK((types[0] == H264_SPS && types[1] == H264_PPS));
    }
    CHECK(play(s, [](const coded_frame &) { return true; }).size() == 20);
}

TEST_CASE("avcodec_encoder: the parameter sets are known before the first picture")
{
    av_video v;
    char sprop[1024] = "", profile[8] = "";
    REQUIRE(v.e->ops->parameter_sets(v.e, sprop, sizeof(sprop), profile) == 0);
    CHECK(std::string(profile).substr(0, 2) == "64"); // high
    CHECK(std::strchr(sprop, ','));
    char small[8];
    CHECK(v.e->ops->parameter_sets(v.e, small, sizeof(small), profile) == ERR_FULL);
}

TEST_CASE("avcodec_encoder: a key frame on request, and after a loss that has had none")
{
    av_video v;
    CHECK(v.encode(0, 4) == ".---");
    v.e->ops->start(v.e, 0);
    CHECK(v.encode(4, 7) == ".--");
    CHECK(v.e->ops->loss(v.e, 0, 3) == LAYER_LOSS_HARMLESS); // before the key frame
    CHECK(v.e->ops->loss(v.e, 0, 4) == LAYER_LOSS_NEEDS_KEY);
    CHECK(v.e->ops->loss(v.e, 0, 6) == LAYER_LOSS_NEEDS_KEY);
    v.e->ops->repair(v.e, 0, 3);
    CHECK(v.encode(7, 9) == "--");
    v.e->ops->repair(v.e, 0, 8);
    CHECK(v.encode(9, 11) == ".-");
}

TEST_CASE("avcodec_encoder: a key frame at least every 10 s, if viewers need them")
{
    for (bool periodic : {true, false}) {
        av_video v({false, false, true}, 100, 64);
        v.e->ops->set_periodic_keys(v.e, periodic);
        std::string keys = v.encode(0, 610);
        CHECK(std::count(keys.begin(), keys.end(), '.') == (periodic ? 3 : 1));
    }
}

TEST_CASE("avcodec_encoder: a new bitrate without a key frame, or with one")
{
    for (bool reconfigure : {true, false}) {
        INFO("reconfigure " << reconfigure);
        av_video v({false, false, reconfigure}, 200, 160);
        size_t before = 0, after = 0, again = 0;
        v.encode(0, 30);
        v.encode(30, 120, &before);
        v.e->ops->set_bitrate(v.e, 0, 50000);
        CHECK(v.encode(120, 121) == (reconfigure ? "-" : "."));
        v.encode(121, 150);
        v.encode(150, 240, &after);
        v.e->ops->set_bitrate(v.e, 0, 200000);
        CHECK(v.encode(240, 241) == (reconfigure ? "-" : "."));
        v.encode(241, 270);
        v.encode(270, 360, &again);
        // bytes of 3 s
        CHECK((double)before == Approx(75000).epsilon(0.25));
        CHECK((double)after == Approx(18750).epsilon(0.25));
        CHECK((double)again == Approx(75000).epsilon(0.25));
    }
}

TEST_CASE("avcodec_encoder: what libavcodec does not have is an error that says so")
{
    ladder l = one_size(64, 48, 30, 1, {{0, 100000}});
    encoder_traits none = {};
    avcodec_engine unknown = {"h264_of_nobody", "", AVCODEC_OWN, false};
    char reason[AVCODEC_REASON_TEXT] = "";
    CHECK(!avcodec_encoder_new(&unknown, &none, &l, 0, reason));
    CHECK(std::string(reason) == "libavcodec has no encoder h264_of_nobody");
}

TEST_CASE("video_engine: each option of the table is one of its encoder's")
{
    for (int i = 0; const video_engine *engine = video_engine_at(i); i++) {
        CHECK(video_engine_find(engine->name) == engine);
        if (!engine->av)
            continue;
        const AVCodec *codec = avcodec_find_encoder_by_name(engine->av->codec);
        if (!codec) // libavcodec was built without it
            continue;
        AVCodecContext *c = avcodec_alloc_context3(codec);
        AVDictionary *options = nullptr;
        REQUIRE(av_dict_parse_string(&options, engine->av->options, "=", ":", 0) == 0);
        const AVDictionaryEntry *o = nullptr;
        while ((o = av_dict_get(options, "", o, AV_DICT_IGNORE_SUFFIX))) {
            INFO(engine->name << ": " << o->key << "=" << o->value);
            CHECK(av_opt_set(c, o->key, o->value, AV_OPT_SEARCH_CHILDREN) == 0);
        }
        av_dict_free(&options);
        avcodec_free_context(&c);
    }
    CHECK(!video_engine_find("auto"));
}

TEST_CASE("video_engine: x264 is always usable, and has layers; the others have none")
{
    char reason[VIDEO_ENGINE_REASON_TEXT];
    CHECK(video_engine_is_usable(video_engine_at(0), reason));
    CHECK(video_engine_at(0)->traits.layers);
    for (int i = 1; video_engine_at(i); i++) {
        CHECK(!video_engine_at(i)->traits.layers);
        CHECK(std::string(video_engine_at(i)->remedy) != "");
    }
}
