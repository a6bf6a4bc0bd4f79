// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tests/support/qoe_session.hpp"

using namespace qoe_session;

namespace
{

const double nan_ = std::numeric_limits<double>::quiet_NaN();

qoe_json report_at(const pointer &q, usec_t at)
{
    qoe_json r;
    qoe_read(q.get(), &r, at * ms);
    return r;
}

// Equal except for the rounding of doubles.
Approx is(double v)
{
    return Approx(v).epsilon(1e-9);
}

// A quantile is exact to a bucket of the histogram.
Approx about(double v)
{
    return Approx(v).epsilon(1.0 / 100);
}

} // namespace

TEST_CASE("qoe: seeks, and the wait after each, are not stalls")
{
    pointer q = watched();
    qoe_json before = report_at(q, 5700);
    qoe_on_seek(q.get(), 0, 5000 * ms);
    qoe_on_seek_shown(q.get(), 80 * ms);
    qoe_on_seek(q.get(), 0, 5000 * ms);
    qoe_on_seek_shown(q.get(), 160 * ms);
    qoe_on_seek(q.get(), 0, 5000 * ms); // nothing was shown any more
    qoe_json r = report_at(q, 5700);
    CHECK(before.seeks.count == 0);
    CHECK(std::isnan(before.seeks.wait.mean));
    CHECK(r.seeks.count == 3);
    CHECK(r.seeks.wait.mean == is(120));
    CHECK(r.seeks.wait.max == is(160));
    CHECK(r.rebuffering.count == before.rebuffering.count);
}

TEST_CASE("qoe: changes of the scale, and the wait after each, are no seeks and no stalls")
{
    pointer q = watched();
    qoe_json before = report_at(q, 5700);
    for (usec_t wait : {40 * ms, 80 * ms}) {
        qoe_on_control(q.get(), 0, 5000 * ms);
        qoe_on_control_shown(q.get(), QOE_CONTROL_SCALE, wait);
    }
    qoe_json r = report_at(q, 5700);
    CHECK(before.controls[QOE_CONTROL_SCALE].count == 0);
    CHECK(r.controls[QOE_CONTROL_SCALE].count == 2);
    CHECK(r.controls[QOE_CONTROL_SCALE].wait.mean == is(60));
    CHECK(r.seeks.count == 0);
    CHECK(r.rebuffering.count == before.rebuffering.count);
    CHECK(r.freezes.count == before.freezes.count);
}

