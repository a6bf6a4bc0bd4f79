// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_stream.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <string>

#include "tests/unit/lab/sim/simulation.hpp"

namespace
{
struct event_log {
    std::string text;
    static void note(void *ctx, const stream_event *e, usec_t now)
    {
        char line[128];
        snprintf(line, sizeof(line), "%lld %u %d %a %lld\n", (long long)now, e->flow, (int)e->kind,
                 std::isnan(e->value) ? -1 : e->value, (long long)e->number);
        ((event_log *)ctx)->text += line;
    }
};

qoe_json report(const simulation &s, double seconds, uint32_t flow = 0)
{
    qoe_json r;
    const stream_viewer *v = flow_stream_viewer(s.s.flows[flow]);
    REQUIRE(v);
    qoe_read(v->qoe, &r, static_cast<usec_t>(seconds * 1e6));
    return r;
}

const char *const transports[] = {
    "udp", "tcp", "tcp:sndbuf=64KB", "minbuf:1/3", "mtp", "mtp:queue=65536", "tfrc", "arc"};
} // namespace

TEST_CASE("flow_stream: on a wide path each transport plays the best level, whole and in time")
{
    for (const char *via : transports) {
        if (std::string(via) == "arc")
            continue; // starts with a packet, so its first seconds lose frames
        simulation s("rate=100mbit", {std::string("stream:length=60s,rtt=40ms,via=") + via});
        s.run(70);
        INFO(via);
        CHECK(sim_streams_ended(&s.s));
        qoe_json r = report(s, 70);
        CHECK(r.ended == QOE_END_OF_MEDIA);
        CHECK(r.levels.time_at[6] == Approx(60).margin(0.1));
        CHECK(r.playback.frames_received == 1800); // 60 s at 30 a second
        CHECK(r.playback.frames_lost == 0);
        CHECK(r.rebuffering.count == 0);
        CHECK(r.network.packets_received == 8 * 1800);
        // 5 s of media at 1.5 times its pace, or a little longer where the transport is slow
        // to start; and two round trips for the pair and the level.
        CHECK(r.startup.initial_buffering >= 5 / 1.5);
        CHECK(r.startup.initial_buffering < 5 / 1.5 + 0.5);
        CHECK(r.jitter.mean == Approx(1000 / 30.0).epsilon(0.05));
    }
}

TEST_CASE("flow_stream: the level is what the sink's line carries")
{
    // UDP keeps level 4 where frames in part count; else its losses while it buffers, 1023 kbit/s
    // on a line of 750, cost it two levels.
    for (int in_part : {0, 1}) {
        simulation s(
            "rate=10mbit,queue=droptail:500p",
            {"stream:via=udp,rtt=140ms,local=750kbit,length=60s,parts=" + std::to_string(in_part)});
        s.run(70);
        qoe_json r = report(s, 70);
        CHECK(r.network.capacity_estimate == Approx(750000).epsilon(0.01));
        CHECK(r.levels.time_at[4] == (in_part ? Approx(60).margin(0.1) : Approx(5).margin(4)));
        CHECK(r.levels.switch_count == (in_part ? 1 : 3));
        CHECK(r.rebuffering.count == 0);
    }
}

TEST_CASE("flow_stream: without a pair, the rate after slow start has reached the line's")
{
    // Of a packet of 1077 bytes 1000 are media. The first 200 ms are slow start's from 140 ms
    // on; at 900 ms the window still grows after 5 s.
    const struct {
        const char *rtt;
        double least;
    } table[] = {{"5ms", 0.98}, {"50ms", 0.98}, {"140ms", 0.98}, {"470ms", 0.98}, {"900ms", 0.6}};
    const double line = 750e3 * 1000 / 1077;
    for (const char *via : {"minbuf:1/3", "tcp"})
        for (const auto &row : table) {
            INFO(via << " " << row.rtt);
            simulation s("rate=10mbit,queue=droptail:500p",
                         {std::string("stream:pair=0,local=750kbit,length=20s,tcp=sack,ca=count,") +
                          "iw=10p,delack=40ms,via=" + via + ",rtt=" + row.rtt});
            s.run(30);
            double capacity = report(s, 30).network.capacity_estimate;
            CHECK(capacity > row.least * line);
            CHECK(capacity < 1.01 * line);
        }
}

