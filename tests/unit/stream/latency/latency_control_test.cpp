// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_control.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "common/base/rng.h"
#include "stream/qoe/qoe.h"

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
    double slowest = 1, fastest = 1;

    stream(const network &n, usec_t target, bool steer = true, usec_t start = 250 * ms)
        : net(n), steers(steer)
    {
        levels.source_fps = {net.fps, 1};
        playout_config c{};
        c.ladder = &levels;
        c.start_threshold = start;
        c.resume_threshold = std::max<usec_t>(start, 500 * ms);
        c.decode_lead = 60 * ms;
        p = playout_new(&c);
        latency_control_config config = {target, target ? 0 : start};
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
            if (now >= observe_from) {
                least = std::min(least, last);
                most = std::max(most, last);
            }
            received_frame_free(a.frame);
            break;
        case PLAYOUT_DECODE_ONLY:
            received_frame_free(a.frame);
            break;
        case PLAYOUT_START:
            latency_control_started(&pace, now);
            break;
        case PLAYOUT_STALL_BEGIN:
            stalls++;
            latency_control_stalled(&pace, p, a.at, now);
            break;
        case PLAYOUT_STALL_END:
            latency_control_resumed(&pace, now);
            break;
        case PLAYOUT_LATE:
            latency_control_late(&pace, now);
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
        live_arrival a = {playout_pts(p, frame), net.encoder,
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
        most = 0;
    }
};

} // namespace

TEST_CASE("live pace: the target is reached and held")
{
    for (usec_t target : {150 * ms, 400 * ms, 1000 * ms, 3000 * ms}) {
        stream s(network{}, target);
        s.until(30 * sec);
        s.observe();
        s.until(90 * sec);
        INFO("target " << target / ms);
        CHECK(s.least >= target - 40 * ms);
        CHECK(s.most <= target + 40 * ms);
        CHECK(s.stalls == 0);
        CHECK(s.skips == 0);
        CHECK(latency_control_target(&s.pace) == target);
        CHECK(s.pace.shares.kept);
    }
}

TEST_CASE("live pace: a target that cannot be kept gives what jitter needs")
{
    network net;
    net.transport = 200 * ms;
    net.jitter = 60 * ms;
    stream s(net, 100 * ms);
    s.until(30 * sec);
    s.observe();
    s.until(120 * sec);
    CHECK_FALSE(s.pace.shares.kept);
    CHECK(s.pace.shares.sender == s.pace.shares.buffer); // encoder and margin are both 10 ms
    // encoder 10 + transport 200 + p99 of jitter 58 + margin 10
    CHECK(s.pace.shares.floor == Approx(68 * ms).epsilon(0.1));
    CHECK(s.least >= 220 * ms);
    CHECK(s.most <= 330 * ms);
    CHECK(s.stalls <= 2);
}

TEST_CASE("live pace: without a target what the start gave is kept, and nothing else happens")
{
    stream s(network{}, 0);
    s.until(10 * sec);
    s.observe();
    s.until(120 * sec);
    CHECK(s.most - s.least <= 40 * ms);
    CHECK(s.slowest >= 0.995);
    CHECK(s.fastest <= 1.005);
    CHECK(latency_control_target(&s.pace) ==
          Approx(300 * ms).margin(40 * ms)); // 250 - 33 of buffer
}

TEST_CASE("live pace: without a clock to compare with, transport is half a round trip")
{
    network net;
    net.clock = false;
    stream s(net, 400 * ms);
    latency_control_set_rtt(&s.pace, 60 * ms); // it takes 40 one way: 10 ms are not known of
    s.until(30 * sec);
    s.observe();
    s.until(60 * sec);
    CHECK(s.pace.parts.transport == 30 * ms);
    CHECK(s.least >= 360 * ms);
    CHECK(s.most <= 450 * ms);
}

