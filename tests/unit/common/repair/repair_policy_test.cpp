// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "common/repair/repair_policy.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t interval = 33333;

// A symmetric path without jitter, whose viewer reports holes at once.
repair_path path_of(int rtt_ms, double loss, double burst = 1)
{
    repair_path p{};
    p.rtt = rtt_ms * ms;
    p.min_rtt = p.rtt;
    p.delay = p.rtt / 2;
    p.loss = loss;
    p.burst = burst;
    return p;
}

// 10 ms of encoding before, 20 ms of decoding and display after the path.
usec_t slack_of(int latency_ms, const repair_path &path)
{
    return (latency_ms - 30) * ms - path.delay;
}

repair_policy planned(repair_mode mode, const repair_path &path, usec_t slack)
{
    repair_policy p;
    repair_policy_init(&p, mode);
    repair_policy_plan(&p, &path, slack, interval, 2e6);
    return p;
}

repair_lost lost_packet(usec_t deadline, bool is_depended_on = true, int copies = 0)
{
    repair_lost l{};
    l.deadline = deadline;
    l.sent_at = -USEC_PER_SEC;
    l.bytes = 1300;
    l.is_depended_on = is_depended_on;
    l.copies = copies;
    return l;
}
} // namespace

TEST_CASE("repair policy: rounds or parity, by round-trip time and latency")
{
    struct {
        int rtt_ms, latency_ms, rounds, window;
    } table[] = {
        {20, 100, 3, 0},  {20, 150, 5, 0},  {20, 250, 10, 0}, {20, 400, 18, 0}, //
        {50, 100, 0, 1},  {50, 150, 1, 0},  {50, 250, 3, 0},  {50, 400, 6, 0},  //
        {100, 100, 0, 1}, {100, 150, 0, 2}, {100, 250, 1, 0}, {100, 400, 3, 0}, //
        {200, 100, 0, 0}, {200, 150, 0, 1}, {200, 250, 0, 3}, {200, 400, 1, 0},
    };
    for (const auto &row : table) {
        INFO("RTT " << row.rtt_ms << ", latency " << row.latency_ms);
        repair_path path = path_of(row.rtt_ms, 0.02);
        usec_t slack = slack_of(row.latency_ms, path);
        repair_policy p = planned(REPAIR_MODE_AUTO, path, slack);
        CHECK(p.rounds == row.rounds);
        CHECK(p.fec_window == row.window);
        CHECK(p.fec_covers_top == (row.window > 1));
        p = planned(REPAIR_MODE_RESEND, path, slack);
        CHECK(p.rounds == row.rounds);
        CHECK(p.fec_window == 0);
        p = planned(REPAIR_MODE_FEC, path, slack);
        CHECK(p.rounds == 0);
        CHECK((p.fec_window > 0) == (slack >= 0));
        p = planned(REPAIR_MODE_OFF, path, slack);
        CHECK(p.rounds + p.fec_window == 0);
    }
}

TEST_CASE("repair policy: where loss is rare, a late copy replaces parity")
{
    const struct {
        int rtt_ms;
        double loss;
        repair_mode mode;
        int rounds;
        bool parity;
    } table[] = {
        {100, 0.0049, REPAIR_MODE_AUTO, 1, false}, {100, 0.005, REPAIR_MODE_AUTO, 0, true},
        {100, 0.0049, REPAIR_MODE_FEC, 0, true},   {100, 0.0049, REPAIR_MODE_RESEND, 0, false},
        {169, 0.0049, REPAIR_MODE_AUTO, 1, false}, {171, 0.0049, REPAIR_MODE_AUTO, 0, true},
    };
    for (const auto &row : table) {
        INFO("RTT " << row.rtt_ms << ", loss " << row.loss);
        repair_policy p = planned(row.mode, path_of(row.rtt_ms, row.loss), 20 * ms);
        CHECK(p.rounds == row.rounds);
        CHECK((p.fec_window > 0) == row.parity);
    }
}

