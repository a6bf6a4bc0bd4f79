// SPDX-License-Identifier: GPL-2.0-or-later
// The whole room at work on a simulated path: minutes of a stream with losses in both directions,
// against the bounds that repair is to keep.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "common/base/seq.h"
#include "common/repair/loss_detector.h"
#include "common/repair/repair_sender.h"
#include "tests/support/sanitized.hpp"
#include "tests/unit/common/repair/fec_packets.hpp"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t INTERVAL = 33333; // between frames
const usec_t ENCODING = 10 * ms, SHOWING = 20 * ms;
const usec_t GAP = 1500; // between packets of a frame
const size_t BYTES = 1130;
const int LAYER[] = {0, 2, 1, 2}; // of each fourth frame
const int PACKETS[] = {11, 7, 5}; // of a frame, by layer: 1.9 Mbit/s

// Gilbert's chain; random loss is one whose state is new at each packet.
struct channel {
    double fall, rise;
    rng random;
    bool bad = false;
    bool lose()
    {
        bad = rng_unit(&random) < (bad ? 1 - rise : fall);
        return bad;
    }
};

struct scene {
    int rtt_ms, latency_ms;
    double loss, burst;
    repair_mode mode = REPAIR_MODE_AUTO;
    int seconds = 90;
    uint64_t seed = 1;
};

struct outcome {
    double missing;      // of all frames, the part that was not whole in time
    double missing_base; // the same of the layers that others depend on
    double overhead;
    repair_stats stats;
    repair_policy policy;
};

class simulation
{
  public:
    explicit simulation(const scene &s)
        : at(s), forth(channel_of(s, s.seed)), back{s.loss, 1 - s.loss, rng_seeded(s.seed + 1000)}
    {
        repair_sender_config config{};
        config.mode = s.mode;
        config.viewer_has_fec = true;
        config.kept_bytes = 100000;
        sender.reset(repair_sender_new(&config));
        loss_detector_path path{s.rtt_ms * ms, 1 * ms, s.rtt_ms * ms};
        loss_detector_set_path(detector.get(), &path);
        loss_detector_set_keep(detector.get(),
                               s.latency_ms * ms - SHOWING - ENCODING - s.rtt_ms * ms / 2);
        frames.resize((size_t)(s.seconds * 30));
    }

    outcome run()
    {
        for (size_t i = 0; i < frames.size(); i++)
            when((usec_t)i * INTERVAL + ENCODING, [this, i] { send_frame(i); });
        while (!events.empty()) {
            now = events.begin()->first;
            auto happens = std::move(events.begin()->second);
            events.erase(events.begin());
            happens();
        }
        outcome o{};
        double base = 0;
        for (size_t i = 0; i < frames.size(); i++) {
            bool is_missing = frames[i].left > 0;
            o.missing += is_missing;
            base += LAYER[i % 4] < 2;
            o.missing_base += is_missing && LAYER[i % 4] < 2;
        }
        o.missing /= (double)frames.size();
        o.missing_base /= base;
        o.stats = *repair_sender_stats(sender.get());
        o.stats.fec_recovered = recovered;
        o.overhead = repair_stats_overhead(&o.stats);
        o.policy = *repair_sender_policy(sender.get());
        return o;
    }

  private:
    struct frame {
        int left = 0;
        usec_t captured = 0;
    };
    struct packet {
        size_t frame;
        bool came = false;
        fec_bytes bytes;
    };

    static channel channel_of(const scene &s, uint64_t seed)
    {
        double rise = s.burst > 1 ? 1 / s.burst : 1 - s.loss;
        return {rise * s.loss / (1 - s.loss), rise, rng_seeded(seed)};
    }

    void when(usec_t t, std::function<void()> what)
    {
        events.emplace(t, std::move(what));
    }

    usec_t deadline_of(size_t f) const
    {
        return frames[f].captured + at.latency_ms * ms - SHOWING;
    }

    // ---- The sender

    // One transmission. The sender knows its fate a round trip and a report later.
    void transmit(std::function<void()> arrives)
    {
        bool lost = forth.lose();
        when(now + at.rtt_ms * ms + 20 * ms,
             [this, lost] { repair_sender_fate(sender.get(), lost); });
        if (!lost)
            when(now + at.rtt_ms * ms / 2 + (usec_t)rng_below(&noise, 1000), std::move(arrives));
    }