TEST_CASE("qoe: a session computed by hand")
{
    pointer q = watched();
    qoe_on_ended(q.get(), QOE_SERVER_LOST, "connection reset", 5700 * ms);
    qoe_json r = report_at(q, 9999);

    CHECK(r.has_ended);
    CHECK(r.ended == QOE_SERVER_LOST);
    CHECK(std::string(r.error) == "connection reset");
    CHECK(std::string(r.session.transport) == "minbuf:1,3");
    CHECK(r.session.duration == is(4.7)); // 1000 to 5700
    CHECK(r.startup.connect == is(0.02));
    CHECK(r.startup.initial_buffering == is(0.5));
    CHECK(r.startup.time_to_first_frame == is(0.5));

    // First picture at 1500, end at 5700, 3 s of pause.
    CHECK(r.playback.wall == is(1.2));
    // Four frames of level 1 (0.1 s each), one of level 0 (0.2 s).
    CHECK(r.playback.media == is(0.6));
    CHECK(r.playback.frames_received == 5);
    CHECK(r.playback.frames_played == 5);
    CHECK(r.playback.frames_lost == 1);
    CHECK(r.playback.frames_late == 1);
    CHECK(r.playback.frames_undecodable == 1);
    CHECK(r.playback.frames_skipped == 2);
    CHECK(r.playback.skips == 1);
    // Speed 1 for 1500..2350, 1.05 for 2350..2400 and, after the pause, 5400..5700.
    CHECK(r.playback.speed.mean == is((0.85 + 1.05 * 0.35) / 1.2));
    CHECK(r.playback.speed.min == is(1));
    CHECK(r.playback.speed.max == is(1.05));
    REQUIRE(r.latency.has_budget);
    CHECK(r.latency.budget.target == is(500));
    CHECK(r.latency.budget.sender == is(450));
    CHECK(r.latency.budget.buffer == is(350));
    CHECK(r.playback.frames_skipped_by_sender == 3);
    CHECK(r.playback.frame_rate == is(5 / 1.2));
    // Level 1 stood for 1500..5500 less the pause = 1.0 s, level 0 for 0.2 s.
    CHECK(r.levels.count == 2);
    CHECK(r.levels.time_at[0] == is(0.2));
    CHECK(r.levels.time_at[1] == is(1.0));
    CHECK(r.levels.mean == is(1.0 / 1.2));
    CHECK(r.playback.encoded_frame_rate == is((10 * 1.0 + 5 * 0.2) / 1.2));
    CHECK(r.levels.bitrates[1] == 200000);
    CHECK(r.levels.switch_count == 1);
    REQUIRE(r.levels.listed == 1);
    CHECK(r.levels.switches[0].at == is(4.45));
    CHECK(r.levels.switches[0].from == 1);
    CHECK(r.levels.switches[0].to == 0);

    CHECK(r.rebuffering.count == 1);
    CHECK(r.rebuffering.total == is(0.5));
    CHECK(r.rebuffering.ratio == is(0.5 / 1.2));
    REQUIRE(r.rebuffering.listed == 1);
    CHECK(r.rebuffering.events[0].at == is(0.8));
    CHECK(r.rebuffering.events[0].duration == is(0.5));

    // 0 to 1: 100 ms; 1 to 2: 210; 2 to 3: 10, whichever came first; 3 to 5: 200 / (1 lost + 1) =
    // 100.
    CHECK(r.jitter.mean == is(105));
    CHECK(r.jitter.max == is(210));
    CHECK(r.jitter.p50 == about(100));
    CHECK(r.jitter.stddev == Approx(std::sqrt(16050.0 - 105 * 105)).epsilon(1e-6));

    CHECK(r.latency.protocol.mean == is(300)); // 100, 200, 300, 600
    CHECK(r.latency.protocol.max == is(600));
    CHECK(r.latency.protocol.p50 == about(200));
    CHECK(r.latency.d200 == is(0.5));
    CHECK(r.latency.d500 == is(0.75));
    CHECK(r.latency.samples == 4);
    CHECK(r.latency.frame.mean == is(60));    // 50, 50, 60, 60, 80
    CHECK(r.latency.display.mean == is(200)); // 100, 100, 200, 300, 300
    CHECK(r.latency.display.max == is(300));
    CHECK(r.latency.parts.encoder.mean == is(10));
    CHECK(r.latency.parts.transport.mean == is(50));
    CHECK(r.latency.parts.buffer.mean == is(40));
    CHECK(r.latency.parts.decoder.p95 == about(5));
    CHECK(r.latency.parts.display.mean == is(3));
    CHECK(r.latency.has_clock);
    CHECK_FALSE(r.latency.clock_shared);
    CHECK(r.latency.offset_error == is(1.5));

    // Over the 2 s from the first packet to the last: 4000 bytes, and five frames of 600.
    CHECK(r.network.bytes_received == 4000);
    CHECK(r.network.packets_received == 4);
    CHECK(r.network.throughput == is(16000));
    CHECK(r.network.goodput == is(12000));
    CHECK(r.network.packets_lost == 10);
    CHECK(r.network.loss_rate == is(0.05));
    CHECK(r.network.loss_event_rate == is(0.02));
    CHECK(r.network.packets_reordered == 3);
    CHECK(std::isnan(r.network.ecn_marked));
    CHECK(r.network.rtt_mean == is(30));
    CHECK(r.network.rtt_p95 == about(40));
    CHECK(r.network.capacity_estimate == is(2e6));

    CHECK(r.picture.compared == 2);
    CHECK(r.picture.psnr_y == is(10 * std::log10(65025.0 / 20))); // of the mean MSE
    CHECK(r.picture.ssim == is(0.85));
    CHECK(r.cpu.user == is(1.25));
    CHECK(r.cpu.max_rss == is(1e7));
}

TEST_CASE("qoe: counters continue over another connection")
{
    pointer q = watched();
    qoe_json one = report_at(q, 5600);
    qoe_on_reconnect(q.get());
    frame_totals more = {};
    more.expected = 4;
    more.shown = 3;
    more.by_cause[CAUSE_LATE] = more.by_root[CAUSE_LATE] = 1;
    for (int i = 0; i < 2; i++) // each replaces the last
        qoe_on_frames(q.get(), &more);
    qoe_receiver packets = {50, 5, 1, 2, -1, -1};
    qoe_on_receiver(q.get(), &packets);
    qoe_on_sender_skipped(q.get(), 2);
    qoe_json two = report_at(q, 5700);
    CHECK(one.session.reconnects == 0);
    CHECK(two.session.reconnects == 1);
    CHECK(two.causes.expected == one.causes.expected + 4);
    CHECK(two.causes.shown == one.causes.shown + 3);
    CHECK(two.causes.by_cause[CAUSE_LATE] == one.causes.by_cause[CAUSE_LATE] + 1);
    CHECK(two.network.packets_lost == one.network.packets_lost + 5);
    CHECK(std::isnan(two.network.ecn_marked)); // not known of all packets
    CHECK(two.playback.frames_skipped_by_sender == one.playback.frames_skipped_by_sender + 2);
}

