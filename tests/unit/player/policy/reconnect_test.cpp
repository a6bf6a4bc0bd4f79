// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/reconnect.h"

#include <catch2/catch.hpp>

static const usec_t ms = USEC_PER_MSEC;

static const struct reconnect_facts live = {.paused = false, .stored = false, .pictures = true};
static const struct reconnect_facts stored = {.paused = false, .stored = true, .pictures = true};
static const struct reconnect_facts paused = {.paused = true, .stored = false, .pictures = true};
static const struct reconnect_facts no_pictures = {
    .paused = false, .stored = false, .pictures = false};

struct expected {
    enum reconnect_state to;
    enum reconnect_action action;
};

// A state in which the next attempt was due at 900 ms.
static struct reconnect in_state(enum reconnect_state state)
{
    struct reconnect r;
    reconnect_init(&r, true, false);
    r.state = state;
    r.next = 900 * ms;
    return r;
}

TEST_CASE("reconnect: every pair of state and event")
{
    const auto NOTHING = RECONNECT_NOTHING, WAIT = RECONNECT_WAIT, END = RECONNECT_END;
    const auto O = RECONNECT_OPENING, P = RECONNECT_PLAYING;
    const auto LW = RECONNECT_LOST_WAITING, LC = RECONNECT_LOST_CONNECTING;
    const auto CW = RECONNECT_CHANGING_WAITING, CC = RECONNECT_CHANGING_CONNECTING;
    const auto RW = RECONNECT_REVERTING_WAITING, RC = RECONNECT_REVERTING_CONNECTING;
    const struct expected O_ = {O, NOTHING}, P_ = {P, NOTHING}, LW_ = {LW, NOTHING},
                          LC_ = {LC, NOTHING}, CW_ = {CW, NOTHING}, CC_ = {CC, NOTHING},
                          RW_ = {RW, NOTHING}, RC_ = {RC, NOTHING};
    const struct expected TRY = {LC, RECONNECT_CONNECT};
    const auto SE = RECONNECT_SELECTING, TU = RECONNECT_TUNING, ST = RECONNECT_STOPPED;
    const struct expected SE_ = {SE, NOTHING}, TU_ = {TU, NOTHING}, ST_ = {ST, NOTHING};
    const struct expected table[RECONNECT_STATES][RECONNECT_EVENTS] = {
        // LOST, CHANGE, LEFT, TIMER, DRAINED, RESUMED, DESCRIBED, PLAYED, STARTED
        {{O, END}, O_, O_, O_, {O, END}, O_, O_, P_, O_},
        {{LW, WAIT}, {CW, RECONNECT_LEAVE}, P_, P_, {P, END}, P_, P_, P_, P_},
        {LW_, LW_, LW_, TRY, {LW, WAIT}, {LW, WAIT}, LW_, LW_, LW_},
        {{LW, WAIT}, LC_, LC_, LC_, LC_, LC_, LC_, P_, LC_},
        {CW_, CW_, {CW, WAIT}, {CC, RECONNECT_CONNECT}, {CW, WAIT}, {CW, WAIT}, CW_, CW_, CW_},
        {{RW, RECONNECT_REVERT}, CC_, CC_, CC_, CC_, CC_, CC_, P_, CC_},
        {RW_, RW_, RW_, {RC, RECONNECT_CONNECT}, {RW, WAIT}, {RW, WAIT}, RW_, RW_, RW_},
        {{LW, WAIT}, RC_, RC_, RC_, RC_, RC_, RC_, P_, RC_},
        {SE_, SE_, SE_, {TU, RECONNECT_CONNECT}, SE_, SE_, SE_, SE_, SE_},
        {{ST, RECONNECT_FAIL}, TU_, TU_, TU_, TU_, TU_, TU_, P_, TU_},
        {ST_, ST_, ST_, ST_, ST_, ST_, ST_, ST_, ST_},
    };
    for (int state = 0; state < RECONNECT_STATES; state++) {
        for (int event = 0; event < RECONNECT_EVENTS; event++) {
            INFO("state " << state << ", event " << event);
            struct expected to = table[state][event];
            if (event == RECONNECT_SELECT) // the viewer may do these in any state
                to = {SE, RECONNECT_SWITCH};
            else if (event == RECONNECT_HURRY) // only while an attempt after a loss waits
                to = {static_cast<reconnect_state>(state), state == LW ? WAIT : NOTHING};
            else if (event == RECONNECT_STOP)
                to = {ST, RECONNECT_HALT};
            struct reconnect r = in_state((enum reconnect_state)state);
            enum reconnect_action action =
                reconnect_on(&r, (enum reconnect_event)event, &live, 1000 * ms);
            CHECK(action == to.action);
            CHECK(r.state == to.to);
        }
    }
}

