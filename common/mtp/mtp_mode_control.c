// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_mode_control.h"

#include <assert.h>

static const usec_t MIN_WAIT = 30 * USEC_PER_SEC;
static const usec_t MAX_WAIT = 480 * USEC_PER_SEC;
static const usec_t DOUBT = 10 * USEC_PER_SEC; // older echoes are not accepted as proof
static const usec_t RELAPSE = 30 * USEC_PER_SEC;

void mtp_mode_control_init(struct mtp_mode_control *m, enum mtp_mode top)
{
    *m = (struct mtp_mode_control){.top = top,
                                   .mode = top,
                                   .wait = MIN_WAIT,
                                   .retry_at = USEC_NEVER,
                                   .stuck_at = -1,
                                   .returned_at = -1};
}

const char *mtp_reason_text(enum mtp_reason reason)
{
    static const char *const texts[] = {
        "as asked for",
        "probe: acknowledged over a hole",
        "probe: acknowledged up to a hole, data beyond it reported",
        "probe: nothing passed after a hole",
        "probe: no answer",
        "recoveries without progress",
        "the whole path had been silent",
        "a late answer to what was sent before",
        "another try",
    };
    assert(reason >= MTP_REASON_ASKED && reason < MTP_REASONS);
    return texts[reason];
}

static void go(struct mtp_mode_control *m, enum mtp_mode mode, enum mtp_reason reason, usec_t now)
{
    m->mode = mode;
    m->reason = reason;
    m->stuck_at = -1;
    m->retry_at = mode > m->top ? now + m->wait : USEC_NEVER;
}

static void doubt(struct mtp_mode_control *m, enum mtp_mode before, int64_t proof, usec_t now)
{
    m->doubtful = true;
    m->before = before;
    m->wait_before = m->wait;
    m->stepped_at = now;
    m->proof = proof;
}

void mtp_mode_control_probed(struct mtp_mode_control *m, enum mtp_probe_answer answer, usec_t now)
{
    static const enum mtp_mode modes[] = {MTP_STRICT, MTP_FILL_HOLES, MTP_RESEND, MTP_RESEND};
    enum mtp_reason reason = (enum mtp_reason)((int)MTP_REASON_PROBE_OVER + (int)answer);
    if (answer != MTP_PROBE_OVER)
        doubt(m, m->top, MTP_PROBE_HOLE, now);
    m->unheard = answer == MTP_PROBE_NOTHING;
    go(m, modes[answer], reason, now);
}

static bool is_stuck(struct mtp_mode_control *m, const struct mtp_sender *s, usec_t now)
{
    if (s->stuck == 0)
        m->stuck_at = -1;
    else if (m->stuck_at < 0)
        m->stuck_at = now;
    usec_t answer = s->rto.srtt + s->rto.srtt / 4;
    return s->stuck >= MTP_STUCK && now - m->stuck_at >= answer;
}

static bool step_down(struct mtp_mode_control *m, const struct mtp_sender *s, usec_t now)
{
    if (!is_stuck(m, s, now))
        return false;
    if (m->mode == MTP_RESEND) { // the lowest mode: without progress it only postpones the next try
        m->retry_at = m->top < MTP_RESEND ? now + m->wait : USEC_NEVER;
        return false;
    }
    bool relapse = m->returned_at >= 0 && now - m->returned_at < RELAPSE;
    if (relapse) {
        m->doubtful = false;
    } else if (!m->unheard ||
               !m->doubtful) { // otherwise it is still the silence of the previous step
        doubt(m, m->mode, s->cum, now);
        m->unanswered = 0;
    }
    m->unheard = true;
    if (!m->on_trial)
        m->wait = MIN_WAIT;
    else
        m->wait = usec_min(2 * m->wait, MAX_WAIT);
    m->on_trial = false;
    go(m, (enum mtp_mode)(m->mode + 1), MTP_REASON_STUCK, now);
    return true;
}

static bool step_back(struct mtp_mode_control *m, enum mtp_reason reason, usec_t now)
{
    m->doubtful = false;
    m->wait = m->wait_before;
    go(m, m->before, reason, now);
    return true;
}

// TCP timestamps are in milliseconds: an echo within the millisecond of the step proves nothing.
static bool is_older(uint32_t echo_us, usec_t time)
{
    usec_t whole = time - time % USEC_PER_MSEC;
    return (int32_t)(echo_us - (uint32_t)whole) < 0;
}

static bool try_above(struct mtp_mode_control *m, const struct mtp_sender *s, usec_t now)
{
    m->on_trial = true;
    m->recoveries = s->counts.fast_recoveries + s->counts.timeouts;
    m->doubtful = false;
    go(m, (enum mtp_mode)(m->mode - 1), MTP_REASON_RETRY, now);
    return true;
}

bool mtp_mode_control_ack(struct mtp_mode_control *m, const struct mtp_sender *s,
                          const struct mtp_ack *ack, int64_t cum, usec_t now)
{
    bool goes_on = s->cum > cum;
    bool was_away = m->unheard && m->unanswered > 0;
    m->unheard = false;
    if (m->doubtful && now - m->stepped_at > DOUBT && !was_away)
        m->doubtful = false;
    if (m->doubtful && was_away) {
        m->returned_at = now;
        return step_back(m, MTP_REASON_OUTAGE, now);
    }
    if (m->doubtful && goes_on && s->cum > m->proof && ack->has_echo &&
        is_older(ack->echo_us, m->stepped_at))
        return step_back(m, MTP_REASON_LATE, now);
    if (!goes_on || s->state != MTP_OPEN)
        return step_down(m, s, now);
    m->stuck_at = -1;
    if (m->on_trial && s->counts.fast_recoveries + s->counts.timeouts > m->recoveries) {
        m->on_trial = false;
        m->wait = MIN_WAIT;
    }
    return now >= m->retry_at && try_above(m, s, now);
}

bool mtp_mode_control_timeout(struct mtp_mode_control *m, const struct mtp_sender *s, usec_t now)
{
    m->unanswered += m->unheard;
    return step_down(m, s, now);
}
