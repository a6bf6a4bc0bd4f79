// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_control.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "common/base/rng.h"
#include "stream/playout/film_clock.h"
#include "stream/playout/immediate_clock.h"
#include "stream/playout/live_clock.h"
#include "stream/qoe/qoe.h"
#include "tests/support/sanitized.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;

struct network {
    usec_t encoder = 10 * ms;
    usec_t transport = 40 * ms; // at best
    usec_t jitter = 20 * ms;    // most, most frames have little
    int fps = 30;
    int key_interval = 300; // frames
    double drift_ppm = 0;   // of the sender's clock against the player's
    usec_t stall_at = -1;   // nothing passes from here for `stall`; then all that waited does
    usec_t stall = 0;
    usec_t spacing = 0; // of two frames, at least
    bool clock = true;  // the sender's stamps can be compared with our clock
    usec_t zero = 0;    // when frame 0 is captured
};

// A live stream in virtual time: the playout buffer as it is, steered or not.
struct stream {
    network net;
    ladder levels{};
    playout *p;
    latency_control pace;
    bool steers;
    rng random = rng_seeded(7);
    usec_t now = 0;
    usec_t arrived = 0; // the last frame: they come in order
    int64_t frame = 0;
    int refused = 0, stalls = 0, lost = 0, skipped = 0, skips = 0, wishes = 0;
    int64_t shown = 0;
    usec_t least = USEC_NEVER, most = 0, last = 0; // latency, capture to shown
    usec_t observe_from = 0;
    std::vector<usec_t> all; // the latencies since observe()
    usec_t shown_at = 0, gap = 0;
    double slowest = 1, fastest = 1;

    stream(const network &n, latency_mode mode, usec_t target = 0, bool steer = true,
           usec_t start = 250 * ms)
        : net(n), steers(steer)
    {
        start = mode == LATENCY_AUTO || mode == LATENCY_LOW ? 0 : start;
        levels.source_fps = {net.fps, 1};
        playout_config c{};
        c.ladder = &levels;
        c.start_threshold = start;
        c.resume_threshold = std::max<usec_t>(start, 500 * ms);
        c.decode_lead = 60 * ms;
        c.clock = mode == LATENCY_LOW ? &immediate_clock : steer ? &live_clock : &film_clock;
        p = playout_new(&c);
        latency_control_config config = {mode, target, target ? 0 : start};
        latency_control_init(&pace, &config, 0);
    }
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    ~stream()
    {
        playout_free(p);
    }

    // On the player's clock.
    usec_t captured(int64_t n) const
    {
        double seconds = static_cast<double>(n) / net.fps;
        return net.zero +
               static_cast<usec_t>(std::llround(seconds * (1 - net.drift_ppm / 1e6) * 1e6));
    }

    void act(const playout_action &a)
    {
        switch (a.kind) {
        case PLAYOUT_DECODE_AND_SHOW:
            last = a.show_at - captured(a.number);
            shown++;
            all.push_back(last);
            if (shown_at)
                gap = std::max(gap, a.show_at - shown_at);
            shown_at = a.show_at;
            if (now >= observe_from) {
                least = std::min(least, last);
                most = std::max(most, last);
            }
            received_frame_free(a.frame);
            break;
        case PLAYOUT_DECODE_ONLY:
            skipped += a.skipped;
            received_frame_free(a.frame);
            break;
        case PLAYOUT_START:
            latency_control_started(&pace, now);
            break;
        case PLAYOUT_STALL_BEGIN:
            stalls++;
            break;
        case PLAYOUT_LOST:
            lost++;
            break;
        case PLAYOUT_SKIPPED:
            skipped++;
            break;
        default:
            break;
        }
    }

    void drain()
    {
        playout_action a;
        while (playout_poll(p, &a, now))
            act(a);
    }

    usec_t arrival_of(int64_t n)
    {
        double unit = rng_unit(&random); // cubed: mostly little
        auto late = static_cast<usec_t>(unit * unit * unit * static_cast<double>(net.jitter));
        usec_t at = captured(n) + net.encoder + net.transport + late;
        if (at >= net.stall_at && at < net.stall_at + net.stall)
            at = net.stall_at + net.stall;
        return arrived = std::max(arrived + net.spacing, at);
    }

