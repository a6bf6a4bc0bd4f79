// SPDX-License-Identifier: GPL-2.0-or-later
// The report of a viewing that has ended stays as it is, whatever comes after.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/qoe_session.hpp"

using namespace qoe_session;

namespace
{

struct event {
    const char *what;
    std::function<void(qoe *)> happens;
    // Returns true if the report of a viewing in which it happened shows it; `a` is without it.
    std::function<bool(const qoe_json &a, const qoe_json &b)> shows;
};

const ladder levels = two_levels();
const usec_t at = 5600 * ms; // of the events; the end is at 5700

std::vector<event> all_events()
{
    using json = const qoe_json &;
    return {
        {"setup",
         [](qoe *q) {
             qoe_setup e = {"udp", "chosen", "another", "a proxy", &levels, true};
             qoe_on_setup(q, &e, at);
         },
         [](json, json b) {
             return std::string(b.session.transport) == "udp" &&
                    std::string(b.session.via) == "a proxy";
         }},
        {"reconnect", [](qoe *q) { qoe_on_reconnect(q); },
         [](json a, json b) { return b.session.reconnects == a.session.reconnects + 1; }},
        {"channel", [](qoe *q) { qoe_on_channel(q, 2, "rtsp://h/two", at); },
         [](json a, json b) { return b.channels.count == a.channels.count + 1; }},
        {"channel shown",
         [](qoe *q) {
             qoe_on_channel(q, 2, "rtsp://h/two", at);
             qoe_on_channel_open(q);
             qoe_on_channel_shown(q, 70 * ms);
         },
         [](json, json b) { return b.channels.wait.count == 1; }},
        {"channel failed",
         [](qoe *q) {
             qoe_on_channel(q, 2, "rtsp://h/two", at);
             qoe_on_channel_failed(q, "404");
         },
         [](json, json b) {
             return b.channels.listed &&
                    std::string(b.channels.list[b.channels.listed - 1].error) == "404";
         }},
        {"pause", [](qoe *q) { qoe_on_pause(q, true, 5500 * ms); },
         [](json a, json b) { return b.playback.wall < a.playback.wall; }},
        {"seek",
         [](qoe *q) {
             (void)qoe_on_seek(q, 60, at);
             qoe_on_seek_shown(q, 90 * ms);
         },
         [](json, json b) { return b.seeks.count == 1 && b.seeks.wait.count == 1; }},
        {"scale",
         [](qoe *q) {
             (void)qoe_on_control(q, 60, at);
             qoe_on_control_shown(q, QOE_CONTROL_SCALE, 90 * ms);
         },
         [](json, json b) { return b.controls[QOE_CONTROL_SCALE].count == 1; }},
        {"packet", [](qoe *q) { packet(q, 5600, 1000, 100); },
         [](json a, json b) {
             return b.network.bytes_received == a.network.bytes_received + 1000;
         }},
        {"frame", [](qoe *q) { frame(q, 5600, 9, 1, 50); },
         [](json a, json b) {
             return b.playback.frames_received == a.playback.frames_received + 1;
         }},
        {"layer", [](qoe *q) { qoe_on_layer(q, 500); },
         [](json a, json b) { return !(b.layers.throughput == a.layers.throughput); }},
        {"a picture's layers",
         [](qoe *q) {
             qoe_picture_layers e = {9, 1, 500};
             qoe_on_layers(q, &e);
         },
         [](json a, json b) { return b.layers.pictures == a.layers.pictures + 1; }},
        {"shown", [](qoe *q) { shown(q, 5600, 9, 1, 100); },
         [](json a, json b) { return b.playback.frames_played == a.playback.frames_played + 1; }},
        {"not shown", [](qoe *q) { qoe_on_not_shown(q, QOE_LATE); },
         [](json a, json b) { return b.playback.frames_late == a.playback.frames_late + 1; }},
        {"skipped by the sender", [](qoe *q) { qoe_on_sender_skipped(q, 9); },
         [](json a, json b) {
             return b.playback.frames_skipped_by_sender == a.playback.frames_skipped_by_sender + 6;
         }},
        {"frames",
         [](qoe *q) {
             frame_totals e = {9, 6, {1, 1, 0, 1, 0, 0, 0}, {2, 1, 0, 0, 0, 0, 0}};
             qoe_on_frames(q, &e);
         },
         [](json a, json b) { return b.causes.expected == a.causes.expected + 1; }},
        {"an outage",
         [](qoe *q) {
             qoe_media_edge before = {5000 * ms, 5500 * ms, 1}, edge = {5700 * ms, 5600 * ms, 1};
             qoe_on_live_end(q, &before);
             (void)qoe_on_live_begin(q, &edge);
         },
         [](json a, json b) { return b.causes.expected > a.causes.expected; }},
        {"picture", [](qoe *q) { qoe_on_picture(q, 50, .5); },
         [](json a, json b) { return b.picture.compared == a.picture.compared + 1; }},
        {"pictures skipped", [](qoe *q) { qoe_on_pictures_skipped(q, 4); },
         [](json, json b) { return b.picture.skipped == 4; }},
        {"stall",
         [](qoe *q) {
             qoe_on_stall_begin(q, STALL_OUTAGE, 5550 * ms);
             qoe_on_stall_end(q, STALL_OUTAGE, at);
         },
         [](json a, json b) { return b.rebuffering.count == a.rebuffering.count + 1; }},
        {"speed", [](qoe *q) { qoe_on_speed(q, 2, at); },
         [](json, json b) { return b.playback.speed.max == 2; }},
        {"skip", [](qoe *q) { qoe_on_skip(q); },
         [](json a, json b) { return b.playback.skips == a.playback.skips + 1; }},
        {"switch",
         [](qoe *q) {
             qoe_switch e = {0, 1, "capacity"};
             qoe_on_switch(q, &e, at);
         },
         [](json a, json b) { return b.levels.switch_count == a.levels.switch_count + 1; }},
        {"budget",
         [](qoe *q) {
             qoe_budget e = {900 * ms, 1, 1, "auto", false};
             qoe_on_budget(q, &e);
         },
         [](json, json b) { return b.latency.budget.target == 900; }},
        {"relay",
         [](qoe *q) {
             qoe_on_relay(q, 40, 3);
             frame(q, 5600, 9, 1, 50);
         },
         [](json, json b) { return b.latency.parts.backbone.count == 1; }},
        {"transport",
         [](qoe *q) {
             qoe_transport e = {.5, 1e6, 0, 0, 14};
             qoe_on_transport(q, &e);
         },
         [](json a, json b) { return b.network.rtt_mean > a.network.rtt_mean; }},
        {"capacity", [](qoe *q) { qoe_on_capacity(q, 7e6); },
         [](json, json b) { return b.network.capacity_estimate == 7e6; }},
        {"receiver",
         [](qoe *q) {
             qoe_receiver e = {400, 20, 3, 4, -1, -1};
             qoe_on_receiver(q, &e);
         },
         [](json a, json b) { return b.network.packets_lost > a.network.packets_lost; }},
        {"repair",
         [](qoe *q) {
             qoe_repair e{};
             e.resent = 8;
             qoe_on_repair(q, &e);
         },
         [](json, json b) { return b.repair.is_known && b.repair.resent == 8; }},
        {"clock",
         [](qoe *q) {
             qoe_clock e = {false, 9000};
             qoe_on_clock(q, &e);
         },
         [](json, json b) { return b.latency.offset_error == 9; }},
        {"cpu",
         [](qoe *q) {
             qoe_cpu e = {8, 1, 1e7};
             qoe_on_cpu(q, &e);
         },
         [](json, json b) { return b.cpu.user == 8; }},
        {"audio",
         [](qoe *q) {
             qoe_audio e{};
             e.packets = 77;
             qoe_on_audio(q, &e);
         },
         [](json, json b) { return b.has_audio && b.audio.packets == 77; }},
        {"a second end", [](qoe *q) { (void)qoe_on_ended(q, QOE_SERVER_LOST, "gone", 5650 * ms); },
         [](json, json b) {
             return b.has_ended && b.ended == QOE_SERVER_LOST && b.session.duration < 4.66;
         }},
    };
}

void read(const pointer &q, qoe_json *out, usec_t now)
{
    memset(out, 0, sizeof(*out));
    qoe_read(q.get(), out, now);
}

} // namespace