TEST_CASE("live pace: another time line is no latency")
{
    network net;
    net.key_interval = 1;
    stream s(net, 400 * ms);
    s.until(300 * sec);
    s.net.zero = 300 * sec; // the sender begins anew
    s.frame = 0;
    s.until(330 * sec);
    s.observe();
    CHECK(s.refused == PLAYOUT_RESYNC - 1);
    CHECK(s.stalls == 1);
    s.until(360 * sec);
    CHECK(s.least >= 360 * ms);
    CHECK(s.most <= 440 * ms);
    CHECK(s.skips == 0);
    CHECK(s.wishes == 0);
}

TEST_CASE("live pace: a stall of 3 s is caught up within 60 s, and not without steering")
{
    for (bool steers : {true, false}) {
        network net;
        net.stall_at = 20 * sec;
        net.stall = 3 * sec;
        stream s(net, 0, steers);
        s.until(19 * sec);
        usec_t before = s.last;
        s.until(30 * sec);
        CHECK(s.stalls == 1);
        s.until(83 * sec);
        INFO("steers " << steers);
        if (steers)
            CHECK(s.last <= before + 60 * ms);
        else
            CHECK(s.last >= before + 2500 * ms);
        CHECK(s.fastest <= 1.05);
        CHECK(s.lost == 0);
    }
}

TEST_CASE("live pace: what was held up by a stall is no jitter")
{
    network net;
    net.stall_at = 20 * sec;
    net.stall = sec;
    net.spacing = 25 * ms; // of 33: the backlog takes 3 s
    stream s(net, 400 * ms);
    s.until(19 * sec);
    usec_t before = s.pace.shares.floor;
    CHECK(before <= 60 * ms);
    for (usec_t t = 20 * sec; t <= 40 * sec; t += sec) {
        s.until(t);
        INFO("at " << t / sec << " s");
        CHECK(s.pace.shares.floor <= before + 30 * ms);
    }
    CHECK(s.stalls >= 1);
}

TEST_CASE("live pace: within the bound of skipping, speed alone does it")
{
    network net;
    net.stall_at = 20 * sec;
    net.stall = 2 * sec;
    stream s(net, 1500 * ms); // skips beyond 3 s
    s.until(19 * sec);
    s.until(65 * sec);
    s.observe();
    s.until(70 * sec);
    CHECK(s.skips == 0);
    CHECK(s.fastest == Approx(1.05).epsilon(0.03));
    CHECK(s.most <= 1540 * ms);
    CHECK(s.least >= 1460 * ms);
}

TEST_CASE("live pace: beyond the bound it skips to a key frame, and asks for one if there is none")
{
    for (int key_interval : {30, 3000}) {
        network net;
        net.stall_at = 20 * sec;
        net.stall = 5 * sec;
        net.key_interval = key_interval;
        stream s(net, 400 * ms);
        s.until(35 * sec);
        INFO("a key frame every " << key_interval);
        CHECK((s.skips > 0) == (key_interval == 30));
        CHECK((s.skipped > 0) == (key_interval == 30));
        CHECK((s.wishes > 0) == (key_interval == 3000));
        if (key_interval == 30)
            CHECK(s.last <= 1700 * ms);
    }
}

// The sender's clock runs 200 ppm fast or slow: 17 s a day.
TEST_CASE("live pace: for a day at 200 ppm of drift the latency stays, and nothing is skipped")
{
    for (double drift : {200.0, -200.0}) {
        network net;
        net.drift_ppm = drift;
        stream s(net, drift > 0 ? 300 * ms : 0);
        s.until(60 * sec);
        s.observe();
        usec_t wanted = latency_control_target(&s.pace);
        s.until(24 * 3600 * sec);
        INFO("drift " << drift << ", target " << wanted / ms << ", latency " << s.least / ms
                      << " to " << s.most / ms);
        CHECK(s.shown > 2590000);
        CHECK(s.least >= wanted - 40 * ms);
        CHECK(s.most <= wanted + 40 * ms);
        CHECK(s.skips + s.skipped + s.stalls + s.lost + s.refused == 0);
    }
    network net;
    net.drift_ppm = 200;
    stream grows(net, 0, false);
    grows.until(3600 * sec);
    CHECK(grows.last >= 900 * ms); // 0.72 s an hour
}
