// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include <jansson.h>

#include "common/base/err.h"
#include "player/report/qoe_json.h"
#include "tests/support/qoe_session.hpp"
#include "tests/unit/temp_folder.hpp"

using namespace qoe_session;

namespace
{

struct json {
    json_t *root;
    explicit json(const char *text) : root(json_loads(text, 0, nullptr)) {}
    json(const json &) = delete;
    json &operator=(const json &) = delete;
    ~json()
    {
        json_decref(root);
    }
    // Returns the value at the path "a.b.c"; nullptr if the key does not exist.
    json_t *at(const std::string &path) const
    {
        json_t *v = root;
        std::stringstream keys(path);
        for (std::string key; v && std::getline(keys, key, '.');)
            v = json_object_get(v, key.c_str());
        return v;
    }
    double number(const std::string &path) const
    {
        json_t *v = at(path);
        INFO(path);
        REQUIRE(json_is_number(v));
        return json_number_value(v);
    }
    std::string text(const std::string &path) const
    {
        json_t *v = at(path);
        INFO(path);
        REQUIRE(json_is_string(v));
        return json_string_value(v);
    }
};

std::string json_of(qoe *q, usec_t at)
{
    qoe_json r;
    qoe_read(q, &r, at * ms);
    char *text = qoe_json_json(&r);
    REQUIRE(text);
    std::string copy = text;
    free(text);
    return copy;
}

// Every key of the schema; '0': null is allowed if nothing was measured; '!': null is not allowed.
const std::vector<std::pair<char, std::string>> schema = {
    {'!', "schema"},
    {'0', "ended"},
    {'0', "error"},
    {'!', "session.url"},
    {'0', "session.transport"},
    {'0', "session.source"},
    {'!', "session.started_at"},
    {'!', "session.duration"},
    {'0', "startup.connect"},
    {'0', "startup.initial_buffering"},
    {'0', "startup.time_to_first_frame"},
    {'!', "session.reconnects"},
    {'!', "rebuffering.by_cause.server-lost.count"},
    {'0', "playback.media"},
    {'0', "playback.wall"},
    {'0', "playback.frames_received"},
    {'0', "playback.frames_played"},
    {'0', "playback.frames_lost"},
    {'0', "playback.frames_late"},
    {'0', "playback.frames_skipped"},
    {'0', "playback.skips"},
    {'0', "playback.speed.mean"},
    {'0', "playback.speed.min"},
    {'0', "playback.speed.max"},
    {'0', "latency.budget"},
    {'0', "playback.frame_rate"},
    {'0', "playback.encoded_frame_rate"},
    {'0', "rebuffering.count"},
    {'0', "rebuffering.total"},
    {'0', "rebuffering.ratio"},
    {'!', "rebuffering.events"},
    {'0', "freezes.count"},
    {'0', "freezes.total"},
    {'0', "freezes.ratio"},
    {'0', "freezes.longest"},
    {'!', "freezes.events"},
    {'!', "freezes.by_cause.undecodable.total"},
    {'!', "seeks.count"},
    {'!', "channels.count"},
    {'!', "channels.list"},
    {'!', "rebuffering.by_cause.sender.total"},
    {'0', "causes"},
    {'0', "jitter.mean"},
    {'0', "jitter.stddev"},
    {'0', "jitter.p50"},
    {'0', "jitter.p95"},
    {'0', "jitter.p99"},
    {'0', "jitter.max"},
    {'0', "levels.count"},
    {'0', "levels.mean"},
    {'!', "levels.time_at"},
    {'!', "levels.bitrates"},
    {'!', "levels.switches"},
    {'0', "latency.protocol.mean"},
    {'0', "latency.protocol.p50"},
    {'0', "latency.protocol.p95"},
    {'0', "latency.protocol.p99"},
    {'0', "latency.protocol.max"},
    {'0', "latency.protocol.d200"},
    {'0', "latency.protocol.d500"},
    {'!', "latency.protocol.samples"},
    {'0', "latency.protocol.clock"},
    {'0', "latency.frame.mean"},
    {'0', "latency.frame.p50"},
    {'0', "latency.frame.p95"},
    {'0', "latency.frame.p99"},
    {'0', "latency.frame.max"},
    {'0', "latency.display.mean"},
    {'0', "latency.display.p50"},
    {'0', "latency.display.p95"},
    {'0', "latency.display.p99"},
    {'0', "latency.display.max"},
    {'0', "latency.clock"},
    {'0', "latency.offset_error"},
    {'0', "network.bytes_received"},
    {'0', "network.throughput"},
    {'0', "network.goodput"},
    {'0', "network.packets_received"},
    {'0', "network.packets_lost"},
    {'0', "network.loss_rate"},
    {'0', "network.loss_event_rate"},
    {'0', "network.packets_reordered"},
    {'0', "network.ecn_marked"},
    {'0', "network.second_path_bytes"},
    {'0', "network.rtt.mean"},
    {'0', "network.rtt.p95"},
    {'0', "network.capacity_estimate"},
    {'0', "layers"},
    {'0', "film"},
    {'0', "repair"},
    {'0', "picture"},
    {'0', "audio"},
    {'0', "cpu.user"},
    {'0', "cpu.system"},
    {'0', "cpu.max_rss"},
};

} // namespace