TEST_CASE("qoe: after the end the report does not change")
{
    pointer q = watched();
    qoe_on_ended(q.get(), QOE_DURATION, nullptr, 5700 * ms);
    qoe_on_ended(q.get(), QOE_ERROR, "later", 5800 * ms);
    shown(q.get(), 5800, 9, 1, 100);
    qoe_on_not_shown(q.get(), QOE_LOST);
    packet(q.get(), 5800, 1000, 1);
    qoe_json r = report_at(q, 9000);
    CHECK(r.ended == QOE_DURATION);
    CHECK(r.error == nullptr);
    CHECK(r.playback.frames_played == 5);
    CHECK(r.playback.frames_lost == 1);
    CHECK(r.network.packets_received == 4);
    CHECK(r.playback.wall == is(1.2));
}

TEST_CASE("qoe: reading the report changes nothing")
{
    pointer q = watched();
    for (usec_t at = 5510; at < 5700; at += 7)
        report_at(q, at);
    qoe_json r = report_at(q, 5700);
    CHECK_FALSE(r.has_ended);
    CHECK(r.levels.time_at[0] == is(0.2));
    CHECK(r.jitter.mean == is(105));
    CHECK(r.playback.wall == is(1.2));
}

TEST_CASE("qoe: an open stall, and a pause inside it")
{
    pointer q = begun(true);
    shown(q.get(), 2000, 0, 1, 10);
    qoe_on_stall_begin(q.get(), STALL_OUTAGE, 2100 * ms);
    CHECK(report_at(q, 2400).rebuffering.total == is(0.3));
    qoe_on_pause(q.get(), true, 2500 * ms);
    CHECK(report_at(q, 8000).rebuffering.total == is(0.4));
    qoe_on_pause(q.get(), false, 8500 * ms);
    qoe_on_stall_begin(q.get(), STALL_OUTAGE, 8550 * ms); // it is open already
    qoe_on_ended(q.get(), QOE_INTERRUPTED, nullptr, 8600 * ms);
    qoe_json r = report_at(q, 8600);
    CHECK(r.rebuffering.count == 1);
    CHECK(r.rebuffering.total == is(0.5)); // 2100 to 2500 and 8500 to 8600
    CHECK(r.rebuffering.events[0].duration == is(0.5));
    CHECK(r.playback.wall == is(0.6));
}

TEST_CASE("qoe: jitter excludes pauses")
{
    pointer q = begun(true);
    frame(q.get(), 1000, 0, 1, 20);
    frame(q.get(), 1100, 1, 1, 20);
    qoe_on_pause(q.get(), true, 1150 * ms);
    qoe_on_pause(q.get(), false, 9000 * ms);
    frame(q.get(), 9100, 2, 1, 20);
    frame(q.get(), 9200, 3, 1, 20);
    frame(q.get(), 9300, -5, 1, 20);
    qoe_json r = report_at(q, 9500);
    CHECK(r.jitter.mean == is(100));
    CHECK(r.jitter.max == is(100));
}

TEST_CASE("qoe: filler without pictures has latency and network, no playback")
{
    pointer q = begun(false);
    network(q.get());
    qoe_on_ended(q.get(), QOE_DURATION, nullptr, 3600 * ms);
    qoe_json r = report_at(q, 3600);
    for (double v : {r.playback.media, r.playback.wall, r.playback.frames_received,
                     r.playback.frames_played, r.playback.frames_lost, r.playback.frame_rate,
                     r.playback.encoded_frame_rate, r.rebuffering.count, r.rebuffering.ratio,
                     r.startup.time_to_first_frame, r.picture.psnr_y})
        CHECK(std::isnan(v));
    CHECK(r.latency.d200 == is(0.5));
    CHECK(r.network.throughput == is(16000));
    CHECK(r.network.goodput == is(5 * 700 * 8 / 2.0)); // whole frames
    CHECK(r.levels.time_at[1] == is(2.5));             // from the first frame, 1100, to 3600
}

