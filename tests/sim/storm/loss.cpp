// SPDX-License-Identifier: GPL-2.0-or-later
// Live viewings with `--latency auto` on a link of 4 Mbit/s that loses packets, in virtual time:
// what repair reaches, and at which price. The storm's session, on networks that differ in round
// trip and loss alone.
#include "tests/sim/storm/storm_session.hpp"

namespace
{

const double WARM = 5, LENGTH = 65; // seconds
const uint64_t RUNS = 3;
const usec_t GAP = 100 * USEC_PER_MSEC, FREEZE = 150 * USEC_PER_MSEC;

struct path {
    double rtt_ms, loss; // mean loss
    bool bursts;         // of three packets, of which every other one is lost
};

struct outcome {         // of all runs
    double missing;      // percent of the frames
    double overhead;     // bytes of repair, percent of the media's
    double p95_ms;       // from capture to shown
    uint64_t parity;     // packets
    int gaps = 0;        // longer times without a new picture
    double of_level = 0; // missing, percent of the frames of the levels sent
    double frozen = 0;   // percent of the time in longer times than FREEZE without a new picture
};

storm_case network(const path &p, uint64_t seed)
{
    storm_case c(seed);
    c.mbps = 4;
    c.rtt = static_cast<usec_t>(p.rtt_ms * 1000);
    c.kind = "droptail:50000B";
    c.queue = 0.1;
    c.loss = p.loss;
    c.bursts = p.bursts;
    c.back = false;
    c.what = storm_case::CALM;
    c.downloads = 0;
    c.low_latency = false;
    c.length = LENGTH;
    return c;
}

outcome view(const char *via, const path &p, live_setting::tcp own = live_setting::RENO,
             uint64_t runs = RUNS)
{
    int gaps = 0;
    double shown = 0, expected = 0, came = 0, repair = 0, media = 0;
    uint64_t parity = 0;
    usec_t frozen = 0;
    std::vector<usec_t> latency;
    for (uint64_t seed = 1; seed <= runs; seed++) {
        storm_case c = network(p, seed);
        c.setting.own = own;
        storm_session n(via, c);
        n.at_size_rate = true;
        n.run_to(WARM);
        repair_stats before = n.read().repair;
        n.run_to(LENGTH);
        auto sent = n.of_levels_sent(WARM, LENGTH - 1);
        expected += sent.first;
        came += sent.second;
        repair_stats after = n.read().repair;
        repair += static_cast<double>(after.repair_bytes - before.repair_bytes);
        media += static_cast<double>(after.media_bytes - before.media_bytes);
        parity += after.fec_packets - before.fec_packets;
        for (size_t i = 0; i < n.shown.size(); i++)
            if (n.shown[i] >= WARM * 1e6) {
                latency.push_back(n.latency[i]);
                shown++;
                usec_t gap = i > 0 ? n.shown[i] - n.shown[i - 1] : 0;
                gaps += gap > GAP;
                frozen += gap > FREEZE ? gap : 0;
            }
    }
    std::sort(latency.begin(), latency.end());
    double frames = storm_session::FPS * (LENGTH - WARM) * static_cast<double>(runs);
    return {(1 - shown / frames) * 100,
            repair / media * 100,
            latency.empty() ? NAN : usec_to_msec(latency[latency.size() * 95 / 100]),
            parity,
            gaps,
            (1 - came / expected) * 100,
            usec_to_sec(frozen) / (LENGTH - WARM) / static_cast<double>(runs) * 100};
}

} // namespace

// 1 % costs 1 % with a round that fits; 5 % costs two copies where one round does, 10 %, and 20 ms
// of round trip leave time for further rounds in part. Bursts lose a copy with its packet.
TEST_CASE("loss: frames shown, their latency, and what repair costs")
{
    const struct {
        path at;
        outcome most;
    } table[] = {
        {{20, .01, false}, {0.3, 2.3, 100, 0}},   {{20, .05, false}, {0.6, 11, 115, 0}},
        {{20, .0385, true}, {2.5, 10, 115, 0}},   {{50, .01, false}, {0.3, 2.3, 140, 0}},
        {{50, .05, false}, {0.6, 11, 180, 0}},    {{50, .0385, true}, {1, 10, 170, 0}},
        {{100, .01, false}, {0.3, 2.3, 215, 0}},  {{100, .05, false}, {0.8, 11, 220, 20}},
        {{100, .0385, true}, {1.5, 10, 220, 15}}, {{200, .01, false}, {0.5, 2.3, 370, 10}},
        {{200, .05, false}, {1.5, 11, 385, 10}},  {{200, .0385, true}, {4, 10, 380, 20}},
    };
    for (const char *via : {"udp", "scream"})
        for (const auto &row : table) {
            outcome o = view(via, row.at);
            INFO(via << ", RTT " << row.at.rtt_ms << ", loss " << row.at.loss
                     << (row.at.bursts ? " in bursts" : ""));
            CHECK(o.missing <= row.most.missing);
            CHECK(o.overhead <= row.most.overhead);
            CHECK(o.p95_ms <= row.most.p95_ms);
            CHECK(o.parity <= row.most.parity);
        }
}

