// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "stream/abr/abr_policy.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;
const int kbps[] = {100, 400, 1600};

// A film of 100 groups of 2 s at 100, 400 and 1600 kbit/s, its viewer, and a path.
struct viewer {
    film_table *table = nullptr;
    abr_policy *policy = nullptr;
    abr_state state{};
    abr_decision decision{};
    std::vector<uint8_t> levels = std::vector<uint8_t>(100);
    usec_t now = 0;

    explicit viewer(const char *name = "auto")
    {
        const film_shape shape = {3, 100, 60, 60, {30, 1}, false};
        REQUIRE(film_table_new(&shape, &table) == 0);
        abr_config config{};
        config.table = table;
        config.target = 30 * sec;
        for (int l = 0; l < 3; l++) {
            config.bitrates_bps[l] = kbps[l] * 1000;
            for (int g = 0; g < 100; g++)
                REQUIRE(film_table_set(table, g, l, (uint64_t)kbps[l] * 250, 0) == 0);
        }
        REQUIRE(abr_policy_new(name, &config, &policy) == 0);
        state.rtt = 50 * ms;
        state.broken = ABR_NO_GROUP;
        state.levels = levels.data();
    }
    ~viewer()
    {
        abr_policy_free(policy);
        film_table_free(table);
    }
    viewer(const viewer &) = delete;
    viewer &operator=(const viewer &) = delete;

    void path(int rate_kbps, usec_t duration, rate_limited_by limit = RATE_LIMIT_NETWORK)
    {
        for (usec_t at = 0; at < duration; at += 100 * ms) {
            now += 100 * ms;
            const rate_sample s = {rate_kbps * 25 / 2, 100 * ms, limit};
            abr_policy_rate(policy, &s, now);
        }
    }
    // So much is buffered, from group `shown` on, at this level.
    void buffer(int64_t shown, usec_t buffered, int level)
    {
        state.shown = shown;
        state.next = shown + buffered / (2 * sec);
        state.buffered = state.begun = buffered;
        state.playing = true;
        std::fill(levels.begin(), levels.end(), (uint8_t)level);
    }
    std::string decide()
    {
        abr_policy_decide(policy, &state, &decision, now);
        return abr_reason_name(decision.reason);
    }
};
} // namespace

TEST_CASE("abr policy: names, and what is refused")
{
    viewer v;
    abr_config config{};
    abr_policy *p = nullptr;
    config.table = v.table;
    config.target = 30 * sec;
    CHECK(abr_policy_new("auto", &config, &p) == ERR_RANGE); // no bitrates
    for (int l = 0; l < 3; l++)
        config.bitrates_bps[l] = kbps[l] * 1000;
    CHECK(abr_policy_new("nosuch", &config, &p) == ERR_NOT_FOUND);
    config.target = sec;
    CHECK(abr_policy_new("auto", &config, &p) == ERR_RANGE);
    config.target = 121 * sec;
    CHECK(abr_policy_new("auto", &config, &p) == ERR_RANGE);
    config.target = 30 * sec;
    int count = 0;
    for (; abr_policy_name(count); count++) {
        CHECK(abr_policy_new(abr_policy_name(count), &config, &p) == 0);
        abr_policy_free(p);
    }
    CHECK(count == 5);
}

TEST_CASE("auto: the lowest level until the path is known, then the one it carries")
{
    viewer v;
    CHECK(v.decide() == "start");
    CHECK(v.decision.level == 0);
    CHECK(v.decision.group == 0);
    v.path(5000, 300 * ms);
    v.buffer(0, 4 * sec, 0);
    v.state.levels = nullptr; // nothing is exchanged
    v.decide();
    CHECK(v.decision.group == 2);
    CHECK(v.decision.level == 2);
    CHECK(v.decision.estimate_bps == Approx(5e6).epsilon(0.01));
}