TEST_CASE("repair policy: feedback, waiting and jitter take from the rounds")
{
    // RTT 100. The first round takes feedback and wait, too, each further one feedback and jitter.
    struct {
        int jitter_ms, feedback_ms, wait_ms, slack_ms, rounds;
    } table[] = {{0, 0, 0, 99, 0},   {0, 0, 0, 100, 1},   {0, 4, 2, 105, 0},  {0, 4, 2, 106, 1},
                 {50, 4, 2, 106, 1}, {0, 4, 2, 209, 1},   {0, 4, 2, 210, 2},  {9, 4, 2, 218, 1},
                 {9, 4, 2, 219, 2},  {0, 70, 70, 109, 0}, {0, 70, 70, 110, 1}};
    for (const auto &row : table) {
        INFO(row.jitter_ms << " " << row.feedback_ms << " " << row.wait_ms << " " << row.slack_ms);
        repair_path path = path_of(100, 0.02);
        path.jitter = row.jitter_ms * ms;
        path.feedback = row.feedback_ms * ms;
        path.wait = row.wait_ms * ms;
        repair_policy p = planned(REPAIR_MODE_AUTO, path, row.slack_ms * ms);
        CHECK(p.rounds == row.rounds);
        CHECK((p.fec_window > 0) == (row.rounds == 0));
    }
}

TEST_CASE("repair policy: the sender plans the round that a viewer waits for")
{
    // The viewer waits for the path, a round, its decoder and its display.
    for (int rtt_ms : {1, 20, 50, 100, 200, 400})
        for (int pace_ms : {0, 1, 5, 20, 100}) {
            INFO("RTT " << rtt_ms << ", a packet takes " << pace_ms);
            repair_path path = path_of(rtt_ms, 0.02);
            path.wait = pace_ms * ms;
            path.feedback = (pace_ms + 3) * ms;
            path.jitter = rtt_ms * ms / 10;
            const usec_t encoding = 10 * ms, showing = 20 * ms;
            usec_t playout = encoding + path.delay + repair_round_wait(path.rtt);
            usec_t slack = playout - showing - encoding - path.delay;
            CHECK(planned(REPAIR_MODE_AUTO, path, slack).rounds >= 1);
            CHECK(planned(REPAIR_MODE_AUTO, path, slack).fec_window == 0);
        }
}

TEST_CASE("repair policy: what is done about one lost packet")
{
    struct {
        const char *what;
        int left_ms; // until the deadline, at an RTT of 100 ms
        bool is_depended_on;
        int copies_before;
        double loss, burst;
        repair_action action;
        int copies, apart;
    } table[] = {
        {"too late, a base layer", -251, true, 0, .02, 1, REPAIR_INVALIDATE, 0, 0},
        {"late, but playing waits for it", -250, true, 0, .01, 1, REPAIR_RESEND, 2, 1},
        {"too late, a top layer", 39, false, 0, .02, 1, REPAIR_NOTHING, 0, 0},
        {"hardly late, a top layer", 40, false, 0, .02, 1, REPAIR_RESEND, 1, 1},
        {"the last chance, 5 %", 50, true, 0, .05, 1, REPAIR_RESEND, 2, 1},
        {"just before a second round", 149, true, 0, .05, 1, REPAIR_RESEND, 2, 1},
        {"two rounds, 5 %", 150, true, 0, .05, 1, REPAIR_RESEND, 1, 1},
        {"the last chance, 1 %", 50, true, 0, .01, 1, REPAIR_RESEND, 2, 1},
        {"rare loss", 50, true, 0, .003, 1, REPAIR_RESEND, 1, 1},
        {"the last chance, 1 %, a top layer", 50, false, 0, .01, 1, REPAIR_RESEND, 1, 1},
        {"the last chance, 2 %", 50, true, 0, .02, 1, REPAIR_RESEND, 2, 1},
        {"the same of a top layer", 50, false, 0, .02, 1, REPAIR_RESEND, 1, 1},
        {"the last chance, 10 %", 50, true, 0, .10, 1, REPAIR_RESEND, 3, 1},
        {"three rounds, 10 %", 250, true, 0, .10, 1, REPAIR_RESEND, 1, 1},
        {"a copy was lost, last chance, 5 %", 50, true, 1, .05, 1, REPAIR_RESEND, 2, 1},
        {"a copy was lost, last chance, 10 %", 50, true, 1, .10, 1, REPAIR_RESEND, 2, 1},
        {"bursts of 4: copies are 8 packets apart", 50, true, 0, .0385, 4, REPAIR_RESEND, 2, 8},
        {"25 %", 500, true, 0, .25, 1, REPAIR_RESEND, 2, 1},
        {"25 %, a top layer", 500, false, 0, .25, 1, REPAIR_RESEND, 1, 1},
        {"28 %, a top layer", 500, false, 0, .28, 1, REPAIR_RESEND, 1, 1},
        {"29 %: the share is for what is depended on", 500, true, 0, .29, 1, REPAIR_RESEND, 2, 1},
        {"29 %, a top layer", 500, false, 0, .29, 1, REPAIR_NOTHING, 0, 0},
    };
    for (const auto &row : table) {
        INFO(row.what);
        repair_path path = path_of(100, row.loss, row.burst);
        repair_policy p = planned(REPAIR_MODE_AUTO, path, slack_of(250, path));
        const usec_t now = 1000 * ms;
        repair_lost lost =
            lost_packet(now + row.left_ms * ms, row.is_depended_on, row.copies_before);
        double credit = p.credit;
        repair_decision d = repair_policy_decide(&p, &lost, &path, now);
        CHECK(d.action == row.action);
        CHECK(d.copies == row.copies);
        CHECK(credit - p.credit == Approx(1300 * row.copies));
        if (row.action != REPAIR_RESEND)
            continue;
        CHECK(d.apart == row.apart);
        CHECK(d.until == std::max(now, lost.deadline - 50 * ms));
        CHECK(d.last == lost.deadline - 50 * ms + (row.is_depended_on ? 300 : 10) * ms);
    }
}

