// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/playback_requests.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

namespace
{

sdp described(double duration, bool h264_of_weir)
{
    sdp s = {};
    s.duration = duration;
    s.codec = SDP_H264;
    s.ext.adu = h264_of_weir ? 2 : 0;
    return s;
}

playback_requests requests_of(const sdp &s, bool names_speed = false)
{
    playback_requests p;
    playback_requests_init(&p, names_speed);
    playback_requests_describe(&p, &s);
    return p;
}

std::string text_of(const playback_request &r)
{
    std::string text = std::string(rtsp_method_name(request_method(r.kind))) + " " + r.headers +
                       r.body + (r.sought ? "sought" : "") + (r.paused ? "paused" : "");
    std::string out;
    for (char c : text)
        out += c == '\r' ? "" : std::string(1, c == '\n' ? ';' : c);
    return out;
}

// Returns the requests to send now, which become pending.
std::vector<std::string> take(playback_requests *p, pending_requests *pending)
{
    std::vector<std::string> out;
    playback_request r;
    while (playback_requests_next(p, pending, &r)) {
        pending_requests_add(pending, [&] {
            static struct pending one;
            one = {};
            one.kind = r.kind;
            return &one;
        }());
        out.push_back(text_of(r));
    }
    return out;
}

} // namespace

TEST_CASE("playback requests: the first PLAY")
{
    const struct {
        double duration, start;
        bool weir;
        const char *play;
    } table[] = {
        {-1, 0, true, "PLAY Range: npt=now-;"},
        {-1, 3, true, "PLAY Range: npt=now-;"},
        {-1, 0, false, "PLAY "},
        {60, 0, true, "PLAY Range: npt=0.000-;"},
        {60, 3.5, true, "PLAY Range: npt=3.500-;"},
        {60, 61, true, "PLAY Range: npt=0.000-;"},
        {60, 3.5, false, "PLAY Range: npt=3.500-;"},
    };
    for (const auto &row : table) {
        INFO(row.play << " of " << row.duration << " s from " << row.start);
        playback_requests p = requests_of(described(row.duration, row.weir));
        playback_request r;
        playback_requests_start(&p, row.start, &r);
        CHECK(text_of(r) == row.play);
    }
    playback_requests p = requests_of(described(60, true), true);
    p.speed = 1.25;
    playback_request r;
    playback_requests_start(&p, 0, &r);
    CHECK(text_of(r) == "PLAY Range: npt=0.000-;Speed: 1.250;");
    p.awaits_level = true;
    playback_requests_start(&p, 0, &r);
    CHECK(text_of(r) == "PLAY Range: npt=0.000-;Speed: 1.250;X-Weir-Await: level;");
    playback_requests_start(&p, 0, &r); // once
    CHECK(text_of(r) == "PLAY Range: npt=0.000-;Speed: 1.250;");
}

TEST_CASE("playback requests: a film again from a frame on, and the level behind it")
{
    using Texts = std::vector<std::string>;
    playback_requests p = requests_of(described(60, true));
    pending_requests pending = {};
    p.again = 120;
    p.again_level = 0;
    p.level = 2; // of what follows
    CHECK(take(&p, &pending) == Texts{"SET_PARAMETER again: 120/0;"});
    pending = {};
    CHECK(take(&p, &pending) == Texts{"SET_PARAMETER level: 2;"});
    pending = {};
    CHECK(take(&p, &pending) == Texts{});
}

TEST_CASE("playback requests: the last choice of each kind is sent after the previous response")
{
    using Texts = std::vector<std::string>;
    for (bool live : {true, false}) {
        playback_requests p = requests_of(described(live ? -1 : 60, true));
        pending_requests pending = {};
        CHECK(take(&p, &pending) == Texts{});
        p.level = 3;
        p.latency_ms = 400;
        p.pause = true;
        CHECK(take(&p, &pending) ==
              Texts{"SET_PARAMETER level: 3;", "SET_PARAMETER latency: 400;", "PAUSE "});
        p.level = 2;
        p.level = 1;
        p.latency_ms = 500;
        p.playout_ms = 700;
        p.audio_track = 3;
        p.audio_track = 2;
        p.pause = false;
        p.pause = true;
        CHECK(take(&p, &pending) ==
              Texts{"SET_PARAMETER playout: 700;", "SET_PARAMETER audio-track: 2;"});
        p.audio_track = 1;
        p.playout_ms = 800;
        p.playout_ms = 900;
        CHECK(take(&p, &pending) == Texts{});
        pending.count = 0;
        CHECK(take(&p, &pending) == Texts{"SET_PARAMETER level: 1;", "SET_PARAMETER latency: 500;",
                                          "SET_PARAMETER playout: 900;",
                                          "SET_PARAMETER audio-track: 1;"});
        pending.count = 0;
        p.max_bps = 500000;
        CHECK(take(&p, &pending) == Texts{"SET_PARAMETER max-rate: 500000;"});
        p.max_bps = 400000;
        p.max_bps = 0;
        CHECK(take(&p, &pending) == Texts{});
        pending.count = 0;
        CHECK(take(&p, &pending) == Texts{"SET_PARAMETER max-rate: 0;"});
        pending.count = 0;
        p.adapt = "none";
        CHECK(take(&p, &pending) == Texts{"SET_PARAMETER adapt: none;"});
        p.adapt = "sender";
        CHECK(take(&p, &pending) == Texts{});
        pending.count = 0;
        CHECK(take(&p, &pending) == Texts{"SET_PARAMETER adapt: sender;"});
        pending.count = 0;
        p.speed = 2; // not while it is paused
        CHECK(take(&p, &pending) == Texts{});
        p.pause = false;
        CHECK(take(&p, &pending) == Texts{live ? "PLAY Range: npt=now-;" : "PLAY "});
        pending.count = 0;
        CHECK(take(&p, &pending) == Texts{}); // that PLAY was at the new speed
        p.speed = 1;
        CHECK(take(&p, &pending) == Texts{"PLAY "});
    }
}