TEST_CASE("reconnect: the newest choice of a channel wins, whatever the media is and does")
{
    for (const struct reconnect_facts *facts : {&live, &stored, &paused, &no_pictures}) {
        struct reconnect r = in_state(RECONNECT_PLAYING);
        CHECK(reconnect_on(&r, RECONNECT_SELECT, facts, 1000 * ms) == RECONNECT_SWITCH);
        CHECK(r.next == 1000 * ms);
        CHECK(r.picture == (facts->pictures ? RECONNECT_HALTED : RECONNECT_MOVING));
        CHECK(reconnect_on(&r, RECONNECT_TIMER, facts, 1000 * ms) == RECONNECT_CONNECT);
        CHECK(r.state == RECONNECT_TUNING);
        CHECK(reconnect_on(&r, RECONNECT_SELECT, facts, 1100 * ms) == RECONNECT_SWITCH);
        CHECK(reconnect_on(&r, RECONNECT_LOST, facts, 1101 * ms) == RECONNECT_NOTHING);
        CHECK(reconnect_on(&r, RECONNECT_TIMER, facts, 1102 * ms) == RECONNECT_CONNECT);
        CHECK(reconnect_on(&r, RECONNECT_PLAYED, facts, 1200 * ms) == RECONNECT_NOTHING);
        CHECK(r.state == RECONNECT_PLAYING);
        reconnect_on(&r, RECONNECT_STARTED, facts, 1210 * ms);
        CHECK(r.picture == RECONNECT_MOVING);
    }
}

TEST_CASE("reconnect: a channel that cannot be opened waits for the next choice, allowed or not")
{
    for (bool allowed : {false, true}) {
        struct reconnect r;
        reconnect_init(&r, allowed, true);
        CHECK(r.state == RECONNECT_TUNING);
        CHECK(reconnect_on(&r, RECONNECT_LOST, &no_pictures, 1000 * ms) == RECONNECT_FAIL);
        CHECK(r.next == USEC_NEVER);
        CHECK(reconnect_on(&r, RECONNECT_SELECT, &no_pictures, 2000 * ms) == RECONNECT_SWITCH);
        CHECK(reconnect_on(&r, RECONNECT_TIMER, &no_pictures, 2000 * ms) == RECONNECT_CONNECT);
        CHECK(reconnect_on(&r, RECONNECT_STOP, &no_pictures, 2001 * ms) == RECONNECT_HALT);
        CHECK(reconnect_on(&r, RECONNECT_TIMER, &no_pictures, 2001 * ms) == RECONNECT_NOTHING);
        CHECK(r.state == RECONNECT_STOPPED);
    }
}

TEST_CASE("reconnect: a choice ends the stall of a loss, and its series of delays")
{
    struct reconnect r = in_state(RECONNECT_LOST_CONNECTING);
    r.picture = RECONNECT_STALLED;
    r.tries = 3;
    reconnect_on(&r, RECONNECT_SELECT, &live, 1000 * ms);
    CHECK(r.picture == RECONNECT_HALTED);
    CHECK(r.tries == 0);
}