    void push(usec_t at)
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = frame;
        f->key = frame % net.key_interval == 0;
        f->depends_on = f->key ? -1 : frame - 1;
        now = at;
        live_arrival a = {playout_pts(p, frame), true, net.encoder,
                          net.clock ? at - captured(frame) - net.encoder : QOE_UNKNOWN};
        latency_control_arrived(&pace, &a, now);
        refused += playout_push(p, f, now) != 0;
        drain();
        live_steer s;
        if (!steers || !latency_control_steer(&pace, p, &s, now))
            return;
        slowest = std::min(slowest, s.speed);
        fastest = std::max(fastest, s.speed);
        skips += s.skipped > 0;
        wishes += s.wants_key;
        drain();
    }

    void until(usec_t t)
    {
        for (;; frame++) {
            usec_t at = arrival_of(frame);
            if (at > t)
                break;
            while (playout_next_timeout(p) <= at) {
                now = std::max(now, playout_next_timeout(p));
                drain();
            }
            push(at);
        }
    }

    // From here on latency is observed.
    void observe()
    {
        observe_from = now;
        least = USEC_NEVER;
        most = gap = 0;
        all.clear();
    }
    // Of the latencies since observe(), ms.
    usec_t quantile(double q)
    {
        REQUIRE_FALSE(all.empty());
        std::sort(all.begin(), all.end());
        return all[static_cast<size_t>(q * static_cast<double>(all.size() - 1))] / ms;
    }
};

} // namespace

TEST_CASE("latency_control: a fixed target is reached and held, and the median is within it")
{
    for (usec_t target : {150 * ms, 300 * ms, 1000 * ms, 3000 * ms}) {
        stream s(network{}, LATENCY_FIXED, target);
        s.until(10 * sec);
        s.observe();
        s.until(90 * sec);
        INFO("target " << target / ms);
        CHECK(s.quantile(0.5) <= target / ms);
        CHECK(s.quantile(0.5) >= target / ms - 12);
        CHECK(s.quantile(0.99) <= target / ms + 5);
        CHECK(s.stalls == 0);
        CHECK(s.skips == 0);
        CHECK(latency_control_target(&s.pace) == target);
        CHECK(s.pace.shares.kept);
    }
}

TEST_CASE("latency_control: jitter and stalls do not move a fixed target")
{
    network net;
    net.jitter = 150 * ms; // more than the 100 ms that the path leaves
    net.stall_at = 30 * sec;
    net.stall = 400 * ms;
    stream s(net, LATENCY_FIXED, 150 * ms);
    s.until(20 * sec);
    s.observe();
    s.until(30 * sec);
    CHECK(s.quantile(0.5) <= 150);
    s.until(32 * sec); // back within 2 s
    s.observe();
    s.until(60 * sec);
    CHECK(s.quantile(0.5) <= 150);
    CHECK(s.quantile(0.9) <= 200); // who is late is late
    CHECK(s.pace.shares.kept);
}

TEST_CASE("latency_control: a path longer than the target takes what it takes")
{
    network net;
    net.transport = 200 * ms;
    stream s(net, LATENCY_FIXED, 100 * ms);
    s.until(30 * sec);
    s.observe();
    s.until(60 * sec);
    CHECK_FALSE(s.pace.shares.kept);
    CHECK(s.quantile(0.5) <= 225);
}

TEST_CASE("latency_control: auto waits for what jitter needs, a few seconds after the start")
{
    struct {
        usec_t jitter; // the most; the 90 % quantile of its cube is 0.73 of it
        usec_t p50, p95;
    } const table[] = {{4, 60, 62}, {20, 73, 78}, {60, 108, 116}, {200, 228, 245}};
    for (const auto &row : table) {
        network net;
        net.jitter = row.jitter * ms;
        stream s(net, LATENCY_AUTO);
        s.until(5 * sec);
        s.observe();
        int early = s.stalls + s.skips + s.lost;
        s.until(60 * sec);
        INFO("jitter " << row.jitter << ": " << s.quantile(0.5) << " " << s.quantile(0.95));
        CHECK(s.quantile(0.5) <= row.p50);
        CHECK(s.quantile(0.95) <= row.p95);
        CHECK(s.quantile(0.05) >= 50 + std::max<usec_t>(0, row.jitter * 6 / 10 - 15));
        CHECK(s.gap <= 100 * ms);
        CHECK(s.stalls + s.skips + s.lost == early);
        CHECK(s.fastest <= 1.05);
    }
}