TEST_CASE("auto: levels by the path and the buffer")
{
    const struct {
        int path_kbps;
        usec_t buffered;
        int level;
    } rows[] = {
        {2500, 10 * sec, 2}, {1000, 6 * sec, 1},  {200, 10 * sec, 0}, {50, 10 * sec, 0},
        {600, 4 * sec, 1},   {1500, 28 * sec, 2}, {250, 2 * sec, 0},
    };
    for (const auto &row : rows) {
        CAPTURE(row.path_kbps, row.buffered);
        viewer v;
        v.levels.assign(100, 0);
        v.path(row.path_kbps, 30 * sec);
        v.buffer(20, row.buffered, row.level);
        v.state.levels = nullptr;
        v.decide();
        CHECK(v.decision.level == row.level);
    }
}

TEST_CASE("auto: a group waits for room, and the top level is paced from 10 s on")
{
    viewer v;
    v.path(5000, 10 * sec);
    v.buffer(10, 8 * sec, 2);
    v.decide();
    CHECK(v.decision.level == 2);
    CHECK(v.decision.pace_bps == 0);
    v.buffer(10, 20 * sec, 2);
    v.decide();
    CHECK(v.decision.pace_bps == Approx(4 * 1.6e6).epsilon(0.03));
    CHECK(v.decision.wait == 0);
    v.buffer(10, 30 * sec, 2);
    v.decide();
    CHECK(v.decision.wait == 2 * sec);
    viewer slow;
    slow.path(450, 20 * sec);
    slow.buffer(10, 20 * sec, 1);
    slow.decide();
    CHECK(slow.decision.level == 1);
    CHECK(slow.decision.pace_bps == 0); // the path must show what more it carries
}

TEST_CASE("auto: buffered groups are exchanged for better ones, with bounded waste")
{
    viewer v;
    v.path(8000, 10 * sec);
    v.buffer(10, 30 * sec, 0);
    v.state.levels = nullptr;
    CHECK(v.decide() != "exchange");
    v.state.levels = v.levels.data();
    int exchanged = 0;
    while (v.decide() == "exchange") {
        REQUIRE(v.decision.group > 10);
        REQUIRE(v.decision.group < v.state.next);
        REQUIRE(v.decision.level > v.levels[(size_t)(v.decision.group - 10)]);
        v.levels[(size_t)(v.decision.group - 10)] = (uint8_t)v.decision.level;
        exchanged++;
    }
    CHECK(exchanged >= 5);
    // Another buffer of high copies again and again: the waste has an end.
    int64_t wasted = 0;
    for (int i = 0; i < 1000; i++) {
        v.buffer(10, 30 * sec, 1);
        if (v.decide() == "exchange")
            wasted += film_table_bytes(v.table, v.decision.group, 1);
    }
    CHECK(wasted > 0);
    CHECK(exchanged < 15);
    CHECK(wasted < 1000000 + 1000 * 400000 / 10);
    viewer weak; // a path that barely carries the level exchanges nothing
    weak.path(450, 30 * sec);
    weak.buffer(10, 8 * sec, 0);
    CHECK(weak.decide() != "exchange");
}

TEST_CASE("auto: a buffered group is exchanged with all behind it")
{
    const struct {
        const char *what;
        int path_kbps;
        usec_t buffered;
        int level;       // of what is buffered
        int64_t pending; // bytes
        bool exchanges;
    } rows[] = {
        {"a path of five times the top level", 8000, 28 * sec, 0, 0, true},
        {"less is buffered than is to stay", 8000, 6 * sec, 0, 0, false},
        {"all has the top level", 8000, 28 * sec, 2, 0, false},
        {"it would come too late", 450, 28 * sec, 1, 0, false},
        {"what is on its way comes first, 30 s", 8000, 28 * sec, 0, 30000000, false},
    };
    for (const auto &row : rows) {
        CAPTURE(row.what);
        viewer v;
        v.path(row.path_kbps, 10 * sec);
        v.buffer(10, row.buffered, row.level);
        v.state.with_rest = true;
        v.state.pending_bytes = row.pending;
        CHECK((v.decide() == "exchange") == row.exchanges);
        if (!row.exchanges)
            continue;
        CHECK(v.decision.group == 13); // the first one with 6 s before it
        CHECK(v.decision.level == 2);
    }
    SECTION("with bounded waste")
    {
        viewer v;
        v.path(8000, 10 * sec);
        v.state.with_rest = true;
        int64_t wasted = 0;
        for (int i = 0; i < 1000; i++) {
            v.buffer(10, 30 * sec, 1);
            if (v.decide() == "exchange")
                wasted += (v.state.next - v.decision.group) * film_table_bytes(v.table, 10, 1);
        }
        CHECK(wasted > 500000);
        CHECK(wasted < 1000000 + 1000 * 400000 / 10);
    }
}