    void send_repair()
    {
        repair_packet p;
        while (repair_sender_next(sender.get(), &p, now)) {
            fec_bytes bytes(p.bytes, p.bytes + p.len);
            if (p.is_parity) {
                transmit([this, bytes] {
                    (void)fec.arrive_parity(bytes); // after a long burst it is out of the window
                    take_recovered();
                });
            } else {
                int64_t seq = seq16_extend((int64_t)packets.size(), p.seq);
                if (bytes != packets[(size_t)seq].bytes)
                    FAIL("packet " << seq << " was sent again wrongly");
                transmit([this, seq] { media_arrives(seq); });
            }
            repair_sender_done(sender.get(), now);
        }
        usec_t next = repair_sender_next_timeout(sender.get());
        if (next != USEC_NEVER && next != sender_alarm)
            when(sender_alarm = std::max(next, now), [this] { send_repair(); });
    }

    void send_frame(size_t i)
    {
        int layer = LAYER[i % 4], count = PACKETS[layer];
        frames[i].captured = (usec_t)i * INTERVAL;
        frames[i].left = count;
        repair_path p{};
        p.rtt = p.min_rtt = at.rtt_ms * ms;
        p.delay = p.rtt / 2;
        p.jitter = 2 * ms;
        p.feedback = 6 * ms;
        usec_t slack = (at.latency_ms * ms - SHOWING) - (ENCODING + p.delay);
        repair_sender_plan(sender.get(), &p, slack, INTERVAL, BYTES * 8 * 30 * 7);
        for (int k = 0; k < count; k++)
            when(now + k * GAP, [this, i, k, count] { send_packet(i, k, count); });
    }

    void send_packet(size_t i, int k, int count)
    {
        int64_t seq = (int64_t)packets.size();
        packets.push_back({i, false, fec_packet((uint16_t)seq, BYTES, &noise)});
        const fec_bytes &bytes = packets.back().bytes;
        int left = count - 1 - k;
        transmit([this, seq, left] { media_arrives(seq, left); });
        repair_media m{};
        m.seq = (uint16_t)seq;
        m.frame = (int64_t)i;
        m.is_last = left == 0;
        m.is_depended_on = LAYER[i % 4] < 2;
        m.deadline = deadline_of(i);
        m.head = bytes.data();
        m.head_len = 40;
        m.body = bytes.data() + 40;
        m.body_len = BYTES - 40;
        repair_sender_sent(sender.get(), &m, now);
        send_repair();
    }

    // ---- The viewer

    void media_arrives(int64_t seq, int left = LOSS_DETECTOR_TAIL_UNKNOWN)
    {
        if (!take(seq))
            return;
        fec.arrive(seq, packets[(size_t)seq].bytes);
        loss_detector_packet(detector.get(), seq, left, now);
        take_recovered();
        report();
    }

    // Returns true if it did not come before.
    bool take(int64_t seq)
    {
        packet &p = packets[(size_t)seq];
        bool is_new = !p.came;
        p.came = true;
        if (is_new && now <= deadline_of(p.frame))
            frames[p.frame].left--;
        return is_new;
    }

    void take_recovered()
    {
        for (const auto &r : fec.recovered) {
            if (r.second != packets[(size_t)r.first].bytes)
                FAIL("packet " << r.first << " was recovered wrongly");
            recovered += take(r.first);
            loss_detector_recovered(detector.get(), r.first, now);
        }
        fec.recovered.clear();
    }

    void report()
    {
        rtcp_nack nacks[16];
        int count = loss_detector_requests(detector.get(), nacks, 16, now);
        for (int i = 0; i < count && !back.lose(); i++) {
            rtcp_nack n = nacks[i];
            when(now + at.rtt_ms * ms / 2, [this, n] {
                for (uint32_t named = 1 | (uint32_t)n.blp << 1; named; named &= named - 1)
                    (void)repair_sender_lost(sender.get(), (uint16_t)(n.pid + __builtin_ctz(named)),
                                             now);
                send_repair();
            });
        }
        usec_t next = loss_detector_next_timeout(detector.get());
        if (next != USEC_NEVER && next != alarm) {
            alarm = next;
            when(std::max(next, now), [this, next] {
                if (alarm == next) {
                    alarm = USEC_NEVER;
                    report();
                }
            });
        }
    }

