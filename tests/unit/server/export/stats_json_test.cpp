// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_json.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

namespace
{

struct object {
    json_t *o;

    explicit object(json_t *taken) : o(taken) {}
    ~object()
    {
        json_decref(o);
    }
    object(const object &) = delete;
    object &operator=(const object &) = delete;

    // The value below a path of keys such as "transport.rate".
    std::string at(std::string path) const
    {
        json_t *value = o;
        while (value && !path.empty()) {
            size_t dot = path.find('.');
            value = json_object_get(value, path.substr(0, dot).c_str());
            path = dot == std::string::npos ? "" : path.substr(dot + 1);
        }
        const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6);
        char *text = value ? json_dumps(value, flags) : nullptr;
        std::string s = text ? text : "(none)";
        free(text);
        return s;
    }
};

struct row {
    const char *path, *value;
};

std::unique_ptr<stats> make()
{
    auto f = std::make_unique<stats>();
    f->version = "1.2.3";
    f->age = 2500000;
    f->wall = 1700000000250000;
    f->transport_count = 2;
    f->total.transports[0].name = "minbuf";
    f->total.transports[1].name = "tfrc";
    f->total.transports[1].sessions = 2;
    f->total.transports[1].packets = 9;
    f->stream_count = 1;
    stream_stats &s = f->streams[0];
    snprintf(s.path, sizeof(s.path), "/live");
    s.encoder_count = 1;
    s.encoders[0] = {
        640,  360, 29.97, 800000, {10, 2, 40000, 3, 250000, 25.5, 1500000, {9, 3, 4, 2, 1}, 500000},
        false};
    f->session_count = 1;
    session_stats &v = f->sessions[0];
    v.number = 1;
    snprintf(v.id, sizeof(v.id), "abc");
    snprintf(v.transport, sizeof(v.transport), "tfrc");
    v.layers = 2;
    v.packets = 7;
    v.frames.queued[1] = 5;
    v.frames.dropped[DROP_FULL][1] = 3;
    transport_info_clear(&v.info);
    v.info.rate_bps = 8000;
    return f;
}

} // namespace

TEST_CASE("stats_json: a session; unknown values are null")
{
    auto f = make();
    object s(json_object());
    stats_session_json(s.o, f.get(), &f->sessions[0]);
    const row table[] = {
        {"session", "\"abc\""},
        {"path", "\"/live\""},
        {"number", "1"},
        {"playing", "false"},
        {"packets", "7"},
        {"transport.name", "\"tfrc\""},
        {"transport.rate", "8000.0"},
        {"transport.rtt", "null"},
        {"transport.cwnd", "null"},
        {"transport.controller", "null"},
        {"transport.feedback", "null"},
        {"scheduler.queued", "[0,5]"},
        {"scheduler.dropped", "[0,3]"},
        {"encoder.width", "640"},
        {"encoder.rate", "500000"},
        {"encoder.nominal_rate", "800000"},
        {"encoder.repairs",
         R"({"requests":9,"repaired":3,"coalesced":4,"waited":2,"key_frames":1})"},
        {"adaptation", "null"},
        {"repair", "null"},
        {"sound", "null"},
    };
    for (const row &r : table) {
        CAPTURE(r.path);
        CHECK(s.at(r.path) == r.value);
    }
}

TEST_CASE(
    "stats_json: keys that a session has only with feedback, a controller, adaptation or audio")
{
    auto f = make();
    session_stats &v = f->sessions[0];
    v.info.is_reported = true;
    v.info.counts.arrived = 12;
    v.info.allowed_bps = 5000;
    snprintf(v.info.variable[0].name, sizeof(v.info.variable[0].name), "p");
    v.info.variable[0].value = 0.25;
    v.follows = true;
    v.adaptation.target_bps = 1000;
    v.repair_mode = REPAIR_MODE_AUTO;
    v.repair.lost = 12;
    v.repair.resent = 7;
    v.repair.duplicated = 3;
    v.repair.fec_packets = 5;
    v.repair.invalidations = 2;
    v.repair.media_bytes = 4000;
    v.repair.repair_bytes = 1000;
    v.repair.not_resent[REPAIR_TOO_LATE] = 4;
    v.repair_share = 0.125;
    v.adaptation.delay_ms = NAN;
    v.has_audio = true;
    v.audio_packets = 50;
    f->streams[0].audio_bps = 64000;
    v.size_id = 1; // of a stream with one size
    object s(json_object());
    stats_session_json(s.o, f.get(), &v);
    const row table[] = {
        {"transport.feedback.arrived", "12"},
        {"transport.controller", R"({"allowed":5000.0,"p":0.25})"},
        {"adaptation.target", "1000.0"},
        {"adaptation.delay_ms", "null"},
        {"repair.mode", "\"auto\""},
        {"repair.requested", "12"},
        {"repair.resent", "7"},
        {"repair.duplicated", "3"},
        {"repair.fec_packets", "5"},
        {"repair.invalidations", "2"},
        {"repair.bytes", "1000"},
        {"repair.overhead", "0.25"},
        {"repair.recent_share", "0.125"},
        {"repair.not_resent.too_late", "4"},
        {"repair.not_resent.not_kept", "0"},
        {"sound.packets", "50"},
        {"sound.encoder.rate", "64000"},
        {"encoder", "null"},
    };
    for (const row &r : table) {
        CAPTURE(r.path);
        CHECK(s.at(r.path) == r.value);
    }
}