// Playing waits a round for a lost copy of what others depend on: at 1 % two copies leave. If both
// are lost, the viewer says so, and the encoder repairs the picture.
TEST_CASE("loss: a lost copy rarely stops the picture")
{
    const struct {
        const char *via;
        double loss;
        int gaps; // at most, in 12 minutes
    } table[] = {{"udp", .01, 2}, {"scream", .01, 2}};
    for (const auto &row : table) {
        outcome o = view(row.via, {100, row.loss, false}, live_setting::RENO, 12);
        INFO(row.via << ", loss " << row.loss << ": " << o.overhead << " % more");
        CHECK(o.gaps <= row.gaps);
        CHECK(o.overhead <= 2.3);
    }
}

// In its first seconds a viewing passes through all sizes, each with a key frame of many packets.
TEST_CASE("loss: the first seconds, with a switch of size each")
{
    const struct {
        const char *via;
        double rtt_ms, loss;
        double gap_ms, missing; // at most; percent
    } table[] = {
        {"scream", 20, .05, 200, 0.2},
        {"scream", 100, .01, 200, 0.5},
        {"scream", 100, .05, 300, 0.5},
        {"mtp", 100, .01, 200, 1.6},
    };
    for (const auto &row : table) {
        usec_t longest = 0;
        std::pair<double, double> all{};
        for (uint64_t seed = 1; seed <= 12; seed++) {
            storm_case c = network({row.rtt_ms, row.loss, false}, seed);
            storm_session n(row.via, c);
            n.at_size_rate = true;
            n.run_to(15);
            for (size_t i = 1; i < n.shown.size(); i++)
                longest = std::max(longest, n.shown[i] - n.shown[i - 1]);
            auto sent = n.of_levels_sent(0, 14);
            all = {all.first + sent.first, all.second + sent.second};
        }
        INFO(row.via << ", RTT " << row.rtt_ms << ", loss " << row.loss);
        CHECK(usec_to_msec(longest) <= row.gap_ms);
        CHECK((1 - all.second / all.first) * 100 <= row.missing);
    }
}

// At 1 % MTP's window has a mean of 1.06 Mbit/s, enough for every frame of 1280x720, though losses
// halve it every second. What arrives late is shown late: TCP retransmits, and MTP's window has no
// room after a loss.
// Over TCP a lost packet holds up three frames, once a second: playing waits for them.
TEST_CASE("loss: frames shown over a window, and their latency")
{
    const struct {
        const char *via;
        live_setting::tcp own;
        double missing, p95_ms, frozen; // at most
    } table[] = {{"minbuf:1,3", live_setting::RENO, 5, 240, 1.2},
                 {"minbuf:1,3", live_setting::CUBIC, 2, 240, 0.8},
                 {"mtp", live_setting::RENO, 2, 310, 0.2}};
    for (const auto &row : table) {
        outcome o = view(row.via, {100, .01, false}, row.own);
        INFO(row.via << (row.own == live_setting::CUBIC ? ", CUBIC" : ""));
        CHECK(o.missing <= row.missing);
        CHECK(o.p95_ms <= row.p95_ms);
        CHECK(o.frozen <= row.frozen);
    }
}

// What is missing of the levels that the controllers' laws allow. Over `arc` one round fits at 5 %,
// and a window of 0.1 Mbit/s has no room for copies beside the lowest level. PSP doubles its
// spacing with each loss: at 5 % it allows 10 packets a second, fewer than its level has frames.
TEST_CASE("loss: frames of the level that a rate controller allows, with repair")
{
    const struct {
        const char *via;
        double loss, of_level, overhead, p95_ms; // at most
    } table[] = {
        {"tfrc", .01, 0.5, 2.3, 280}, {"tfrc", .05, 5, 12, 390},   {"arc", .01, 1, 3.5, 330},
        {"arc", .05, 15, 14, 450},    {"psp", .01, 1.5, 2.3, 400},
    };
    for (const auto &row : table) {
        outcome o = view(row.via, {100, row.loss, false});
        INFO(row.via << ", loss " << row.loss);
        CHECK(o.of_level <= row.of_level);
        CHECK(o.overhead <= row.overhead);
        CHECK(o.p95_ms <= row.p95_ms);
    }
}

// Above 22 % the share does not pay for all copies: less is shown, but no cliff follows, as repair
// goes on for what others depend on. (Without any repair 96 % of the frames are missing at 25 %.)
TEST_CASE("loss: more of it than repair may pay for leaves frames out, not the picture")
{
    const struct {
        const char *via;
        double rtt_ms, loss, missing; // at most
    } table[] = {{"udp", 20, .21, 5},      {"udp", 20, .25, 18},   {"udp", 100, .25, 27},
                 {"udp", 20, .30, 55},     {"scream", 20, .21, 5}, {"scream", 20, .25, 18},
                 {"scream", 100, .25, 27}, {"scream", 20, .30, 55}};
    for (const auto &row : table) {
        outcome o = view(row.via, {row.rtt_ms, row.loss, false});
        INFO(row.via << ", RTT " << row.rtt_ms << ", loss " << row.loss);
        CHECK(o.missing <= row.missing);
        CHECK(o.overhead <= 31);
    }
}
