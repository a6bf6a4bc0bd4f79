// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/rtsp_parameters.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

static text of(const std::string &s)
{
    return {s.data(), s.size()};
}

TEST_CASE("rtsp_parameters: lines of SET_PARAMETER")
{
    struct {
        std::string name, value;
        rtsp_parameter parameter;
        bool is_valid;
        int number;
    } const table[] = {
        {"level", "3", PARAMETER_LEVEL, true, 3},
        {"Level", "0", PARAMETER_LEVEL, true, 0},
        {"level", "-1", PARAMETER_LEVEL, false, 0},
        {"level", "", PARAMETER_LEVEL, false, 0},
        {"level", "3x", PARAMETER_LEVEL, false, 0},
        {"latency", "250", PARAMETER_LATENCY, true, 250},
        {"buffer", "800", PARAMETER_LATENCY, true, 800},
        {"latency", "soon", PARAMETER_LATENCY, false, 0},
        {"Playout", "250", PARAMETER_PLAYOUT, true, 250},
        {"playout", "2.5", PARAMETER_PLAYOUT, false, 0},
        {"max-rate", "0", PARAMETER_MAX_RATE, true, 0},
        {"Max-Rate", "1000000", PARAMETER_MAX_RATE, true, 1000000},
        {"max-rate", "1e6", PARAMETER_MAX_RATE, false, 0},
        {"Audio-Track", "2", PARAMETER_AUDIO_TRACK, true, 2},
        {"audio-track", "eng", PARAMETER_AUDIO_TRACK, false, 0},
        {"adapt", "sender", PARAMETER_ADAPT, true, 1},
        {"ADAPT", "None", PARAMETER_ADAPT, true, 0},
        {"adapt", "1", PARAMETER_ADAPT, false, 0},
        {"path", "beside", PARAMETER_PATH, true, 0},
        {"path", "connection", PARAMETER_PATH, false, 0},
        {"capacity-probe", "2147483647", PARAMETER_CAPACITY_PROBE, true, 2147483647},
        {"capacity-probe", "2147483648", PARAMETER_CAPACITY_PROBE, false, 0},
        {"capacity-probe", "000000000000000000001", PARAMETER_CAPACITY_PROBE, false, 0}, // too long
        {"clock", "1", PARAMETER_UNKNOWN, false, 0},
        {"", "", PARAMETER_UNKNOWN, false, 0},
    };
    for (const auto &row : table) {
        INFO(row.name << ": " << row.value);
        rtsp_setting s = rtsp_setting_of(of(row.name), of(row.value));
        CHECK(s.parameter == row.parameter);
        CHECK(s.is_valid == row.is_valid);
        if (row.is_valid)
            CHECK(s.number == row.number);
    }
}

TEST_CASE("rtsp_parameters: lines of GET_PARAMETER")
{
    CHECK(rtsp_parameter_of(of("clock")) == PARAMETER_CLOCK);
    CHECK(rtsp_parameter_of(of("LEVEL")) == PARAMETER_LEVEL);
    CHECK(rtsp_parameter_of(of("transport")) == PARAMETER_TRANSPORT);
    CHECK(rtsp_parameter_of(of("Group-Hash")) == PARAMETER_GROUP_HASH);
    CHECK(rtsp_parameter_of(of("subtitles")) == PARAMETER_SUBTITLES);
    CHECK(rtsp_parameter_of(of("latency")) == PARAMETER_UNKNOWN);
}

TEST_CASE("rtsp_parameters: frames that are requested again, and groups")
{
    rtsp_setting s = rtsp_setting_of(of("Only"), of("video=3-5 audio=7"));
    CHECK(s.parameter == PARAMETER_ONLY);
    CHECK(s.is_valid);
    CHECK(frame_ranges_have(&s.ranges, FRAMES_VIDEO, 4));
    CHECK(frame_ranges_have(&s.ranges, FRAMES_AUDIO, 7));
    CHECK(rtsp_setting_of(of("only"), of("")).is_valid);
    CHECK_FALSE(rtsp_setting_of(of("only"), of("video=5-3")).is_valid);
    s = rtsp_setting_of(of("again"), of("3600/2"));
    CHECK(s.parameter == PARAMETER_AGAIN);
    CHECK(s.is_valid);
    CHECK(s.frame == 3600);
    CHECK(s.number == 2);
    for (const char *bad : {"", "3600", "3600/", "/2", "-60/2", "60/-1", "60/99", "60/2x", "60 2"})
        CHECK_FALSE(rtsp_setting_of(of("again"), of(bad)).is_valid);
    rtsp_group g;
    REQUIRE(rtsp_parameter_group(of("2/17"), &g));
    CHECK(g.track == 2);
    CHECK(g.group == 17);
    REQUIRE(rtsp_parameter_group(of("audio/0"), &g));
    CHECK(g.track == 8); // the audio
    for (const char *bad : {"", "8/1", "2", "2/", "/2", "2/-1", "2/3x", "sound/1", "2/99999999999"})
        CHECK_FALSE(rtsp_parameter_group(of(bad), &g));
}

TEST_CASE("rtsp_parameters: the transport's line has the known values")
{
    transport_info info;
    char line[512];
    transport_info_clear(&info);
    rtsp_parameter_transport(&info, 0, line, sizeof(line));
    CHECK(std::string(line) == "transport: skipped=0");
    info.rtt_ms = 12.3456;
    info.rate_bps = 1e6;
    info.loss = 0.5;
    info.cwnd_packets = 10;
    snprintf(info.variable[0].name, sizeof(info.variable[0].name), "mode");
    info.variable[0].value = 2;
    rtsp_parameter_transport(&info, 7, line, sizeof(line));
    CHECK(std::string(line) == "transport: rtt_ms=12.346 rate_bps=1000000 loss=0.50000 cwnd=10 "
                               "skipped=7 cc.mode=2.00000000");
    rtsp_parameter_transport(&info, 7, line, 20);
    CHECK(std::string(line) == "transport: rtt_ms=1");
}

TEST_CASE("rtsp_parameters: a proxy adds what it knows of the way behind it")
{
    relay_info info = relay_info_unknown();
    char line[512] = "transport: rtt_ms=1.000";
    rtsp_parameter_relay(&info, line, sizeof(line));
    CHECK(std::string(line) == "transport: rtt_ms=1.000");
    info.backbone_rtt_ms = 200;
    info.backbone_skipped = 3;
    info.backbone_away_s = 4.25;
    info.proxy_limit_bps = 512e3;
    rtsp_parameter_relay(&info, line, sizeof(line));
    CHECK(std::string(line) == "transport: rtt_ms=1.000 backbone.rtt_ms=200.000 backbone.skipped=3 "
                               "backbone.away_s=4.250 proxy.limit_bps=512000");
}

TEST_CASE("rtsp parameters: a source that is away is a line of its own, within the buffer")
{
    char line[64] = "transport: rtt_ms=1.000";
    rtsp_parameter_away(4.25, "it\r\nanswers 401", line, sizeof(line));
    CHECK(std::string(line) == "transport: rtt_ms=1.000\r\nsource-away: 4.250 it  answers 401");
    char narrow[64] = "transport: rtt_ms=1.000";
    rtsp_parameter_away(4.25, std::string(200, 'x').c_str(), narrow, sizeof(narrow));
    CHECK(strlen(narrow) == sizeof(narrow) - 1);
}