TEST_CASE("repair policy: media that is held back is repaired without a share, a copy at a time")
{
    for (bool repairs_all : {false, true}) {
        for (double loss : {.02, .5}) {
            INFO("repairs all " << repairs_all << ", loss " << loss);
            repair_path path = path_of(100, loss);
            repair_policy p = planned(REPAIR_MODE_RESEND, path, 60 * USEC_PER_SEC);
            p.repairs_all = repairs_all;
            p.credit = 0;
            repair_lost lost = lost_packet(60 * USEC_PER_SEC, false);
            repair_decision d = repair_policy_decide(&p, &lost, &path, 1000 * ms);
            CHECK(d.action == (repairs_all ? REPAIR_RESEND : REPAIR_NOTHING));
            CHECK(d.copies == (repairs_all ? 1 : 0));
            CHECK(p.credit == 0);
        }
    }
}

TEST_CASE("repair policy: a report from before the last transmission is ignored")
{
    repair_path path = path_of(100, 0.02);
    path.min_rtt = 90 * ms;
    for (int ago_ms : {0, 50, 89, 90, 100}) {
        repair_policy p = planned(REPAIR_MODE_AUTO, path, slack_of(250, path));
        repair_lost lost = lost_packet(1000 * ms);
        lost.sent_at = (500 - ago_ms) * ms;
        repair_decision d = repair_policy_decide(&p, &lost, &path, 500 * ms);
        CHECK(d.action == (ago_ms < 90 ? REPAIR_NOTHING : REPAIR_RESEND));
        CHECK(d.reason == (ago_ms < 90 ? REPAIR_UNDER_WAY : REPAIR_NOT_LATE));
    }
}

TEST_CASE("repair policy: the modes, and parity that is to come")
{
    repair_path path = path_of(100, 0.02);
    struct {
        repair_mode mode;
        bool is_protected;
        repair_action action;
        repair_reason reason;
    } table[] = {
        {REPAIR_MODE_OFF, false, REPAIR_INVALIDATE, REPAIR_DISABLED},
        {REPAIR_MODE_OFF, true, REPAIR_INVALIDATE, REPAIR_DISABLED},
        {REPAIR_MODE_RESEND, false, REPAIR_RESEND, REPAIR_NOT_LATE},
        {REPAIR_MODE_FEC, false, REPAIR_INVALIDATE, REPAIR_DISABLED},
        {REPAIR_MODE_FEC, true, REPAIR_AWAIT_FEC, REPAIR_NOT_LATE},
        {REPAIR_MODE_AUTO, false, REPAIR_RESEND, REPAIR_NOT_LATE},
        {REPAIR_MODE_AUTO, true, REPAIR_AWAIT_FEC, REPAIR_NOT_LATE},
    };
    for (const auto &row : table) {
        INFO(repair_mode_name(row.mode) << " " << row.is_protected);
        repair_policy p = planned(row.mode, path, slack_of(250, path));
        repair_lost lost = lost_packet(200 * ms);
        lost.is_protected = row.is_protected;
        repair_decision d = repair_policy_decide(&p, &lost, &path, 0);
        CHECK(d.action == row.action);
        CHECK(d.reason == row.reason);
    }
    for (const char *name : {"off", "resend", "fec", "auto"}) {
        repair_mode mode;
        REQUIRE(repair_mode_parse(name, &mode));
        CHECK(std::string(repair_mode_name(mode)) == name);
    }
    repair_mode mode;
    CHECK_FALSE(repair_mode_parse("on", &mode));
    CHECK_FALSE(repair_mode_parse("", &mode));
}