TEST_CASE("auto: what a buffered group lacks is fetched first")
{
    viewer v;
    v.path(2000, 10 * sec);
    v.buffer(10, 10 * sec, 2);
    v.state.broken = 12;
    CHECK(v.decide() == "repair");
    CHECK(v.decision.group == 12);
    CHECK(v.decision.level == 2);
    v.path(300, 30 * sec); // at the high level it would come too late
    CHECK(v.decide() == "repair");
    CHECK(v.decision.level < 2);
    v.state.broken = 9; // was shown already
    CHECK(v.decide() != "repair");
}

TEST_CASE("auto: a group that would come too late is cut off")
{
    const struct {
        const char *what;
        int path_kbps;
        usec_t begun;    // with the group that is being sent, 2 s
        int64_t pending; // bytes of it
        int level;       // of it
        int cut_to;
    } rows[] = {
        {"it arrives in 1 s", 2000, 6 * sec, 250000, 2, ABR_NO_LEVEL},
        {"in 32 s, the lowest level in 2 s", 100, 6 * sec, 400000, 2, 0},
        {"in 5 s, 1 s too late; level 1 in 1.3 s", 640, 4 * sec, 400000, 2, 1},
        {"in 8 s, of which the buffer has more", 400, 16 * sec, 400000, 2, ABR_NO_LEVEL},
        {"too late, but almost all of it is there", 100, 3 * sec, 12500, 2, ABR_NO_LEVEL},
        {"nothing is lower", 20, 3 * sec, 25000, 0, ABR_NO_LEVEL},
    };
    for (const auto &row : rows) {
        CAPTURE(row.what);
        viewer v;
        CHECK(abr_policy_cut(v.policy, &v.state, v.now) ==
              ABR_NO_LEVEL); // nothing is begun or known
        v.path(row.path_kbps, 20 * sec);
        v.buffer(20, row.begun, row.level);
        v.state.buffered = row.begun - 2 * sec;
        v.state.pending_bytes = row.pending;
        v.state.way_bytes = 0;
        CHECK(abr_policy_cut(v.policy, &v.state, v.now) == row.cut_to);
    }
    SECTION("the first seconds of a token bucket, and what comes behind them")
    {
        const usec_t known = GENERATE(1 * sec, 10 * sec);
        CAPTURE(known);
        viewer v;
        v.path(4000, known);
        v.buffer(20, 4 * sec, 2);
        v.state.buffered = 2 * sec;
        v.state.pending_bytes = 400000;
        v.state.way_bytes = 0;
        CHECK(abr_policy_cut(v.policy, &v.state, v.now) == ABR_NO_LEVEL);
        v.state.recent_bps = 8e6; // the forecast, if that is slower
        CHECK(abr_policy_cut(v.policy, &v.state, v.now) == ABR_NO_LEVEL);
        v.state.recent_bps = 300e3; // a dip of a path that is known
        CHECK(abr_policy_cut(v.policy, &v.state, v.now) == (known > sec ? ABR_NO_LEVEL : 0));
        v.state.with_rest = true;
        CHECK(abr_policy_cut(v.policy, &v.state, v.now) == (known > sec ? ABR_NO_LEVEL : 0));
    }
    viewer others("robust-mpc");
    others.path(20, 20 * sec);
    others.buffer(20, 3 * sec, 2);
    others.state.pending_bytes = 400000;
    CHECK(abr_policy_cut(others.policy, &others.state, others.now) == ABR_NO_LEVEL);
}