TEST_CASE("qoe: each event is in the report, and none that comes after the end")
{
    for (const event &e : all_events()) {
        INFO(e.what);
        qoe_json without, with, ended, later;
        pointer plain = watched(), live = watched();
        read(plain, &without, 5700 * ms);
        e.happens(live.get());
        read(live, &with, 5700 * ms);
        CHECK(e.shows(without, with));

        CHECK_FALSE(
            qoe_on_ended(plain.get(), QOE_QUIT, nullptr, 5700 * ms)); // no picture is overdue
        read(plain, &ended, 5700 * ms);
        e.happens(plain.get());
        read(plain, &later, 9000 * ms);
        CHECK(memcmp(&ended, &later, sizeof(later)) == 0);
    }
}

TEST_CASE("qoe: what is said of a connection and of a play is said once")
{
    pointer q = watched();
    qoe_json r;
    qoe_on_connected(q.get(), 4000 * ms); // it was at 1020
    qoe_on_start(q.get(), 4000 * ms);     // it was at 1500
    read(q, &r, 5700 * ms);
    CHECK(r.startup.connect == Approx(.02));
    CHECK(r.startup.initial_buffering == Approx(.5));
    const double wall = r.playback.wall;
    qoe_on_pause(q.get(), false, 5600 * ms); // it does not pause
    read(q, &r, 5700 * ms);
    CHECK(r.playback.wall == wall);
}

TEST_CASE("qoe: figures that are none do not count")
{
    const double nan_ = std::nan("");
    pointer q = watched();
    qoe_json before, r;
    read(q, &before, 5700 * ms);
    qoe_on_picture(q.get(), nan_, .5);
    qoe_on_picture(q.get(), 10, nan_);
    qoe_on_picture(q.get(), INFINITY, .5);
    qoe_on_relay(q.get(), nan_, 3);
    qoe_on_relay(q.get(), 3, nan_);
    qoe_frame unnumbered = {-1, 1, 700, 50 * ms, 10 * ms, 40 * ms};
    qoe_on_frame(q.get(), &unnumbered, 5600 * ms);
    read(q, &r, 5700 * ms);
    CHECK(r.picture.compared == before.picture.compared);
    CHECK(r.picture.ssim == before.picture.ssim);
    CHECK(r.latency.parts.backbone.count == 0);
    CHECK(r.playback.frames_received == before.playback.frames_received);
}
