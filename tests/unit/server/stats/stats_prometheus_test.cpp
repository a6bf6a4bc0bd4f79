// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "server/stats/stats_prometheus.h"

namespace
{

const process_stats usage = {1.5, 0.25, 50e6, 60e6, 12, -1};

// Two transports, one size, and the sessions that are added.
std::unique_ptr<stats> make()
{
    auto f = std::make_unique<stats>();
    f->version = "1.2.3";
    f->begun_wall = 1700000000250000;
    f->transport_count = 2;
    f->total.transports[0].name = "minbuf";
    f->total.transports[1].name = "tfrc";
    f->stream_count = 1;
    stream_stats &s = f->streams[0];
    snprintf(s.path, sizeof(s.path), "/live");
    snprintf(s.source, sizeof(s.source), "a \"b\"\\c\nd");
    s.open = 1;
    s.encoder_count = 1;
    s.encoders[0] = {
        640,  360, 29.97, 800000, {10, 2, 40000, 3, 250000, 25.5, 1500000, {9, 3, 4, 2, 1}, 500000},
        false};
    return f;
}

session_stats session(int number)
{
    session_stats s = {};
    s.number = number;
    snprintf(s.transport, sizeof(s.transport), "minbuf:auto,50");
    s.layers = 2;
    s.info.rtt_ms = 12.5;
    s.info.rate_bps = 800;
    s.info.loss = s.info.unsent_bytes = s.info.cwnd_packets = s.info.loss_events =
        s.info.allowed_bps = NAN;
    s.adaptation = {NAN, NAN, NAN, NAN, NAN, NAN, 0, NAN};
    return s;
}

std::string text_of(const stats &f, const process_stats &p = usage)
{
    std::vector<char> out(STATS_PROMETHEUS_BYTES);
    int len = metrics_text(&f, &p, out.data(), out.size());
    REQUIRE(len == static_cast<int>(strlen(out.data())));
    return out.data();
}

bool has(const std::string &text, const std::string &line)
{
    return text.rfind(line + "\n", 0) == 0 || text.find("\n" + line + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("metrics_text: stats in base units")
{
    auto f = make();
    session_stats s = session(3);
    s.playing = true;
    s.level = 4;
    s.packets = 18446744073709; // further than a float counts
    s.octets = 1000;
    s.feedback_dropped = 17;
    s.waiting_ms = 1500;
    s.waiting_bytes = 777;
    s.frames.sent[1] = 9;
    s.frames.dropped[DROP_LAYER][1] = 5;
    s.info.allowed_bps = 1e6;
    s.adaptation.delay_ms = 250;
    snprintf(s.info.variable[0].name, sizeof(s.info.variable[0].name), "X_recv");
    s.info.variable[0].value = 0.125;
    f->sessions[f->session_count++] = s;
    stats_add(&f->total, 1, &s);
    f->total.transports[1].open = 1;
    std::string text = text_of(*f);
    const char *const lines[] = {
        "weir_build_info{version=\"1.2.3\"} 1",
        "weir_source_info{path=\"/live\",source=\"a \\\"b\\\"\\\\c\\nd\"} 1",
        "weir_source_sessions{path=\"/live\"} 1",
        "weir_sessions{transport=\"minbuf\"} 0",
        "weir_sessions{transport=\"tfrc\"} 1",
        "weir_packets_total{transport=\"tfrc\"} 18446744073709",
        "# HELP weir_payload_bytes_total Bytes of RTP payload sent, without audio.",
        "weir_payload_bytes_total{transport=\"tfrc\"} 1000",
        "weir_frames_sent_total{layer=\"1\"} 9",
        "weir_frames_dropped_total{cause=\"layer\",layer=\"1\"} 5",
        "weir_frames_dropped_total{cause=\"deadline\",layer=\"1\"} 0",
        "weir_session_info{session=\"3\",path=\"/live\",transport=\"minbuf:auto,50\"} 1",
        "weir_session_playing{session=\"3\"} 1",
        "weir_session_level{session=\"3\"} 4",
        "weir_session_packets_total{session=\"3\"} 18446744073709",
        "weir_session_queue_seconds{session=\"3\"} 1.5",
        "weir_session_queue_bytes{session=\"3\"} 777",
        "weir_session_rtt_seconds{session=\"3\"} 0.0125",
        "weir_session_rate_bytes_per_second{session=\"3\"} 100",
        "weir_session_feedback_dropped_total{session=\"3\"} 17",
        "weir_session_allowed_bytes_per_second{session=\"3\"} 125000",
        "weir_session_delay_seconds{session=\"3\"} 0.25",
        "weir_session_frames_dropped_total{session=\"3\",cause=\"layer\",layer=\"1\"} 5",
        "weir_session_controller{session=\"3\",variable=\"X_recv\"} 0.125",
        "weir_encoder_frames_total{path=\"/live\",size=\"640x360@29.97\"} 10",
        "weir_encoder_repair_requests_total{path=\"/live\",size=\"640x360@29.97\"} 9",
        "weir_encoder_repaired_total{path=\"/live\",size=\"640x360@29.97\"} 3",
        "weir_encoder_repair_coalesced_total{path=\"/live\",size=\"640x360@29.97\"} 4",
        "weir_encoder_repair_waited_total{path=\"/live\",size=\"640x360@29.97\"} 2",
        "weir_encoder_repair_key_frames_total{path=\"/live\",size=\"640x360@29.97\"} 1",
        "weir_encoder_busy_seconds_total{path=\"/live\",size=\"640x360@29.97\"} 0.25",
        "weir_encoder_lowered_seconds_total{path=\"/live\",size=\"640x360@29.97\"} 1.5",
        "weir_encoder_frame_seconds{path=\"/live\",size=\"640x360@29.97\"} 0.0255",
        "weir_encoder_nominal_bytes_per_second{path=\"/live\",size=\"640x360@29.97\"} 100000",
        "process_cpu_seconds_total 1.75",
        "process_start_time_seconds 1700000000.25",
        "process_open_fds 12",
    };
    for (const char *line : lines) {
        INFO(line << "\n" << text);
        CHECK(has(text, line));
    }
}

TEST_CASE("metrics_text: streams are separate, and sessions name theirs")
{
    auto f = make();
    f->stream_count = 2;
    f->streams[1] = f->streams[0];
    snprintf(f->streams[1].path, sizeof(f->streams[1].path), "/my%%20film.mkv");
    f->streams[1].open = 7;
    for (int number : {1, 2}) {
        session_stats s = session(number);
        s.stream = number - 1;
        f->sessions[f->session_count++] = s;
    }
    std::string text = text_of(*f);
    for (const char *line : {
             "weir_source_sessions{path=\"/my%20film.mkv\"} 7",
             "weir_session_info{session=\"1\",path=\"/live\",transport=\"minbuf:auto,50\"} 1",
             "weir_session_info{session=\"2\",path=\"/"
             "my%20film.mkv\",transport=\"minbuf:auto,50\"} 1",
             "weir_encoder_frames_total{path=\"/live\",size=\"640x360@29.97\"} 10",
             "weir_encoder_frames_total{path=\"/my%20film.mkv\",size=\"640x360@29.97\"} 10",
         }) {
        INFO(line << "\n" << text);
        CHECK(has(text, line));
    }
}

TEST_CASE("metrics_text: audio is counted if there is any")
{
    auto f = make();
    for (int number : {1, 2}) {
        session_stats s = session(number);
        s.packets = 100;
        s.has_audio = number == 2;
        s.audio_packets = number == 2 ? 50 : 0;
        s.audio_octets = number == 2 ? 8000 : 0;
        s.audio_dropped = number == 2 ? 3 : 0;
        f->sessions[f->session_count++] = s;
        stats_add(&f->total, 1, &s);
    }
    std::string text = text_of(*f);
    CHECK(text.find("weir_sound_encoder_packets_total{") == std::string::npos);
    f->streams[0].audio_bps = 64000;
    f->streams[0].audio = {51, 8160, 1, 20000};
    text = text_of(*f);
    for (const char *line : {
             "weir_packets_total{transport=\"tfrc\"} 200",
             "weir_sound_packets_total{transport=\"tfrc\"} 50",
             "weir_sound_payload_bytes_total{transport=\"tfrc\"} 8000",
             "weir_sound_dropped_packets_total 3",
             "weir_session_sound_packets_total{session=\"2\"} 50",
             "weir_session_sound_payload_bytes_total{session=\"2\"} 8000",
             "weir_session_sound_dropped_packets_total{session=\"2\"} 3",
             "weir_sound_encoder_packets_total{path=\"/live\"} 51",
             "weir_sound_encoder_bytes_total{path=\"/live\"} 8160",
             "weir_sound_encoder_overload_frames_total{path=\"/live\"} 1",
             "weir_sound_encoder_busy_seconds_total{path=\"/live\"} 0.02",
             "weir_sound_encoder_nominal_bytes_per_second{path=\"/live\"} 8000",
         }) {
        INFO(line << "\n" << text);
        CHECK(has(text, line));
    }
    CHECK(text.find("sound_packets_total{session=\"1\"}") == std::string::npos);
}

TEST_CASE("metrics_text: a proxy's sessions have the way to the origin")
{
    auto f = make();
    for (int number : {1, 2}) {
        session_stats s = session(number);
        s.relayed = number == 2;
        s.relay = {100, 800000, 0.01, 60, 7, 1.5, 2, 512000, 1234, 3};
        if (number == 2)
            s.relay.backbone_delay_ms = NAN;
        f->sessions[f->session_count++] = s;
    }
    std::string text = text_of(*f);
    for (const char *line : {
             "weir_session_backbone_rtt_seconds{session=\"2\"} 0.1",
             "weir_session_backbone_rate_bytes_per_second{session=\"2\"} 100000",
             "weir_session_backbone_loss_ratio{session=\"2\"} 0.01",
             "weir_session_backbone_skipped_frames_total{session=\"2\"} 7",
             "weir_session_backbone_away_seconds{session=\"2\"} 1.5",
             "weir_session_proxy_delay_seconds{session=\"2\"} 0.002",
             "weir_session_proxy_limit_bytes_per_second{session=\"2\"} 64000",
             "weir_session_proxy_badput_bytes_total{session=\"2\"} 1234",
         }) {
        INFO(line << "\n" << text);
        CHECK(has(text, line));
    }
    CHECK(text.find("weir_session_backbone_delay_seconds{") == std::string::npos);
    CHECK(text.find("weir_session_backbone_rtt_seconds{session=\"1\"}") == std::string::npos);
}

TEST_CASE("metrics_text: unknown values have no sample")
{
    auto f = make();
    f->sessions[f->session_count++] = session(1);
    std::string text = text_of(*f, {0, 0, NAN, 0, -1, -1});
    CHECK(text.find("weir_session_rtt_seconds{") != std::string::npos);
    for (const char *name : {"weir_session_loss_ratio{", "weir_session_cwnd_packets{",
                             "weir_session_target_bytes_per_second{", "weir_session_reports_total{",
                             "weir_session_controller{", "process_resident_memory_bytes ",
                             "process_open_fds ", " nan", " inf", " -inf"}) {
        INFO(name);
        CHECK(text.find(name) == std::string::npos);
    }
}

TEST_CASE("metrics_text: each family occurs once, with help, type and its own samples")
{
    auto f = make();
    for (int number : {1, 2})
        f->sessions[f->session_count++] = session(number);
    std::istringstream text(text_of(*f));
    std::string line, family;
    std::set<std::string> seen;
    while (std::getline(text, line)) {
        std::istringstream words(line);
        std::string hash, what, name, type;
        words >> hash >> what >> name >> type;
        INFO(line);
        if (hash == "#" && what == "HELP") {
            CHECK(seen.insert(name).second);
            family = name;
            CHECK(line.back() == '.');
        } else if (hash == "#") {
            CHECK(name == family);
            bool total = name.size() > 6 && name.compare(name.size() - 6, 6, "_total") == 0;
            CHECK(type == (total ? "counter" : "gauge"));
        } else {
            CHECK(line.substr(0, line.find_first_of("{ ")) == family);
        }
    }
    CHECK(seen.size() > 40);
}

TEST_CASE("metrics_text: the max number of sessions fits")
{
    auto f = make();
    f->stream_count = STATS_STREAMS;
    for (int i = 0; i < STATS_STREAMS; i++) {
        stream_stats &s = f->streams[i];
        memset(s.path, 'p', sizeof(s.path) - 1);
        memset(s.source, '\n', sizeof(s.source) - 1);
        s.encoder_count = LADDER_MAX_SIZES;
        for (auto &e : s.encoders)
            e = {4096,
                 2304,
                 29.97,
                 INT32_MAX,
                 {UINT64_MAX,
                  UINT64_MAX,
                  UINT64_MAX,
                  UINT64_MAX,
                  INT64_MAX,
                  1e300 / 3,
                  INT64_MAX,
                  {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                  INT32_MAX},
                 false};
        s.audio_bps = INT32_MAX;
        s.audio = {UINT64_MAX, UINT64_MAX, UINT64_MAX, INT64_MAX};
    }
    for (int number = 1; number <= STATS_SESSIONS; number++) {
        session_stats s = session(number);
        s.layers = SCHEDULER_MAX_LAYERS;
        s.stream = number % STATS_STREAMS;
        s.packets = s.octets = s.thinned = s.wrong_tokens = s.feedback_dropped = UINT64_MAX;
        s.has_audio = true;
        s.audio_packets = s.audio_octets = s.audio_dropped = UINT64_MAX;
        s.info.is_reported = true;
        memset(&s.frames, 0xff, sizeof(s.frames));
        memset(&s.info.counts, 0xff, sizeof(s.info.counts));
        s.info.loss = s.info.unsent_bytes = s.info.cwnd_packets = s.info.loss_events =
            s.info.allowed_bps = -1.23456789012e-300;
        s.adaptation = {-1e300 / 3, -1e300 / 3, -1e300 / 3, 1, -1e300 / 3, -1e300 / 3, 0, NAN};
        s.relayed = true;
        const double r = -1e300 / 3;
        s.relay = {r, r, r, r, r, r, r, r, r, r};
        memset(s.transport, '"', sizeof(s.transport) - 1);
        for (auto &v : s.info.variable) {
            memset(v.name, '\\', sizeof(v.name) - 1);
            v.value = -1e300 / 3;
        }
        f->sessions[f->session_count++] = s;
    }
    CHECK(has(text_of(*f), "weir_session_level{session=\"64\"} 0"));
    std::vector<char> small(1000);
    CHECK(metrics_text(f.get(), &usage, small.data(), small.size()) == ERR_FULL);
}

TEST_CASE("metrics_text: viewers of --http")
{
    auto f = make();
    CHECK(text_of(*f).find("weir_http_") == std::string::npos);
    f->http = {true, 3, 1, 20, 4000};
    std::string text = text_of(*f);
    CHECK(has(text, "weir_http_connections 3"));
    CHECK(has(text, "weir_http_waiting_requests 1"));
    CHECK(has(text, "weir_http_requests_total 20"));
    CHECK(has(text, "weir_http_sent_bytes_total 4000"));
}