TEST_CASE("reconnect: the picture, for every pair of state and event that begins a still one")
{
    // DRAINED and DESCRIBED stop the moving picture of a connection that is away; the cause depends
    // on the state.
    static const enum reconnect_picture still[RECONNECT_STATES] = {
        RECONNECT_MOVING, RECONNECT_MOVING, RECONNECT_STALLED, RECONNECT_STALLED,
        RECONNECT_HALTED, RECONNECT_HALTED, RECONNECT_HALTED,  RECONNECT_HALTED,
        RECONNECT_MOVING, RECONNECT_HALTED, RECONNECT_MOVING};
    for (int state = 0; state < RECONNECT_STATES; state++) {
        for (int event = 0; event < RECONNECT_EVENTS; event++) {
            INFO("state " << state << ", event " << event);
            struct reconnect r = in_state((enum reconnect_state)state);
            bool connecting = state == RECONNECT_LOST_CONNECTING ||
                              state == RECONNECT_CHANGING_CONNECTING ||
                              state == RECONNECT_REVERTING_CONNECTING;
            connecting |= state == RECONNECT_TUNING;
            bool chosen = event == RECONNECT_SELECT || event == RECONNECT_STOP;
            bool stops = (event == RECONNECT_DRAINED && state != RECONNECT_TUNING) ||
                         (event == RECONNECT_DESCRIBED && connecting);
            reconnect_on(&r, (enum reconnect_event)event, &live, 1000 * ms);
            CHECK(r.picture == (chosen  ? RECONNECT_HALTED
                                : stops ? still[state]
                                        : RECONNECT_MOVING));

            r = in_state((enum reconnect_state)state);
            reconnect_on(&r, (enum reconnect_event)event, &no_pictures, 1000 * ms);
            CHECK(r.picture == RECONNECT_MOVING);

            // A still picture remains until pictures move again.
            r = in_state((enum reconnect_state)state);
            r.picture = RECONNECT_STALLED;
            reconnect_on(&r, (enum reconnect_event)event, &live, 1000 * ms);
            bool moves = event == RECONNECT_STARTED && state != RECONNECT_SELECTING &&
                         state != RECONNECT_STOPPED;
            CHECK(r.picture == (chosen  ? RECONNECT_HALTED
                                : moves ? RECONNECT_MOVING
                                        : RECONNECT_STALLED));
        }
    }
}

TEST_CASE("reconnect: a loss turns the viewer's own pause into a stall")
{
    for (int state : {RECONNECT_PLAYING, RECONNECT_REVERTING_CONNECTING}) {
        struct reconnect r = in_state((enum reconnect_state)state);
        r.picture = RECONNECT_HALTED;
        reconnect_on(&r, RECONNECT_LOST, &live, 1000 * ms);
        CHECK(r.picture == RECONNECT_STALLED);
    }
    struct reconnect r = in_state(RECONNECT_CHANGING_CONNECTING);
    r.picture = RECONNECT_HALTED;
    reconnect_on(&r, RECONNECT_LOST, &live, 1000 * ms);
    CHECK(r.picture == RECONNECT_HALTED); // the transport of before is on its way
}

TEST_CASE("reconnect: without pictures the picture moves once PLAY is answered")
{
    struct reconnect r = in_state(RECONNECT_LOST_CONNECTING);
    r.picture = RECONNECT_STALLED;
    reconnect_on(&r, RECONNECT_PLAYED, &no_pictures, 1000 * ms);
    CHECK(r.picture == RECONNECT_MOVING);
}

TEST_CASE("reconnect: a lost server is given up if that was chosen, a refused transport is not")
{
    static const struct {
        enum reconnect_state state;
        struct expected expected;
    } table[] = {
        {RECONNECT_OPENING, {RECONNECT_OPENING, RECONNECT_END}},
        {RECONNECT_PLAYING, {RECONNECT_PLAYING, RECONNECT_END}},
        {RECONNECT_LOST_CONNECTING, {RECONNECT_LOST_CONNECTING, RECONNECT_END}},
        {RECONNECT_CHANGING_CONNECTING, {RECONNECT_REVERTING_WAITING, RECONNECT_REVERT}},
        {RECONNECT_REVERTING_CONNECTING, {RECONNECT_REVERTING_CONNECTING, RECONNECT_END}},
    };
    for (const auto &row : table) {
        struct reconnect r = in_state(row.state);
        r.allowed = false;
        CHECK(reconnect_on(&r, RECONNECT_LOST, &live, 1000 * ms) == row.expected.action);
        CHECK(r.state == row.expected.to);
    }
}

