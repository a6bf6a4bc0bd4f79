// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/reconnect.h"

// The effect of an event in a state.
enum effect {
    IGNORE,
    END,    // RECONNECT_END; the state stays
    RETRY,  // starts the next attempt by the series of delays, or RECONNECT_END if that is not
            // allowed
    LEAVE,  // RECONNECT_LEAVE; the attempt waits until RECONNECT_LEFT
    NOW,    // the attempt is due now
    POLL,   // the attempt may be due: the timer checks it again
    TRY,    // the attempt begins, unless it would interrupt what the viewer sees
    REVERT, // RECONNECT_REVERT; the attempt is due now
    STAY,   // changes only what the viewer sees
    SELECT, // RECONNECT_SWITCH; the attempt is due now
    OPEN,   // the attempt begins
    HALT,   // RECONNECT_HALT
    FAIL,   // RECONNECT_FAIL
    SUCCEED
};

struct transition {
    enum effect effect;
    enum reconnect_state to; // unused by IGNORE, END, POLL and STAY
};

#define S(name) RECONNECT_##name
// In every state.
#define ANY [S(SELECT)] = {SELECT, S(SELECTING)}, [S(STOP)] = {HALT, S(STOPPED)}

// Left out are the pairs that are ignored:
//  - a second loss while an attempt waits, as when a BYE arrives after the connection was lost: it
//    must neither lengthen the wait nor turn a change of transport into a loss;
//  - a choice of transport while there is no connection;
//  - TEARDOWN's answer, when no session is being left;
//  - a timer that was set before the attempt began;
//  - all that the media before tells while a channel is chosen, or after a stop.
static const struct transition table[RECONNECT_STATES][RECONNECT_EVENTS] = {
    [S(OPENING)] = {ANY, [S(LOST)] = {END}, [S(DRAINED)] = {END},
                    [S(PLAYED)] = {SUCCEED, S(PLAYING)}, [S(STARTED)] = {STAY}},
    [S(PLAYING)] = {ANY, [S(LOST)] = {RETRY, S(LOST_WAITING)},
                    [S(CHANGE)] = {LEAVE, S(CHANGING_WAITING)}, [S(DRAINED)] = {END},
                    [S(STARTED)] = {STAY}},
    [S(LOST_WAITING)] = {ANY, [S(TIMER)] = {TRY, S(LOST_CONNECTING)}, [S(DRAINED)] = {POLL},
                         [S(RESUMED)] = {POLL}, [S(STARTED)] = {STAY},
                         [S(HURRY)] = {NOW, S(LOST_WAITING)}},
    [S(LOST_CONNECTING)] = {ANY, [S(LOST)] = {RETRY, S(LOST_WAITING)}, [S(DRAINED)] = {STAY},
                            [S(DESCRIBED)] = {STAY}, [S(PLAYED)] = {SUCCEED, S(PLAYING)},
                            [S(STARTED)] = {STAY}},
    [S(CHANGING_WAITING)] = {ANY, [S(LEFT)] = {NOW, S(CHANGING_WAITING)},
                             [S(TIMER)] = {TRY, S(CHANGING_CONNECTING)}, [S(DRAINED)] = {POLL},
                             [S(RESUMED)] = {POLL}, [S(STARTED)] = {STAY}},
    [S(CHANGING_CONNECTING)] = {ANY, [S(LOST)] = {REVERT, S(REVERTING_WAITING)},
                                [S(DRAINED)] = {STAY}, [S(DESCRIBED)] = {STAY},
                                [S(PLAYED)] = {SUCCEED, S(PLAYING)}, [S(STARTED)] = {STAY}},
    [S(REVERTING_WAITING)] = {ANY, [S(TIMER)] = {TRY, S(REVERTING_CONNECTING)},
                              [S(DRAINED)] = {POLL}, [S(RESUMED)] = {POLL}, [S(STARTED)] = {STAY}},
    [S(REVERTING_CONNECTING)] = {ANY, [S(LOST)] = {RETRY, S(LOST_WAITING)}, [S(DRAINED)] = {STAY},
                                 [S(DESCRIBED)] = {STAY}, [S(PLAYED)] = {SUCCEED, S(PLAYING)},
                                 [S(STARTED)] = {STAY}},
    [S(SELECTING)] = {ANY, [S(TIMER)] = {OPEN, S(TUNING)}},
    [S(TUNING)] = {ANY, [S(LOST)] = {FAIL, S(STOPPED)}, [S(DESCRIBED)] = {STAY},
                   [S(PLAYED)] = {SUCCEED, S(PLAYING)}, [S(STARTED)] = {STAY}},
    [S(STOPPED)] = {ANY},
};

#undef ANY
#undef S

void reconnect_init(struct reconnect *r, bool allowed, bool tunes)
{
    *r = (struct reconnect){.state = tunes ? RECONNECT_TUNING : RECONNECT_OPENING,
                            .allowed = allowed,
                            .next = USEC_NEVER,
                            .played = USEC_NEVER};
}