TEST_CASE("qoe_json: every key of the schema is there, null where nothing was measured")
{
    pointer q(qoe_new("rtsp://h/", started_wall, 0), qoe_free);
    json j(json_of(q.get(), 0).c_str());
    REQUIRE(j.root);
    for (const auto &[kind, path] : schema) {
        INFO(path);
        json_t *v = j.at(path);
        REQUIRE(v);
        CHECK(json_is_null(v) == (kind == '0'));
    }
    CHECK(json_array_size(j.at("rebuffering.events")) == 0);
}

TEST_CASE("qoe_json: a session's figures key by key")
{
    pointer q = watched();
    qoe_on_ended(q.get(), QOE_END_OF_MEDIA, nullptr, 5700 * ms);
    json j(json_of(q.get(), 5700).c_str());
    for (const auto &[kind, path] : schema) {
        INFO(path);
        REQUIRE(j.at(path));
        if (path != "error" && path != "audio" && path != "repair" && path != "layers" &&
            path != "film" && path != "network.ecn_marked" && path != "network.second_path_bytes")
            CHECK_FALSE(json_is_null(j.at(path)));
    }
    CHECK(j.text("schema") == "weir.qoe/1");
    CHECK(j.text("ended") == "end-of-media");
    CHECK(j.text("session.url") == "rtsp://[::1]:8554/live");
    CHECK(j.text("session.transport") == "minbuf:1,3");
    CHECK(j.text("session.source") == "test 640x360@10");
    CHECK(j.text("session.started_at") == "2023-11-14T22:13:20.250Z");
    CHECK(j.text("latency.protocol.clock") == "estimated");

    const std::vector<std::pair<std::string, double>> figures = {
        {"session.duration", 4.7},
        {"startup.connect", 0.02},
        {"playback.media", 0.6},
        {"playback.wall", 1.2},
        {"playback.frames_played", 5},
        {"playback.frames_undecodable", 1},
        {"playback.frames_skipped", 2},
        {"playback.skips", 1},
        {"playback.speed.mean", 1.0146},
        {"playback.speed.max", 1.05},
        {"latency.budget.target", 500},
        {"latency.budget.targets.p95", 500},
        {"latency.budget.targets.max", 500},
        {"latency.budget.sender_share", 450},
        {"latency.budget.buffer_share", 350},
        {"latency.budget.spent.encoder", 10},
        {"latency.budget.spent.display", 3},
        {"playback.frames_skipped_by_sender", 3},
        {"playback.frame_rate", 4.167},
        {"playback.encoded_frame_rate", 9.167},
        {"rebuffering.count", 1},
        {"rebuffering.ratio", 0.416667},
        {"rebuffering.by_cause.transport.count", 1},
        {"rebuffering.by_cause.transport.total", 0.5},
        {"rebuffering.by_cause.outage.count", 0},
        {"freezes.count", 1}, // 600 ms at 10 frames/s; the 200 ms without the pause are none
        {"freezes.total", 0.6},
        {"freezes.ratio", 0.5},
        {"freezes.longest", 0.6},
        {"freezes.by_cause.transport.count", 1},
        {"freezes.by_cause.transport.total", 0.6},
        {"freezes.by_cause.network.count", 0},
        {"causes.expected", 8},
        {"causes.shown", 5},
        {"causes.by_cause.network", 1},
        {"causes.by_cause.late", 1},
        {"causes.by_cause.dependency", 1},
        {"causes.by_cause.skipped", 0},
        {"causes.by_root.network", 2},
        {"causes.by_root.late", 1},
        {"jitter.mean", 105},
        {"levels.count", 2},
        {"levels.mean", 0.833},
        {"levels.switch_count", 1},
        {"latency.protocol.d500", 0.75},
        {"latency.display.mean", 200},
        {"latency.parts.buffer.mean", 40},
        {"latency.parts.transport.mean", 50},
        {"latency.offset_error", 1.5},
        {"network.throughput", 16000},
        {"network.goodput", 12000},
        {"network.loss_event_rate", 0.02},
        {"network.rtt.mean", 30},
        {"network.capacity_estimate", 2000000},
        {"picture.compared", 2},
        {"picture.psnr_y", 35.121}, // 10 log10(65025 / 20) = 35.1205
        {"picture.ssim", 0.85},
        {"cpu.system", 0.5},
        {"cpu.max_rss", 10000000},
    };
    for (const auto &[path, value] : figures) {
        INFO(path);
        CHECK(j.number(path) == Approx(value).margin(1e-9));
    }
    CHECK(json_number_value(json_array_get(j.at("levels.time_at"), 1)) == Approx(1.0));
    CHECK(json_integer_value(json_array_get(j.at("levels.bitrates"), 0)) == 100000);
    json_t *freeze = json_array_get(j.at("freezes.events"), 0);
    CHECK(json_real_value(json_object_get(freeze, "at")) == 0.7);
    CHECK(json_real_value(json_object_get(freeze, "duration")) == 0.6);
    CHECK(std::string(json_string_value(json_object_get(freeze, "cause"))) == "transport");
    json_t *stall = json_array_get(j.at("rebuffering.events"), 0);
    CHECK(json_number_value(json_object_get(stall, "at")) == Approx(0.8));
    CHECK(json_number_value(json_object_get(stall, "duration")) == Approx(0.5));
    CHECK(json_string_value(json_object_get(stall, "cause")) == std::string("transport"));
    CHECK_FALSE(j.at("causes.by_root.dependency"));
    json_t *change = json_array_get(j.at("levels.switches"), 0);
    CHECK(json_number_value(json_object_get(change, "at")) == Approx(4.45));
    CHECK(json_string_value(json_object_get(change, "why")) == std::string("capacity"));
}