TEST_CASE(
    "latency_control: auto rises at once with the jitter, without a gap, and falls in seconds")
{
    network net;
    net.jitter = 4 * ms;
    stream s(net, LATENCY_AUTO);
    s.until(20 * sec);
    CHECK(s.pace.wait <= 10 * ms);
    s.net.jitter = 80 * ms;
    s.observe();
    s.until(25 * sec);
    CHECK(s.pace.wait >= 40 * ms);
    CHECK(s.gap <= 120 * ms); // of the arrivals
    s.net.jitter = 4 * ms;
    s.until(35 * sec);
    CHECK(s.pace.wait <= 10 * ms);
    s.observe();
    s.until(42 * sec);
    CHECK(s.quantile(0.5) <= 66);
}

TEST_CASE("latency_control: a start that took long is caught up within 5 s")
{
    for (latency_mode mode : {LATENCY_AUTO, LATENCY_FIXED}) {
        network net;
        net.jitter = 4 * ms;
        net.stall_at = 60 * ms; // the first frames, as behind a long key frame
        net.stall = 800 * ms;
        net.spacing = 20 * ms; // of 33
        stream s(net, mode, mode == LATENCY_FIXED ? 300 * ms : 0);
        s.until(5 * sec);
        s.observe();
        s.until(20 * sec);
        INFO(latency_mode_name(mode));
        CHECK(s.quantile(0.95) <= (mode == LATENCY_FIXED ? 306 : 66));
        CHECK(s.gap <= 100 * ms);
    }
}

TEST_CASE("latency_control: after a stall the latency is back at once, and one stall is no jitter")
{
    for (usec_t stall : {400 * ms, 3 * sec}) {
        network net;
        net.jitter = 4 * ms;
        net.stall_at = 20 * sec;
        net.stall = stall;
        net.spacing = 5 * ms;
        stream s(net, LATENCY_AUTO);
        s.until(net.stall_at + stall + sec);
        s.observe();
        s.until(40 * sec);
        INFO("stall " << stall / ms);
        CHECK(s.quantile(0.95) <= 70);
        CHECK(s.skips + s.lost == 0);
        CHECK(s.wishes == 0);
    }
}

TEST_CASE("latency_control: a path that becomes shorter is followed, by a skip if it is much")
{
    for (usec_t less : {100 * ms, 500 * ms}) {
        network net;
        net.jitter = 4 * ms;
        net.transport = 600 * ms;
        stream s(net, LATENCY_AUTO);
        s.until(20 * sec);
        s.net.transport -= less;
        s.until(30 * sec);
        s.observe();
        s.until(40 * sec);
        INFO(less / ms);
        CHECK(s.quantile(0.95) <= 610 - less / ms + 15);
        CHECK((s.skips > 0) == (less > LATENCY_CONTROL_SKIP));
        CHECK((s.skipped > 0) == (less > LATENCY_CONTROL_SKIP));
        CHECK(s.wishes == 0);
    }
}

TEST_CASE("latency_control: a path that becomes longer is followed")
{
    network net;
    net.jitter = 4 * ms;
    stream s(net, LATENCY_AUTO);
    s.until(20 * sec);
    s.observe();
    s.net.transport += 150 * ms;
    s.until(21 * sec);
    CHECK(s.gap <= 200 * ms); // of the step itself
    s.until(27 * sec);
    s.observe();
    s.until(40 * sec);
    CHECK(s.quantile(0.05) >= 200);
    CHECK(s.quantile(0.95) <= 216);
    CHECK(s.gap <= 50 * ms);
}