TEST_CASE(
    "reconnect: an attempt waits for its time, for a pause, and for the end of a file's media")
{
    for (int state :
         {RECONNECT_LOST_WAITING, RECONNECT_CHANGING_WAITING, RECONNECT_REVERTING_WAITING}) {
        struct reconnect r = in_state((enum reconnect_state)state);
        // A timer that fires early is set again.
        CHECK(reconnect_on(&r, RECONNECT_TIMER, &live, 900 * ms - 1) == RECONNECT_WAIT);
        CHECK(reconnect_on(&r, RECONNECT_TIMER, &paused, 1000 * ms) == RECONNECT_NOTHING);
        CHECK(r.state == state);
        CHECK(reconnect_on(&r, RECONNECT_RESUMED, &live, 2000 * ms) == RECONNECT_WAIT);
        CHECK(r.next == 900 * ms);
        CHECK(reconnect_on(&r, RECONNECT_TIMER, &live, 2000 * ms) == RECONNECT_CONNECT);

        r = in_state((enum reconnect_state)state);
        CHECK(reconnect_on(&r, RECONNECT_TIMER, &stored, 1000 * ms) == RECONNECT_NOTHING);
        CHECK(r.state == state);
        CHECK(reconnect_on(&r, RECONNECT_DRAINED, &stored, 3000 * ms) == RECONNECT_WAIT);
        CHECK(reconnect_on(&r, RECONNECT_TIMER, &stored, 3000 * ms) == RECONNECT_CONNECT);
    }
}

TEST_CASE(
    "reconnect: a change of transport waits for TEARDOWN's answer, whatever was shown by then")
{
    struct reconnect r = in_state(RECONNECT_PLAYING);
    CHECK(reconnect_on(&r, RECONNECT_CHANGE, &live, 1000 * ms) == RECONNECT_LEAVE);
    CHECK(reconnect_on(&r, RECONNECT_DRAINED, &live, 1100 * ms) == RECONNECT_NOTHING);
    CHECK(r.picture == RECONNECT_HALTED);
    CHECK(reconnect_on(&r, RECONNECT_LEFT, &live, 1200 * ms) == RECONNECT_WAIT);
    CHECK(r.next == 1200 * ms);
    CHECK(reconnect_on(&r, RECONNECT_TIMER, &live, 1200 * ms) == RECONNECT_CONNECT);
}

TEST_CASE("reconnect: what comes late from the connection that is left changes nothing")
{
    // Playing starts with the last buffered pictures. An earlier version counted the viewer's
    // choice as a loss.
    struct reconnect r = in_state(RECONNECT_PLAYING);
    reconnect_on(&r, RECONNECT_CHANGE, &live, 1000 * ms);
    reconnect_on(&r, RECONNECT_STARTED, &live, 1000 * ms);
    CHECK(r.state == RECONNECT_CHANGING_WAITING);
    // A BYE of the old connection. An earlier version reverted the change, or counted a loss.
    CHECK(reconnect_on(&r, RECONNECT_LOST, &live, 1010 * ms) == RECONNECT_NOTHING);
    CHECK(r.state == RECONNECT_CHANGING_WAITING);
    CHECK(r.tries == 0);
    // A BYE after a loss. An earlier version lengthened the wait.
    r = in_state(RECONNECT_PLAYING);
    reconnect_on(&r, RECONNECT_LOST, &live, 1000 * ms);
    CHECK(reconnect_on(&r, RECONNECT_LOST, &live, 1200 * ms) == RECONNECT_NOTHING);
    CHECK(r.tries == 1);
    CHECK(r.next == 1500 * ms);
}

TEST_CASE("reconnect: away and lost")
{
    static const struct {
        bool away, lost;
    } table[RECONNECT_STATES] = {{false, false}, {false, false}, {true, true},  {true, true},
                                 {true, false},  {true, false},  {true, false}, {true, false},
                                 {true, false},  {true, false},  {true, false}};
    for (int state = 0; state < RECONNECT_STATES; state++) {
        struct reconnect r = in_state((enum reconnect_state)state);
        INFO(state);
        CHECK(reconnect_is_away(&r) == table[state].away);
        CHECK(reconnect_is_lost(&r) == table[state].lost);
    }
}

TEST_CASE("reconnect: away since the connection was lost or left, not since an attempt failed")
{
    struct reconnect r = in_state(RECONNECT_PLAYING);
    reconnect_on(&r, RECONNECT_LOST, &live, 1000 * ms);
    reconnect_on(&r, RECONNECT_TIMER, &live, 1500 * ms);
    reconnect_on(&r, RECONNECT_LOST, &live, 1600 * ms);
    CHECK(r.since == 1000 * ms);
}