TEST_CASE("stats_json: the process")
{
    object o(json_object());
    const process_stats p = {1.5, 0.25, 50e6, NAN, 12, -1};
    stats_process_json(o.o, &p);
    CHECK(o.at("") == R"({"cpu":{"user":1.5,"system":0.25},"rss":5e7,"max_rss":null})");
}

TEST_CASE("stats_json: the whole status, with the transports that had sessions")
{
    auto f = make();
    const process_stats p = {1.5, 0.25, 50e6, 60e6, 12, -1};
    object o(stats_status_json(f.get(), &p));
    REQUIRE(o.o);
    const row table[] = {
        {"version", "\"1.2.3\""},
        {"t", "2.5"},
        {"time_ms", "1700000000250"},
        {"total.transports.minbuf", "(none)"},
        {"total.transports.tfrc.packets", "9"},
        {"process.open_files", "12"},
    };
    for (const row &r : table) {
        CAPTURE(r.path);
        CHECK(o.at(r.path) == r.value);
    }
    CHECK(json_array_size(json_object_get(o.o, "sessions")) == 1);
    CHECK(json_array_size(json_object_get(o.o, "streams")) == 1);
}

TEST_CASE("stats_json: films of a catalog's list, and where they are")
{
    auto f = make();
    object none(stats_films_json(nullptr, f.get()));
    CHECK(none.at("films") == "null");
    CHECK(none.at("at") == "null");
    f->place = {"192.0.2.1", 8554, true, false};
    object some(stats_films_json(
        "/a.mkv\t1.5\t96x64,48x32\r\n/b%20c\t?\t?\r\nno film\r\n/d\t\t\r\n", f.get()));
    CHECK(some.at("films") == R"([{"path":"/a.mkv","seconds":1.5,"sizes":"96x64,48x32"},)"
                              R"({"path":"/b%20c","seconds":null,"sizes":null},)"
                              R"({"path":"/d","seconds":null,"sizes":null}])");
    CHECK(some.at("at") == R"({"host":"192.0.2.1","port":8554,"encrypted":true,"keys":false})");
    f->place.host[0] = '\0';
    object empty(stats_films_json("", f.get()));
    CHECK(empty.at("films") == "[]");
    CHECK(empty.at("at.host") == "null");
}

TEST_CASE("stats_json: the moments of the last two minutes; unknown values are null")
{
    auto f = make();
    auto h = std::make_unique<stats_history>();
    f->sessions[0].info.is_reported = true;
    f->sessions[0].info.counts.packets = 6;
    f->sessions[0].info.counts.lost = 1;
    stats_history_add(h.get(), f.get(), 0.5);
    object o(json_object());
    stats_history_json(o.o, h.get());
    json_t *moment = json_array_get(json_object_get(o.o, "history"), 0);
    object m(json_incref(moment));
    for (const row &r : std::initializer_list<row>{
             {"t", "2.5"},
             {"cpu", "0.5"},
             {"octets", "0"},
             {"dropped_by_cause.full", "0"},
             {"sessions", R"([{"number":1,"session":"abc","rate":8000.0,"delay_ms":0.0,)"
                          R"("rtt":null,"loss":null,"packets":6,"lost":1,)"
                          R"("sound_octets":null}])"}}) {
        INFO(r.path);
        CHECK(m.at(r.path) == r.value);
    }
}

TEST_CASE("stats_json: a viewer's address and time are in the status only")
{
    auto f = make();
    process_stats p = {};
    object unknown(stats_status_json(f.get(), &p));
    object first(json_incref(json_array_get(json_object_get(unknown.o, "sessions"), 0)));
    CHECK(first.at("address") == "null");
    snprintf(f->sessions[0].peer, sizeof(f->sessions[0].peer), "192.0.2.7:5");
    f->sessions[0].age = 90 * USEC_PER_SEC;
    object known(stats_status_json(f.get(), &p));
    object second(json_incref(json_array_get(json_object_get(known.o, "sessions"), 0)));
    CHECK(second.at("address") == R"("192.0.2.7:5")");
    CHECK(second.at("age") == "90.0");
    object line(json_object());
    stats_session_json(line.o, f.get(), &f->sessions[0]);
    CHECK(line.at("address") == "(none)");
}
