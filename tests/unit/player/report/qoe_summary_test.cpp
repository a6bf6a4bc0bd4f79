// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/report/qoe_summary.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/support/qoe_session.hpp"

using namespace qoe_session;

namespace
{

std::string text_of(const qoe_json &r)
{
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    qoe_summary_print(&r, out);
    fclose(out);
    std::string copy(text, len);
    free(text);
    return copy;
}

std::string summary_of(qoe *q, usec_t at)
{
    qoe_json r;
    qoe_read(q, &r, at * ms);
    return text_of(r);
}

} // namespace

TEST_CASE("qoe_summary: each line of a session that has every figure")
{
    pointer q = watched();
    qoe_on_ended(q.get(), QOE_SERVER_LOST, "connection\x1b[2J reset", 5700 * ms);
    CHECK(
        summary_of(q.get(), 5700) ==
        "not smooth: 1 freeze, together 0.6 s, 4.2 frames/s, 0.2 s behind\n"
        "watched   rtsp://[::1]:8554/live, test 640x360@10, over minbuf:1,3\n"
        "ended     server-lost after 4.70 s: connection?[2J reset\n"
        "startup   connected 0.02 s, buffered until 0.50 s, first picture 0.50 s\n"
        "playback  5 frames in 1.20 s: 4.2 of 9.2 frames/s, 1 lost, 1 late, 1 undecodable\n"
        "not shown 3 of 8 frames: 2 network, 1 late; 1 of them only because they depend on another "
        "frame\n"
        "stalls    1, together 0.50 s (41.67 %): 0.50 s transport too slow\n"
        "freezes   1, together 0.60 s (50.00 %), longest 0.60 s: 0.60 s transport\n"
        "picture   PSNR 35.1 dB, SSIM 0.850, 2 compared\n"
        "levels    mean 0.83, highest 1, 1 switch\n"
        "latency   write to read 300.0 ms, p95 600.0 ms, within 200 ms 50.00 %, within 500 ms "
        "75.00 %\n"
        "screen    capture to screen 200.0 ms, p95 300.0 ms\n"
        "jitter    mean 105.0 ms, p95 209.9 ms, max 210.0 ms\n"
        "network   16 kbit/s received, of it 12 kbit/s useful, RTT 30.0 ms\n"
        "packets   4 received, 10 lost (5.00 %), 3 reordered\n");
}

TEST_CASE("qoe_summary: no figure where nothing was measured")
{
    pointer q(qoe_new("rtsp://h/", started_wall, 0), qoe_free);
    std::string text = summary_of(q.get(), 0);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text == "no picture was shown\nwatched   rtsp://h/\n"
                  "so far    watching after 0.00 s\n");
}

TEST_CASE("qoe_summary: the audio has a line of its own if there was any")
{
    pointer q = watched();
    CHECK(summary_of(q.get(), 5700).find("audio  ") == std::string::npos);
    qoe_audio audio = {};
    audio.packets = 500;
    audio.lost = 4;
    audio.repaired = 3;
    audio.concealed = 80;
    audio.underruns = 1;
    audio.offset.p50 = 12.34;
    audio.offset.p5 = -3;
    audio.offset.p95 = 40;
    qoe_on_audio(q.get(), &audio);
    CHECK(summary_of(q.get(), 5700)
              .find("audio     500 packets, 4 lost, 3 repaired, 80.0 ms concealed, 1 underrun, "
                    "12.3 ms behind the picture (-3.0 ms to 40.0 ms)\n") != std::string::npos);
    audio.underruns = 2;
    audio.offset.p50 = -12.34;
    audio.offset.p5 = -40;
    audio.offset.p95 = 3;
    qoe_on_audio(q.get(), &audio);
    CHECK(summary_of(q.get(), 5700)
              .find("2 underruns, 12.3 ms before the picture (-3.0 ms to 40.0 ms)\n") !=
          std::string::npos);
}

TEST_CASE("qoe_summary: repair has a line where packets could get lost")
{
    pointer q = watched();
    CHECK(summary_of(q.get(), 5700).find("repair  ") == std::string::npos);
    qoe_repair repair = {48, 5, 12, 7, -1, 5720, 100000};
    qoe_on_repair(q.get(), &repair);
    CHECK(summary_of(q.get(), 5700)
              .find("repair    48 sent again, 7 recovered by parity, 5.72 % more bytes\n") !=
          std::string::npos);
}

TEST_CASE("qoe_summary: a freeze of the decoder is called what its frames are")
{
    pointer q = watched();
    qoe_json r;
    qoe_read(q.get(), &r, 5700 * ms);
    r.freezes.by_cause[FREEZE_UNDECODABLE] = {1, 0.19};
    CHECK(text_of(r).find("longest 0.60 s: 0.60 s transport, 0.19 s decoder\n") !=
          std::string::npos);
}

TEST_CASE("qoe_summary: the sentence")
{
    static const struct {
        double played, freezes, total, ratio, rate, behind;
        const char *text;
    } rows[] = {
        {300, 0, 0, 0, 30, 312, "smooth: no freeze, 30.0 frames/s, 0.3 s behind\n"},
        {300, 1, 0.3, 0.005, 29.9, NAN, "nearly smooth: 1 freeze, together 0.3 s, 29.9 frames/s\n"},
        {300, 3, 8.4, 0.66, 9.5, 1240,
         "not smooth: 3 freezes, together 8.4 s, 9.5 frames/s, 1.2 s behind\n"},
        {0, 0, 0, NAN, NAN, NAN, "no picture was shown\n"},
    };
    for (const auto &row : rows) {
        pointer q = watched();
        qoe_json r;
        qoe_read(q.get(), &r, 5700 * ms);
        r.playback.frames_played = row.played;
        r.playback.frame_rate = row.rate;
        r.freezes.count = row.freezes;
        r.freezes.total = row.total;
        r.freezes.ratio = row.ratio;
        r.latency.display.mean = row.behind;
        std::string all = text_of(r);
        CHECK(all.substr(0, all.find('\n') + 1) == row.text);
    }
}