TEST_CASE("flow_stream: the report has the network's marks, if the transport reports them")
{
    const struct {
        const char *via;
        bool told, ecn_capable;
    } rows[] = {{"tfrc", true, true},
                {"udp", true, false},
                {"minbuf:1/3", false, false},
                {"mtp", true, true},
                {"mtp:noecn", true, false}};
    for (const auto &row : rows) {
        simulation s("rate=300kbit,queue=droptail:50p:ecn=5p",
                     {std::string("stream:length=20s,rtt=40ms,via=") + row.via});
        s.run(40);
        INFO(row.via);
        const double marked = report(s, 40).network.ecn_marked;
        const uint64_t on_link = link_all_stats(chain_link_at(&s.s.chain, 0, true))->marked;
        if (!row.told)
            CHECK(std::isnan(marked));
        else if (row.ecn_capable) // those of the last second are not reported yet
            CHECK((marked > 10 && marked <= static_cast<double>(on_link)));
        else
            CHECK(marked == 0);
    }
}

TEST_CASE("flow_stream: lost requests are repeated")
{
    // A fifth of all packets is lost, also of those that ask, answer and tell the end.
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulation s("rate=10mbit", {"stream:via=udp,rtt=40ms,loss=20%,length=20s"}, seed);
        s.run(60);
        CHECK(sim_streams_ended(&s.s));
        CHECK(report(s, 60).ended == QOE_END_OF_MEDIA);
    }
}

TEST_CASE("flow_stream: the same seed gives the same outcome, byte for byte")
{
    for (const char *via : transports) {
        event_log logs[2];
        uint64_t bytes[2];
        for (int i = 0; i < 2; i++) {
            simulation s("rate=2mbit,queue=droptail:30p",
                         {std::string("stream:n=2,rtt=140ms,length=30s,via=") + via,
                          "reno:n=2,rtt=60ms", "web:n=10,rtt=60ms..200ms,bytes=5KB"},
                         7);
            sim_watch_streams(&s.s, event_log::note, &logs[i]);
            s.run(60);
            bytes[i] = s.counts().arrived_bytes;
        }
        INFO(via);
        CHECK(logs[0].text.size() > 1000);
        CHECK(logs[0].text == logs[1].text);
        CHECK(bytes[0] == bytes[1]);
    }
}

TEST_CASE("flow_stream: a stopped stream is played up to its last frame")
{
    for (const char *via : {"udp", "tcp", "mtp"}) {
        simulation s("rate=100mbit", {std::string("stream:stop=10s,rtt=40ms,via=") + via});
        s.run(30);
        INFO(via);
        CHECK(sim_streams_ended(&s.s));
        // 1.5 times as fast for the first 5 s of media.
        CHECK(report(s, 30).playback.media == Approx(10 + 5 - 5 / 1.5).margin(0.4));
    }
    simulation never("rate=100mbit", {"stream:start=5s,stop=5.01s,rtt=40ms,via=udp"});
    never.run(30);
    CHECK(sim_streams_ended(&never.s));
    CHECK(report(never, 30).playback.frames_received == 0);
}

TEST_CASE("flow_stream: other flows are not streams, and a run without streams has not ended")
{
    simulation s("rate=2mbit", {"reno"});
    s.run(1);
    CHECK(flow_stream_viewer(s.s.flows[0]) == nullptr);
    CHECK_FALSE(sim_streams_ended(&s.s));
}