TEST_CASE("qoe_json: decimals are those of the figure, not of its double")
{
    pointer q = watched();
    std::string text = json_of(q.get(), 5700);
    CHECK(text.find("\"frame_rate\": 4.167,") != std::string::npos);
    CHECK(text.find("\"connect\": 0.02,") != std::string::npos);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.back() == '\n');
}

TEST_CASE("qoe_json: text that is not UTF-8 does not spoil the report")
{
    pointer q(qoe_new("rtsp://h/\xff\x01", started_wall, 0), qoe_free);
    json j(json_of(q.get(), 0).c_str());
    CHECK(j.text("session.url") == "rtsp://h/?\x01");
}

TEST_CASE("qoe_json: the file")
{
    temp_folder folder;
    pointer q = watched();
    qoe_json r;
    qoe_read(q.get(), &r, 5700 * ms);
    REQUIRE(qoe_json_write(&r, (folder / "report.json").c_str()) == 0);
    CHECK(folder.read("report.json") == json_of(q.get(), 5700));
    CHECK(qoe_json_write(&r, (folder / "no/where").c_str()) == ERR_IO);
}

TEST_CASE("qoe_json: what repair did")
{
    pointer q = watched();
    qoe_repair repair = {48, 5, 12, 7, -1, 5720, 100000};
    qoe_on_repair(q.get(), &repair);
    json j(json_of(q.get(), 5700).c_str());
    const std::vector<std::pair<std::string, double>> figures = {{"repair.resent", 48},
                                                                 {"repair.duplicated", 5},
                                                                 {"repair.fec_packets", 12},
                                                                 {"repair.fec_recovered", 7},
                                                                 {"repair.overhead", 0.0572}};
    for (const auto &[path, value] : figures) {
        INFO(path);
        REQUIRE(j.at(path));
        CHECK(json_number_value(j.at(path)) == Approx(value));
    }
    REQUIRE(j.at("repair.invalidations"));
    CHECK(json_is_null(j.at("repair.invalidations"))); // the sender's
}

TEST_CASE("qoe_json: layers of pictures")
{
    pointer q = watched();
    qoe_picture_layers three{1, 3, 3000}, none{2, 0, 0};
    for (int i = 0; i < 4; i++)
        qoe_on_layer(q.get(), 1000);
    qoe_on_layers(q.get(), &three);
    qoe_on_layers(q.get(), &none);
    json j(json_of(q.get(), 5700).c_str());
    CHECK(json_number_value(j.at("layers.mean")) == 1.5);
    CHECK(json_number_value(j.at("layers.changes")) == 0);
    double throughput = json_number_value(j.at("layers.throughput_bps"));
    CHECK(throughput > 0);
    CHECK(json_number_value(j.at("layers.goodput_bps")) == Approx(throughput * 3 / 4).margin(1));
}

TEST_CASE("qoe_json: the last decision about a film's level")
{
    pointer q = watched();
    const qoe_decision first = {"auto", "start", 0, 0, 30000 * ms, NAN, NAN, 100};
    const qoe_decision last = {"auto", "buffer", 4, 12300 * ms, 30000 * ms, 3.9e6, .08, 2};
    qoe_on_decision(q.get(), &first);
    qoe_on_decision(q.get(), &last);
    qoe_on_ended(q.get(), QOE_END_OF_MEDIA, nullptr, 5700 * ms);
    json j(json_of(q.get(), 5700).c_str());
    CHECK(j.text("film.policy") == "auto");
    CHECK(j.text("film.why") == "buffer");
    CHECK(json_number_value(j.at("film.decisions")) == 2);
    CHECK(json_number_value(j.at("film.level")) == 4);
    CHECK(json_number_value(j.at("film.buffer")) == Approx(12.3));
    CHECK(json_number_value(j.at("film.target")) == 30);
    CHECK(json_number_value(j.at("film.estimate")) == 3.9e6);
    CHECK(json_number_value(j.at("film.error")) == Approx(.08));
    CHECK(json_number_value(j.at("network.capacity_estimate")) == 3.9e6);
}