// ---- The series of delays ----

static void lose(struct reconnect *r, usec_t now)
{
    REQUIRE(reconnect_on(r, RECONNECT_LOST, &live, now) == RECONNECT_WAIT);
}

static void attempt(struct reconnect *r, usec_t now)
{
    REQUIRE(reconnect_on(r, RECONNECT_TIMER, &live, now) == RECONNECT_CONNECT);
}

TEST_CASE("reconnect: waits twice as long each time, up to 15 s")
{
    struct reconnect r = in_state(RECONNECT_PLAYING);
    static const int delays[] = {500,  1000, 1000, 1000,  1000,  1000, 1000, 1000,
                                 1000, 1000, 1000, 1000,  1000,  1000, 1000, 1000,
                                 2000, 4000, 8000, 15000, 15000, 15000};
    usec_t now = 1000 * ms;
    int tries = 0;
    for (int delay : delays) {
        lose(&r, now);
        CHECK(r.next == now + delay * ms);
        CHECK(r.tries == ++tries);
        CHECK(reconnect_remaining(&r, now) == delay * ms);
        CHECK(reconnect_remaining(&r, now + delay * ms) == 0);
        CHECK(reconnect_remaining(&r, now + delay * ms + 1) == 0);
        now += delay * ms;
        attempt(&r, now);
        now += 37 * ms; // the attempt took a while to fail
    }
}

// Lost at 0 s and again at 0.6 s; plays since 1.7 s.
static struct reconnect played_after_two_losses()
{
    struct reconnect r = in_state(RECONNECT_PLAYING);
    lose(&r, 0);
    attempt(&r, 500 * ms);
    lose(&r, 600 * ms);
    attempt(&r, 1600 * ms);
    reconnect_on(&r, RECONNECT_PLAYED, &live, 1700 * ms);
    return r;
}

TEST_CASE("reconnect: only a connection that played for a while ends the series")
{
    static const struct {
        int played; // ms, between the second loss and the third
        int delay;  // ms, after the third
        int tries;
    } table[] = {
        {0, 1000, 3},
        {4999, 1000, 3},
        {5000, 500, 1},
        {60000, 500, 1},
    };
    for (const auto &row : table) {
        struct reconnect r = played_after_two_losses();
        usec_t again = (1700 + row.played) * ms;
        lose(&r, again);
        CHECK(r.next == again + row.delay * ms);
        CHECK(r.tries == row.tries);
    }
}

TEST_CASE("reconnect: a connection that brought no media has not played")
{
    struct reconnect r = played_after_two_losses();
    reconnect_idle(&r);
    lose(&r, 12000 * ms);
    CHECK(r.next == 13000 * ms);
    CHECK(r.tries == 3);
}

TEST_CASE("reconnect: the first loss of a session that played counts as the first")
{
    struct reconnect r;
    reconnect_init(&r, true, false);
    reconnect_on(&r, RECONNECT_PLAYED, &live, 0);
    lose(&r, 100 * ms);
    CHECK(r.next == 600 * ms);
    CHECK(r.tries == 1);
}

TEST_CASE("reconnect: the viewer hurries the next attempt, but only while one waits")
{
    struct reconnect r;
    reconnect_init(&r, true, false);
    CHECK(reconnect_on(&r, RECONNECT_HURRY, &live, 0) == RECONNECT_NOTHING);
    reconnect_on(&r, RECONNECT_PLAYED, &live, 0);
    CHECK(reconnect_on(&r, RECONNECT_HURRY, &live, 10 * ms) == RECONNECT_NOTHING);
    lose(&r, 100 * ms);
    CHECK(reconnect_on(&r, RECONNECT_HURRY, &live, 200 * ms) == RECONNECT_WAIT);
    CHECK(r.next == 200 * ms);
    CHECK(reconnect_on(&r, RECONNECT_TIMER, &live, 200 * ms) == RECONNECT_CONNECT);
    CHECK(reconnect_on(&r, RECONNECT_HURRY, &live, 300 * ms) == RECONNECT_NOTHING);
    lose(&r, 400 * ms);
    CHECK(r.tries == 2); // the series continues
    CHECK(r.next == 1400 * ms);
}
