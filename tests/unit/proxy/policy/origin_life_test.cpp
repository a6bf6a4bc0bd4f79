// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/origin_life.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>

namespace
{
const usec_t S = USEC_PER_SEC;
const usec_t MS = USEC_PER_MSEC;

// A feed whose origin may stay away for 10 s.
struct feed {
    origin_life l;

    feed()
    {
        origin_life_init(&l, "rtsp://origin/a", 10 * S);
    }
    void play(usec_t at)
    {
        origin_life_connecting(&l, ORIGIN_STARTING, at);
        origin_life_playing(&l, at);
        l.got = true;
    }
    bool end(usec_t at, const char *why = "closed", bool wanted = false)
    {
        return origin_life_ended(&l, why, wanted, at);
    }
    // As the feeds' timers do.
    origin_due due(usec_t at)
    {
        if (l.is_over)
            origin_life_dropped(&l);
        const origin_due d = origin_life_due(&l, at);
        if (d == ORIGIN_DUE_ATTEMPT)
            origin_life_connecting(&l, ORIGIN_RETURNING, at);
        if (d == ORIGIN_DUE_END) {
            origin_life_dropped(&l);
            l.phase = ORIGIN_IDLE;
        }
        return d;
    }
};
} // namespace

TEST_CASE("origin_life: a refusal of the first session is the answer")
{
    feed f;
    CHECK(origin_life_next(&f.l) == USEC_NEVER);
    origin_life_connecting(&f.l, ORIGIN_STARTING, 5 * S);
    CHECK(origin_life_next(&f.l) == 6 * S); // its second
    CHECK_FALSE(origin_life_is_up(&f.l));
    CHECK_FALSE(f.end(5 * S + 1));
    CHECK(f.l.phase == ORIGIN_IDLE);
    CHECK(origin_life_next(&f.l) == 0); // it is freed
    CHECK(f.due(5 * S + 2) == ORIGIN_DUE_NOTHING);
    CHECK(origin_life_next(&f.l) == USEC_NEVER);
    CHECK(f.due(60 * S) == ORIGIN_DUE_NOTHING);
}

TEST_CASE("origin_life: the second is counted while there is a session")
{
    feed f;
    CHECK_FALSE(origin_life_second(&f.l, 5 * S));
    f.play(5 * S);
    CHECK_FALSE(origin_life_second(&f.l, 6 * S - 1));
    CHECK(origin_life_second(&f.l, 6 * S + 5));
    CHECK_FALSE(origin_life_second(&f.l, 7 * S + 4));
    CHECK(origin_life_second(&f.l, 7 * S + 5));
    origin_life_dropped(&f.l);
    CHECK_FALSE(origin_life_second(&f.l, 9 * S));
}

TEST_CASE("origin_life: an outage has an attempt each second, until its time is over")
{
    feed f;
    f.play(100 * S);
    CHECK(f.end(200 * S, "reset"));
    CHECK(f.l.phase == ORIGIN_AWAY);
    CHECK(origin_life_away(&f.l, 201 * S) == S);
    usec_t at = 200 * S; // the session before began long ago
    for (int attempt = 1; attempt <= 10; attempt++) {
        CAPTURE(attempt);
        REQUIRE(f.due(at) == ORIGIN_DUE_ATTEMPT);
        CHECK(f.l.phase == ORIGIN_RETURNING);
        CHECK_FALSE(f.end(at + 10 * MS, "refused"));
        CHECK(f.due(at + 20 * MS) == ORIGIN_DUE_NOTHING);
        at += S + 10 * MS; // a second after the attempt has failed
        CHECK(origin_life_next(&f.l) == at);
        CHECK(f.due(at - 1) == ORIGIN_DUE_NOTHING);
    }
    CHECK(f.due(at) == ORIGIN_DUE_END); // 10.1 s
    CHECK(std::string(f.l.why) == "refused");
    CHECK(origin_life_away(&f.l, 211 * S) == 0);
    CHECK(origin_life_next(&f.l) == USEC_NEVER);
}

TEST_CASE("origin_life: an attempt without an answer ends with the outage's time")
{
    feed f;
    f.play(100 * S);
    CHECK(f.end(200 * S));
    CHECK(f.due(200 * S) == ORIGIN_DUE_ATTEMPT);
    CHECK(f.due(210 * S - 1) == ORIGIN_DUE_NOTHING);
    CHECK(f.due(210 * S) == ORIGIN_DUE_END);
}