    scene at;
    channel forth, back;
    rng noise = rng_seeded(77);
    usec_t now = 0, alarm = USEC_NEVER;
    std::multimap<usec_t, std::function<void()>> events;
    std::vector<frame> frames;
    std::vector<packet> packets;
    std::unique_ptr<repair_sender, decltype(&repair_sender_free)> sender{nullptr,
                                                                         repair_sender_free};
    usec_t sender_alarm = USEC_NEVER;
    uint64_t recovered = 0;
    fec_pair fec;
    std::unique_ptr<loss_detector, decltype(&loss_detector_free)> detector{loss_detector_new(),
                                                                           loss_detector_free};
};

// Frames that were not whole in time, in percent: of all layers; of those that others depend on.
void check(const scene &s, double max_missing, double max_missing_base, double max_overhead)
{
    INFO("RTT " << s.rtt_ms << ", latency " << s.latency_ms << ", loss " << s.loss << ", burst "
                << s.burst << ", " << repair_mode_name(s.mode) << ", seed " << s.seed);
    outcome o = simulation(s).run();
    CHECK(o.missing * 100 <= max_missing);
    CHECK(o.missing_base * 100 <= max_missing_base);
    CHECK(o.overhead * 100 <= max_overhead);
    // Each recovered packet was compared with the one that was sent.
    CHECK((o.stats.fec_recovered > 0) == (o.policy.fec_window > 0));
}
} // namespace

TEST_CASE("repair simulation: packets are sent again while there are rounds", "[long]")
{
    // At most 1.3 x loss + 1 % of the media's bytes with several rounds, 2.2 x loss + 1 % with one,
    // and the first credit, 0.4 % here.
    struct {
        int rtt_ms, latency_ms;
        double loss, burst, missing, base, overhead;
    } table[] = {
        {50, 250, .01, 1, .1, .1, 2.3},   {50, 250, .02, 1, .1, .1, 3.6},
        {50, 250, .05, 1, .3, .3, 7.5},   {50, 250, .0385, 4, .2, .2, 6.0},
        {100, 400, .05, 1, .3, .3, 7.5},  {20, 150, .05, 1, .3, .3, 7.5},
        {100, 250, .01, 1, .3, .3, 2.3},  {100, 250, .02, 1, .3, .3, 5.4},
        {100, 250, .05, 1, .5, .5, 12.0}, {100, 250, .0385, 4, 1, 1, 9.9},
    };
    for (const auto &row : table)
        for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 2); seed++)
            check({row.rtt_ms, row.latency_ms, row.loss, row.burst, REPAIR_MODE_AUTO, 90, seed},
                  row.missing, row.base, row.overhead);
}

TEST_CASE("repair simulation: parity where no round fits")
{
    // At most 2.5 x loss as it is estimated + 10 %, and the first credit of 0.4 %. A window of one
    // frame leaves the top layer to its losses.
    struct {
        int rtt_ms, latency_ms;
        double loss, burst, missing, base, overhead;
    } table[] = {
        {100, 150, .02, 1, .6, .6, 15.8}, {100, 150, .05, 1, 1.2, 1.2, 23.3},
        {200, 250, .05, 1, .2, .2, 23.3}, {100, 100, .02, 1, 6, .5, 15.8},
        {50, 100, .05, 1, 14, .5, 23.3},  {200, 250, .0385, 4, 5, 6, 20.8},
    };
    for (const auto &row : table)
        check({row.rtt_ms, row.latency_ms, row.loss, row.burst}, row.missing, row.base,
              row.overhead);
}

TEST_CASE("repair simulation: modes, and what repair is worth")
{
    // At 5 %, frames of 5 to 11 packets: without repair 29.6 % of them lack one.
    scene s{100, 250, .05, 1, REPAIR_MODE_OFF, 60};
    outcome off = simulation(s).run();
    CHECK(off.missing == Approx(.296).epsilon(.1));
    CHECK(off.overhead == 0);
    CHECK(off.stats.invalidations > 0);
    s.mode = REPAIR_MODE_RESEND;
    check(s, .5, .5, 12);
    s.mode = REPAIR_MODE_FEC;
    check(s, .5, .5, 23);
    // At 35 % the share is left to what others depend on.
    s.mode = REPAIR_MODE_AUTO;
    s.loss = .35;
    outcome congested = simulation(s).run();
    CHECK(congested.overhead < 31);
    CHECK(congested.stats.not_resent[REPAIR_CONGESTED] > 1000);
}