bool reconnect_is_away(const struct reconnect *r)
{
    return r->state > RECONNECT_PLAYING;
}

bool reconnect_is_lost(const struct reconnect *r)
{
    return r->state == RECONNECT_LOST_WAITING || r->state == RECONNECT_LOST_CONNECTING;
}

static usec_t delay(int tries)
{
    if (tries <= 1)
        return RECONNECT_FIRST;
    usec_t d = USEC_PER_SEC;
    for (int i = RECONNECT_QUICK + 1; i < tries && d < RECONNECT_MAX; i++)
        d *= 2;
    return usec_min(d, RECONNECT_MAX);
}

static void schedule(struct reconnect *r, usec_t now)
{
    if (r->played != USEC_NEVER && now - r->played >= RECONNECT_STEADY)
        r->tries = 0;
    r->played = USEC_NEVER;
    r->tries++;
    r->next = now + delay(r->tries);
}

// An attempt for a stored medium continues from the last picture, so it requires its position.
// During a pause an attempt would replace the picture at which the viewer has paused.
static bool must_hold(const struct reconnect *r, const struct reconnect_facts *facts)
{
    return facts->pictures && (facts->paused || (facts->stored && r->picture == RECONNECT_MOVING));
}

// Runs after the state has changed.
static void update_picture(struct reconnect *r, enum reconnect_event event,
                           const struct reconnect_facts *facts)
{
    switch (event) {
    case RECONNECT_DRAINED:
    case RECONNECT_DESCRIBED:
        if (facts->pictures && reconnect_is_away(r) && r->picture == RECONNECT_MOVING)
            r->picture = reconnect_is_lost(r) ? RECONNECT_STALLED : RECONNECT_HALTED;
        return;
    case RECONNECT_SELECT:
    case RECONNECT_STOP:
        if (facts->pictures)
            r->picture = RECONNECT_HALTED;
        return;
    case RECONNECT_LOST: // from here on the viewer's choice is not the reason any more
        if (reconnect_is_lost(r) && r->picture == RECONNECT_HALTED)
            r->picture = RECONNECT_STALLED;
        return;
    case RECONNECT_PLAYED:
        if (!facts->pictures)
            r->picture = RECONNECT_MOVING;
        return;
    case RECONNECT_STARTED:
        r->picture = RECONNECT_MOVING;
        return;
    default:
        return;
    }
}

static enum reconnect_action take(struct reconnect *r, struct transition t,
                                  const struct reconnect_facts *facts, usec_t now)
{
    switch (t.effect) {
    case IGNORE:
    case STAY:
        return RECONNECT_NOTHING;
    case END:
        return RECONNECT_END;
    case RETRY:
        if (!r->allowed)
            return RECONNECT_END;
        schedule(r, now);
        r->state = t.to;
        return RECONNECT_WAIT;
    case LEAVE:
        r->next = USEC_NEVER;
        r->state = t.to;
        return RECONNECT_LEAVE;
    case NOW:
        r->next = now;
        r->state = t.to;
        return RECONNECT_WAIT;
    case POLL:
        return r->next == USEC_NEVER ? RECONNECT_NOTHING : RECONNECT_WAIT;
    case TRY:
        if (now < r->next)
            return RECONNECT_WAIT;
        if (must_hold(r, facts))
            return RECONNECT_NOTHING;
        r->state = t.to;
        return RECONNECT_CONNECT;
    case REVERT:
        r->next = now;
        r->state = t.to;
        return RECONNECT_REVERT;
    case SELECT:
        r->tries = 0;
        r->next = now;
        r->state = t.to;
        return RECONNECT_SWITCH;
    case OPEN:
        r->state = t.to;
        return RECONNECT_CONNECT;
    case HALT:
    case FAIL:
        r->next = USEC_NEVER;
        r->state = t.to;
        return t.effect == HALT ? RECONNECT_HALT : RECONNECT_FAIL;
    case SUCCEED:
        r->played = now;
        r->state = t.to;
        return RECONNECT_NOTHING;
    }
    return RECONNECT_NOTHING;
}

enum reconnect_action reconnect_on(struct reconnect *r, enum reconnect_event event,
                                   const struct reconnect_facts *facts, usec_t now)
{
    bool away = reconnect_is_away(r);
    struct transition t = table[r->state][event];
    enum reconnect_action action = take(r, t, facts, now);
    if (!away && reconnect_is_away(r))
        r->since = now;
    if (t.effect != IGNORE)
        update_picture(r, event, facts);
    return action;
}

void reconnect_idle(struct reconnect *r)
{
    r->played = USEC_NEVER;
}

usec_t reconnect_remaining(const struct reconnect *r, usec_t now)
{
    return usec_max(0, r->next - now);
}