TEST_CASE("latency_control: a round of repair is part of the wait while packets are lost")
{
    for (latency_mode mode : {LATENCY_AUTO, LATENCY_FIXED}) {
        network net;
        net.jitter = 4 * ms;
        stream s(net, mode, mode == LATENCY_FIXED ? 300 * ms : 0);
        latency_control_set_repair(&s.pace, 70 * ms);
        s.until(10 * sec);
        usec_t before = s.pace.wait;
        INFO(latency_mode_name(mode));
        int64_t seq = 1;
        for (int event = 0; event < 3; event++) {
            s.until(10 * sec + event * 500 * ms);
            CHECK(s.pace.wait <= before + 5 * ms); // one loss or two are rare
            for (int64_t later : {0, 2, 3, 4})
                latency_control_packet(&s.pace, seq + later, QOE_UNKNOWN, s.now);
            seq += 5;
        }
        s.until(12 * sec);
        CHECK((s.pace.wait >= before + 65 * ms) == (mode == LATENCY_AUTO));
        // A frame that was repaired in that time is no jitter: its round counts already.
        for (int i = 0; i < 60; i++) {
            live_arrival a = {playout_pts(s.p, s.frame), false, QOE_UNKNOWN, QOE_UNKNOWN};
            latency_control_arrived(&s.pace, &a, s.now + 90 * ms);
        }
        s.until(14 * sec);
        CHECK(s.pace.wait <= (mode == LATENCY_AUTO ? before + 75 * ms : before + 5 * ms));
        s.until(30 * sec);
        CHECK(s.pace.wait <= before + 5 * ms);
        latency_control_set_repair(&s.pace, 0);
        CHECK(latency_control_sender(&s.pace) >= (mode == LATENCY_AUTO ? 400 * ms : 200 * ms));
    }
}

TEST_CASE("latency_control: a round of more than 150 ms is waited for after any loss")
{
    for (usec_t round : {150 * ms, 151 * ms}) {
        network net;
        net.jitter = 4 * ms;
        stream s(net, LATENCY_AUTO);
        latency_control_set_repair(&s.pace, round);
        s.until(10 * sec);
        usec_t before = s.pace.wait;
        for (int64_t seq : {1, 3, 4, 5})
            latency_control_packet(&s.pace, seq, QOE_UNKNOWN, s.now);
        s.until(12 * sec);
        CHECK((s.pace.wait >= before + round - 5 * ms) == (round > 150 * ms));
    }
}

// Next to a TCP flow the round trip grows with its queue and shrinks at each loss, and the losses
// are as far apart as that flow's window takes to grow.
TEST_CASE("latency_control: a round that is long at times is waited for between the losses")
{
    const struct {
        const char *what;
        usec_t full, empty; // rounds, before a loss and after it
        usec_t apart;       // the losses
        bool waits;         // to the next loss
    } table[] = {
        {"never long", 150 * ms, 130 * ms, 10 * sec, false},
        {"long where the queue is full", 180 * ms, 130 * ms, 10 * sec, true},
        {"so, and the losses are further apart than 15 s", 180 * ms, 130 * ms, 20 * sec, false},
        {"a longer round has losses further apart", 420 * ms, 230 * ms, 20 * sec, true},
        {"but not for ever", 420 * ms, 230 * ms, 30 * sec, false},
    };
    for (const auto &row : table) {
        INFO(row.what);
        network net;
        net.jitter = 4 * ms;
        stream s(net, LATENCY_AUTO);
        s.until(10 * sec);
        usec_t before = s.pace.wait;
        int64_t seq = 1;
        for (int event = 0; event < 2; event++) {
            latency_control_set_repair(&s.pace, row.full);
            s.until(11 * sec + event * row.apart);
            for (int64_t later : {0, 2, 3, 4})
                latency_control_packet(&s.pace, seq + later, QOE_UNKNOWN, s.now);
            seq += 5;
            latency_control_set_repair(&s.pace, row.empty);
            s.until(10 * sec + (event + 1) * row.apart);
        }
        CHECK((s.pace.wait >= before + row.empty - 5 * ms) == row.waits);
        CHECK((s.pace.wait <= before + 5 * ms) == !row.waits);
    }
}

// A lost packet each second holds up a byte stream of 30 frames a second for a round trip of 100
// ms: three frames are late, which is one in ten.
TEST_CASE("latency_control: over a byte stream that often stalls, its stalls are waited for")
{
    for (bool is_stream : {false, true}) {
        network net;
        net.jitter = 4 * ms;
        net.spacing = ms;
        stream s(net, LATENCY_AUTO);
        latency_control_set_stream(&s.pace, is_stream);
        latency_control_set_rtt(&s.pace, 100 * ms);
        auto hold_up = [&s](usec_t from, usec_t to, usec_t apart) {
            for (usec_t at = from; at < to; at += apart) {
                s.net.stall_at = at;
                s.net.stall = 100 * ms;
                s.until(at + apart);
            }
        };
        INFO(is_stream);
        hold_up(10 * sec, 20 * sec, sec + 10 * ms);
        s.observe();
        hold_up(20100 * ms, 40 * sec, sec + 10 * ms);
        CHECK((s.gap <= 100 * ms) == is_stream);
        hold_up(41 * sec, 53 * sec, 4 * sec);
        CHECK(s.pace.wait <= 30 * ms); // rare stalls are not
    }
}