TEST_CASE("qoe: unmeasured values are NaN, never a division by 0")
{
    pointer q(qoe_new("rtsp://h/", started_wall, 0), qoe_free);
    qoe_json r = report_at(q, 0);
    for (double v : {r.startup.connect, r.playback.wall, r.playback.frame_rate, r.levels.mean,
                     r.jitter.mean, r.jitter.p99, r.latency.d200, r.latency.display.max,
                     r.network.throughput, r.network.loss_rate, r.network.packets_lost,
                     r.network.rtt_mean, r.network.capacity_estimate, r.picture.psnr_y,
                     r.picture.ssim, r.cpu.user, r.latency.offset_error})
        CHECK(std::isnan(v));
    packet(q.get(), 5, 100, QOE_UNKNOWN); // one packet spans no time
    r = report_at(q, 10);
    CHECK(r.network.bytes_received == 100);
    CHECK(std::isnan(r.network.throughput));
    CHECK(r.latency.samples == 0);
    qoe_on_picture(q.get(), 0, 1); // equal pictures
    qoe_on_picture(q.get(), nan_, 1);
    r = report_at(q, 10);
    CHECK(r.picture.compared == 1);
    CHECK(r.picture.psnr_y == 100);
}

TEST_CASE("qoe: the list of switches is bounded, their count is not")
{
    pointer q = begun(true);
    for (int i = 0; i < 1500; i++) {
        qoe_switch e = {0, 1, "upscale"};
        qoe_on_switch(q.get(), &e, (1000 + 10 * i) * ms);
    }
    qoe_json r = report_at(q, 20000);
    CHECK(r.levels.switch_count == 1500);
    CHECK(r.levels.listed == QOE_MAX_LIST);
}

TEST_CASE("qoe: the frames of live media missed between connections")
{
    static const struct {
        usec_t captured, shown; // ms, of the first frame that follows; the last account ended at
                                // 2000 of the sender's clock, at 3000 of ours; 10 frames/s
        usec_t paused;          // ms of them
        double missed;
    } table[] = {
        {2000, 3000, 0, 0},     {7000, 8000, 0, 50},
        {7000, 8500, 0, 50},   // played later than before
        {1500, 3000, 0, 0},    // seen twice
        {900000, 8000, 0, 50}, // another clock
        {7000, 8000, 2000, 30}, {7000, 8000, 5000, 0},
    };
    for (const auto &row : table) {
        pointer q = begun(true);
        shown(q.get(), 3000, 0, 1, 100);
        qoe_media_edge end = {2000 * ms, 3000 * ms, 1};
        qoe_on_live_end(q.get(), &end);
        if (row.paused) {
            qoe_on_pause(q.get(), true, 3000 * ms);
            qoe_on_pause(q.get(), false, (3000 + row.paused) * ms);
        }
        qoe_on_reconnect(q.get());
        qoe_media_edge first = {row.captured * ms, row.shown * ms, 1};
        INFO(row.captured << " " << row.shown << " " << row.paused);
        CHECK((double)qoe_on_live_begin(q.get(), &first) == row.missed);
        CHECK(qoe_on_live_begin(q.get(), &first) == 0); // once
        frame_totals frames = {1, 1, {}, {}};
        qoe_on_frames(q.get(), &frames);
        qoe_json r = report_at(q, 9000);
        CHECK(r.causes.by_cause[CAUSE_OUTAGE] == row.missed);
        CHECK(r.causes.by_root[CAUSE_OUTAGE] == row.missed);
        CHECK(r.causes.expected - r.causes.shown == row.missed);
    }
}

TEST_CASE("qoe: a lost connection is a freeze")
{
    pointer q = begun(true);
    shown(q.get(), 1500, 7, 1, 100);
    qoe_on_stall_begin(q.get(), STALL_LOST, 1600 * ms);
    qoe_on_reconnect(q.get());
    qoe_on_stall_end(q.get(), STALL_LOST, 4400 * ms);
    shown(q.get(), 4500, 0, 1, 100); // numbers begin anew
    shown(q.get(), 4600, 1, 1, 100);
    const qoe_freeze_entry *e = qoe_on_ended(q.get(), QOE_DURATION, nullptr, 5000 * ms);
    REQUIRE(e);
    CHECK(e->duration == is(0.4));
    qoe_json r = report_at(q, 5000);
    CHECK(r.freezes.count == 2);
    CHECK(r.freezes.by_cause[FREEZE_LOST].total == is(3));
    CHECK(r.freezes.by_cause[FREEZE_DISPLAY].total == is(0.4));
    CHECK(r.freezes.ratio == is(3.4 / 3.5));
}