TEST_CASE("playback requests: PLAY after a pause continues live media and files")
{
    const struct {
        double duration;
        bool weir;
        const char *play;
    } table[] = {
        {-1, true, "PLAY Range: npt=now-;"},
        {-1, false, "PLAY "}, // not every server knows "now", as at the start
        {60, true, "PLAY "},
        {60, false, "PLAY "},
    };
    for (const auto &row : table) {
        INFO(row.duration << (row.weir ? " s of weir-send" : " s of a third party"));
        playback_requests p = requests_of(described(row.duration, row.weir));
        pending_requests pending = {};
        p.pause = true;
        CHECK(take(&p, &pending) == std::vector<std::string>{"PAUSE "});
        pending.count = 0;
        p.pause = false;
        CHECK(take(&p, &pending) == std::vector<std::string>{row.play});
    }
}

TEST_CASE("playback requests: a position is sent before a pause, and ends it")
{
    using Texts = std::vector<std::string>;
    playback_requests p = requests_of(described(60, true));
    pending_requests pending = {};
    p.pause = true;
    CHECK(take(&p, &pending) == Texts{"PAUSE "});
    p.position = 10;
    p.position = 20;
    CHECK(take(&p, &pending) == Texts{}); // PAUSE has no response yet
    pending.count = 0;
    CHECK(take(&p, &pending) == Texts{"PLAY Range: npt=20.000-;soughtpaused"});
    pending.count = 0;
    CHECK(take(&p, &pending) == Texts{});
    SECTION("the server refuses it and is still paused: PLAY")
    {
        playback_requests_seek_refused(&p, true);
        CHECK(take(&p, &pending) == Texts{"PLAY "});
    }
    SECTION("it was not paused")
    {
        playback_requests_seek_refused(&p, false);
        CHECK(take(&p, &pending) == Texts{});
    }
}

TEST_CASE("playback requests: the scale goes with the position, and is named until it is 1 again")
{
    playback_requests p = requests_of(described(60, true));
    pending_requests pending{};
    p.position = 10;
    p.scale = 4;
    CHECK(take(&p, &pending) ==
          std::vector<std::string>{"PLAY Range: npt=10.000-;Scale: 4.000;sought"});
    // Two more choices before the response: the last one counts.
    p.position = 11;
    p.scale = 8;
    p.position = 12;
    p.scale = -2;
    CHECK(take(&p, &pending).empty());
    playback_requests_scaled(&p, 4);
    pending = {};
    CHECK(take(&p, &pending) ==
          std::vector<std::string>{"PLAY Range: npt=12.000-;Scale: -2.000;sought"});
    playback_requests_scaled(&p, -2);
    pending = {};
    p.position = 3; // a seek keeps the scale
    CHECK(take(&p, &pending) ==
          std::vector<std::string>{"PLAY Range: npt=3.000-;Scale: -2.000;sought"});
    playback_requests_scaled(&p, -2);
    pending = {};
    p.pause = true;
    CHECK(take(&p, &pending) == std::vector<std::string>{"PAUSE "});
    pending = {};
    p.pause = false; // and so does a pause
    CHECK(take(&p, &pending) == std::vector<std::string>{"PLAY Scale: -2.000;"});
    pending = {};
    p.position = 2;
    p.scale = 1;
    CHECK(take(&p, &pending) ==
          std::vector<std::string>{"PLAY Range: npt=2.000-;Scale: 1.000;sought"});
    playback_requests_scaled(&p, 1);
    pending = {};
    p.position = 20;
    CHECK(take(&p, &pending) == std::vector<std::string>{"PLAY Range: npt=20.000-;sought"});
}

TEST_CASE("playback requests: a server that knows no scale, or refuses it")
{
    playback_requests p = requests_of(described(60, true));
    pending_requests pending{};
    p.position = 10;
    p.scale = 4;
    CHECK(take(&p, &pending).size() == 1);
    playback_requests_scaled(&p, 1); // its response has no Scale
    CHECK(p.scale == 1);
    pending = {};
    p.position = 10;
    p.scale = 4;
    CHECK(take(&p, &pending).size() == 1);
    playback_requests_seek_refused(&p, false);
    CHECK(p.scale == 1);
}