TEST_CASE("repair policy: the share, by the way of repair and the loss")
{
    struct {
        int rtt_ms, latency_ms;
        double loss, share;
    } table[] = {
        {50, 250, 0.00, 0.01},   {50, 250, 0.01, 0.023},  {50, 250, 0.05, 0.075}, // several rounds
        {100, 250, 0.02, 0.054}, {100, 250, 0.05, 0.12},                          // one round
        {100, 150, 0.02, 0.15},  {100, 150, 0.05, 0.225}, {100, 150, 0.2, 0.30},  // parity
        {200, 100, 0.05, 0},     {50, 250, 0.23, 0.30}, // not keepable; the max
    };
    for (const auto &row : table) {
        INFO("RTT " << row.rtt_ms << ", latency " << row.latency_ms << ", loss " << row.loss);
        repair_path path = path_of(row.rtt_ms, row.loss);
        repair_policy p = planned(REPAIR_MODE_AUTO, path, slack_of(row.latency_ms, path));
        CHECK(p.share == Approx(row.share));
        // All of the credit is spent, then what the media brings.
        double spent = 0;
        while (repair_policy_take(&p, 1000))
            ;
        for (int i = 0; i < 100000; i++) {
            repair_policy_media(&p, 1000);
            while (repair_policy_take(&p, 1000))
                spent += 1000;
        }
        CHECK(spent / 1e8 == Approx(row.share).margin(1e-4));
    }
}

TEST_CASE("repair policy: more copies than the share pays for are sent while credit is unused")
{
    repair_path path = path_of(100, .08); // the share is 18.6 %: two copies of 8 %
    repair_policy p = planned(REPAIR_MODE_RESEND, path, slack_of(250, path));
    REQUIRE(p.rounds == 1);
    repair_lost lost = lost_packet(60 * ms);
    for (int copies : {3, 3, 2, 2}) // of 100 kB 96 are there at first; until 90 are left
        CHECK(repair_policy_decide(&p, &lost, &path, 0).copies == copies);
}

TEST_CASE("repair policy: what nothing depends on leaves credit to the rest")
{
    repair_path path = path_of(50, 0.0);
    repair_policy p = planned(REPAIR_MODE_AUTO, path, slack_of(250, path));
    auto decide = [&](bool is_depended_on) {
        repair_lost lost = lost_packet(200 * ms, is_depended_on);
        return repair_policy_decide(&p, &lost, &path, 0);
    };
    int top = 0, base = 0;
    while (decide(false).action == REPAIR_RESEND)
        top++;
    CHECK(top == 48); // two thirds of 96 kB
    CHECK(decide(false).reason == REPAIR_NO_SHARE);
    while (decide(true).action == REPAIR_RESEND)
        base++;
    CHECK(base == 25);
    CHECK(decide(true).action == REPAIR_INVALIDATE);
    // A copy that was not needed after all can be used again.
    repair_policy_give_back(&p, 1300);
    CHECK(decide(true).action == REPAIR_RESEND);
    // At the last chance fewer copies are sent if there is no credit for all.
    path = path_of(100, 0.05);
    p = planned(REPAIR_MODE_AUTO, path, slack_of(250, path));
    p.credit = 2000;
    repair_lost lost = lost_packet(60 * ms);
    CHECK(repair_policy_decide(&p, &lost, &path, 0).copies == 1);
    // A fast stream loses more in one outage.
    repair_policy_plan(&p, &path, slack_of(250, path), interval, 20e6);
    CHECK(p.most_credit == Approx(1000000));
}