TEST_CASE("origin_life: the first attempt is a second after the session began at the earliest")
{
    feed f;
    f.play(100 * S);
    CHECK(f.end(100 * S + 300 * MS));
    CHECK(f.due(100 * S + 300 * MS) == ORIGIN_DUE_NOTHING);
    CHECK(origin_life_next(&f.l) == 101 * S);
    CHECK(f.due(101 * S) == ORIGIN_DUE_ATTEMPT);
}

TEST_CASE("origin_life: one that returns without a frame has been away all the time")
{
    for (bool got : {false, true}) {
        CAPTURE(got);
        feed f;
        f.play(100 * S);
        CHECK(f.end(200 * S));
        CHECK(f.due(200 * S) == ORIGIN_DUE_ATTEMPT);
        origin_life_playing(&f.l, 201 * S);
        CHECK(origin_life_away(&f.l, 203 * S) == 0);
        f.l.got = got;
        CHECK(f.end(204 * S));
        CHECK(origin_life_away(&f.l, 205 * S) == (got ? 1 : 5) * S);
        CHECK(f.due(210 * S) == (got ? ORIGIN_DUE_ATTEMPT : ORIGIN_DUE_END));
    }
}

TEST_CASE("origin_life: a feed that begins again has no outage from before")
{
    feed f;
    f.play(100 * S);
    CHECK(f.end(200 * S));
    CHECK(f.due(210 * S) == ORIGIN_DUE_END);
    origin_life_connecting(&f.l, ORIGIN_STARTING, 300 * S);
    origin_life_playing(&f.l, 300 * S);
    CHECK(f.end(301 * S)); // it has sent nothing
    CHECK(origin_life_away(&f.l, 302 * S) == S);
}

TEST_CASE("origin_life: media that breaks off is lost at once; the end of its session adds nothing")
{
    feed f;
    f.play(100 * S);
    origin_life_broke_off(&f.l, 150 * S);
    CHECK(f.l.phase == ORIGIN_AWAY);
    CHECK(f.l.is_over);
    CHECK(std::string(f.l.why) == "it has ended");
    CHECK_FALSE(f.end(150 * S + 1, "closed"));
    CHECK(std::string(f.l.why) == "it has ended");
}

TEST_CASE("origin_life: a session that ends in a pause is missed only by a request that waits")
{
    for (origin_phase phase : {ORIGIN_PAUSED, ORIGIN_ENDED})
        for (bool wanted : {false, true}) {
            CAPTURE(phase, wanted);
            feed f;
            f.play(100 * S);
            f.l.phase = phase;
            CHECK(f.end(200 * S, "closed", wanted) == wanted);
            CHECK(f.l.phase == (wanted ? ORIGIN_AWAY : ORIGIN_IDLE));
            CHECK(origin_life_away(&f.l, 201 * S) == (wanted ? S : 0));
        }
}

TEST_CASE("origin_life: whatever an origin does, attempts are a second apart and outages end")
{
    for (unsigned seed = 1; seed <= 50; seed++) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        feed f;
        f.play(S);
        usec_t attempt = S, lost = 0, played = 0;
        for (usec_t now = S; now < 300 * S && f.l.phase != ORIGIN_IDLE; now += 10 * MS) {
            const unsigned dice = random() % 400;
            if (f.l.phase == ORIGIN_PLAYING)
                played = now;
            if (f.l.phase == ORIGIN_PLAYING && dice == 0 && f.end(now) && !lost)
                lost = now;
            else if (f.l.phase == ORIGIN_RETURNING && dice < 8)
                (void)f.end(now);
            else if (f.l.phase == ORIGIN_RETURNING && dice == 8)
                origin_life_playing(&f.l, now);
            else if (f.l.phase == ORIGIN_PLAYING && dice == 9) {
                f.l.got = true;
                lost = 0;
            }
            switch (f.due(now)) {
            case ORIGIN_DUE_NOTHING:
                break;
            case ORIGIN_DUE_ATTEMPT:
                CHECK(now - attempt >= S);
                attempt = now;
                break;
            case ORIGIN_DUE_END:
                REQUIRE(lost);
                CHECK(now - lost >= 10 * S);
                CHECK(now - std::max(lost + 10 * S, played) <= S);
                break;
            }
        }
    }
}