TEST_CASE("auto: playing begins with .25 s; after a stall when it will not stall again")
{
    viewer v;
    v.state.buffered = 200 * ms;
    CHECK_FALSE(abr_policy_resumes(v.policy, &v.state, v.now));
    v.state.buffered = 250 * ms;
    CHECK(abr_policy_resumes(v.policy, &v.state, v.now));
    v.path(300, 20 * sec);
    v.state.playing = true;
    v.decide();
    v.state.playing = false;
    v.buffer(20, 500 * ms, 0);
    v.state.begun = 2500 * ms;
    v.state.next = 21;
    v.state.pending_bytes = 25000; // .67 s of this path
    CHECK(abr_policy_resumes(v.policy, &v.state, v.now));
    v.state.pending_bytes = 400000; // 10.7 s
    CHECK_FALSE(abr_policy_resumes(v.policy, &v.state, v.now));
    v.path(50, 60 * sec); // not even the lowest level: 2 s must do
    v.state.pending_bytes = 25000;
    CHECK_FALSE(abr_policy_resumes(v.policy, &v.state, v.now));
    v.buffer(20, 4 * sec, 0);
    CHECK(abr_policy_resumes(v.policy, &v.state, v.now));
}

TEST_CASE("auto: stalls are few on a path that carries less than the lowest level")
{
    viewer v;
    v.path(50, 60 * sec); // half of it
    // Returns the seconds of media with which playing goes on after a stall.
    auto stall = [&v] {
        v.state.playing = true;
        v.decide();
        v.state.playing = false;
        for (int tenths = 0; tenths < 300; tenths++) {
            v.buffer(20, tenths * sec / 10, 0);
            v.state.pending_bytes = 25000;
            if (abr_policy_resumes(v.policy, &v.state, v.now))
                return tenths / 10.0;
        }
        return 30.0;
    };
    for (double seconds : {2.0, 4.0, 8.0, 15.0, 15.0}) // at most half the target
        CHECK(stall() == seconds);
    v.path(400, 60 * sec); // it carries the lowest level surely, and the pending ones soon
    CHECK(stall() <= 2);
    v.path(50, 60 * sec);
    CHECK(stall() == 2);
    CHECK(stall() == 4);
    abr_policy_seek(v.policy, 0, v.now);
    CHECK(stall() == 2);
}

TEST_CASE("every policy: whatever it is told, it names a level of the ladder and a group")
{
    for (int i = 0; abr_policy_name(i); i++) {
        viewer v(abr_policy_name(i));
        CAPTURE(abr_policy_name(i));
        for (int64_t g = 0; g < 100; g++) {
            v.path(g % 7 ? (int)(g * 40) : 0, 500 * ms);
            v.state.shown = g > 3 ? g - 3 : 0;
            v.state.next = g;
            v.state.begun = v.state.buffered = (g - v.state.shown) * 2 * sec;
            v.state.pending_bytes = g % 5 ? 0 : 900000;
            v.decide();
            REQUIRE(v.decision.level >= 0);
            REQUIRE(v.decision.level < 3);
            REQUIRE(v.decision.group >= v.state.shown);
            REQUIRE(v.decision.group <= g);
            REQUIRE(v.decision.wait >= 0);
            abr_group got{};
            got.group = g;
            got.level = v.decision.level;
            got.bytes = film_table_bytes(v.table, g, got.level);
            got.first_byte = 50 * ms;
            got.duration = (usec_t)(g % 3) * sec + 51 * ms;
            got.abandoned_for = g % 11 ? ABR_NO_LEVEL : 0;
            abr_policy_group(v.policy, &got, v.now);
            if (g == 50)
                abr_policy_seek(v.policy, 50, v.now);
        }
    }
}