TEST_CASE("latency_control: what the start gave is kept, and nothing else happens")
{
    stream s(network{}, LATENCY_START);
    s.until(10 * sec);
    s.observe();
    s.until(120 * sec);
    CHECK(s.most - s.least <= 20 * ms);
    CHECK(s.slowest >= 0.995);
    CHECK(s.fastest <= 1.005);
    CHECK(latency_control_target(&s.pace) ==
          Approx(300 * ms).margin(40 * ms)); // 250 - 33 of buffer
}

TEST_CASE("latency_control: low latency has no wait and no clock")
{
    network net;
    net.jitter = 60 * ms;
    stream s(net, LATENCY_LOW);
    s.until(30 * sec);
    CHECK(s.pace.wait == 0);
    CHECK(s.quantile(0.5) <= 65);
    CHECK(s.slowest == 1);
    CHECK(s.fastest == 1);
    CHECK(latency_control_target(&s.pace) == Approx(50 * ms).margin(3 * ms));
}

TEST_CASE("latency_control: without a clock to compare with, transport is half a round trip")
{
    network net;
    net.clock = false;
    stream s(net, LATENCY_FIXED, 400 * ms);
    latency_control_set_rtt(&s.pace, 60 * ms); // it takes 40 one way: 10 ms are not known of
    s.until(30 * sec);
    s.observe();
    s.until(60 * sec);
    CHECK(s.pace.parts.transport == 30 * ms);
    CHECK(s.least >= 380 * ms);
    CHECK(s.most <= 430 * ms);
}

TEST_CASE("latency_control: another time line is no latency")
{
    for (latency_mode mode : {LATENCY_AUTO, LATENCY_FIXED}) {
        network net;
        net.key_interval = 1;
        stream s(net, mode, mode == LATENCY_FIXED ? 400 * ms : 0);
        s.until(300 * sec);
        s.net.zero = 300 * sec; // the sender restarts its media time
        s.frame = 0;
        s.until(330 * sec);
        s.observe();
        INFO(latency_mode_name(mode));
        CHECK(s.refused == PLAYOUT_RESYNC - 1);
        CHECK(s.stalls == 1);
        s.until(360 * sec);
        CHECK(s.least >= (mode == LATENCY_FIXED ? 385 : 50) * ms);
        CHECK(s.most <= (mode == LATENCY_FIXED ? 405 : 85) * ms);
        CHECK(s.wishes == 0);
    }
}

// The sender's clock runs 200 ppm fast or slow: 17 s a day.
TEST_CASE(
    "latency_control: for a day at 200 ppm of drift the latency stays, and nothing is skipped",
    "[long]")
{
    const int hours = SANITIZED ? 2 : 24;
    for (double drift : {200.0, -200.0}) {
        network net;
        net.drift_ppm = drift;
        stream s(net, drift > 0 ? LATENCY_FIXED : LATENCY_AUTO, drift > 0 ? 300 * ms : 0);
        s.until(60 * sec);
        s.observe();
        usec_t wanted = drift > 0 ? 300 * ms : 70 * ms;
        s.until(hours * 3600 * sec);
        INFO("drift " << drift << ", target " << wanted / ms << ", latency " << s.least / ms
                      << " to " << s.most / ms);
        CHECK(s.shown > 107900 * hours);
        CHECK(s.least >= wanted - 20 * ms);
        CHECK(s.most <= wanted + 20 * ms);
        CHECK(s.skips + s.skipped + s.stalls + s.lost + s.refused == 0);
    }
    network net;
    net.drift_ppm = 200;
    stream grows(net, LATENCY_START, 0, false);
    grows.until(3600 * sec);
    CHECK(grows.last >= 900 * ms); // 0.72 s an hour
}