TEST_CASE("flow_stream: lost packets are requested over every datagram transport, and repaired")
{
    // So many packets are lost each way, requests and reports included, that the controller allows
    // the media's rate nevertheless.
    const struct {
        const char *via, *loss;
        double rate, least_missing, most_missing; // of packets; of frames, without repair and with
    } rows[] = {
        {"udp", "5%", 0.05, 0.1, 0.01},       {"scream", "5%", 0.05, 0.1, 0.01},
        {"tfrc", "0.3%", 0.003, 0.01, 0.001}, {"arc", "0.3%", 0.003, 0.01, 0.001},
        {"psp", "0.3%", 0.003, 0.01, 0.001},  {"mtp", "0.3%", 0.003, 0.01, 0.001},
    };
    for (const auto &row : rows) {
        const char *via = row.via;
        double missing[2];
        for (int repaired : {0, 1}) {
            simulation s("rate=20mbit", {std::string("stream:rtt=30ms,length=30s,loss=") +
                                         row.loss + ",goddard=play_buf_thresh=1,via=" + via +
                                         (repaired ? ",repair=resend" : "")});
            s.run(45);
            INFO(via << " " << repaired);
            CHECK(sim_streams_ended(&s.s));
            qoe_json r = report(s, 45);
            double not_shown = r.playback.frames_lost + r.playback.frames_late;
            missing[repaired] = not_shown / (r.playback.frames_played + not_shown);
            CHECK(r.repair.is_known == (repaired == 1));
            CHECK(r.network.loss_rate == Approx(row.rate).epsilon(0.5));
            if (repaired)
                CHECK(r.repair.resent >= 0.95 * r.network.packets_lost);
        }
        INFO(via << " " << missing[0] << " " << missing[1]);
        CHECK(missing[0] > row.least_missing);
        CHECK(missing[1] <= row.most_missing);
    }
}

TEST_CASE("flow_stream: behind a proxy with a wide access, all is played")
{
    for (const char *via : {"tfrc", "minbuf:1/3"}) {
        simulation s("rate=100mbit",
                     {std::string("stream:length=60s,rtt=40ms,proxy=rate=50mbit,via=") + via});
        s.run(70);
        INFO(via);
        CHECK(sim_streams_ended(&s.s));
        qoe_json r = report(s, 70);
        CHECK(r.ended == QOE_END_OF_MEDIA);
        CHECK(r.playback.frames_received == 1800);
        CHECK(r.playback.frames_lost == 0);
        const sim_relay *relay = flow_stream_relay(s.s.flows[0]);
        REQUIRE(relay);
        CHECK(sim_relay_is_empty(relay));
        sim_relay_stats stats;
        sim_relay_read(relay, &stats, 70 * USEC_PER_SEC);
        CHECK(stats.bridge.frames == 1800);
        CHECK(stats.bridge.badput_frames == 0);
    }
}

TEST_CASE("flow_stream: a proxy limits what the origin sends to what the access takes")
{
    // 8 layers of 205 kbit/s, which the viewer asks for as its own policy has it.
    for (const std::string how : {"limit", "blocking", "off"}) {
        simulation s("rate=10mbit,queue=droptail:200p",
                     {std::string("stream:via=tfrc,rtt=200ms,media=layers:8/1024,tcp=sack,"
                                  "proxy=rate=512kbit/queue=droptail:10p,reflect=") +
                      how});
        s.run(60);
        sim_relay_stats stats;
        sim_relay_read(flow_stream_relay(s.s.flows[0]), &stats, 60 * USEC_PER_SEC);
        double backbone = static_cast<double>(s.s.flows[0]->counts.arrived_bytes);
        double access = static_cast<double>(stats.arrived_bytes);
        INFO(how << ": " << backbone << " " << access);
        if (how == "limit")
            CHECK(backbone < 1.1 * access);
        else if (how == "blocking") // what exceeds the receive buffer is lost there
            CHECK(backbone < 1.3 * access);
        else
            CHECK(backbone > 2 * access);
    }
}
