// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void rtsp_session_init(struct rtsp_session *s, usec_t now)
{
    *s = (struct rtsp_session){.state = RTSP_INIT, .last_sign = now};
}

// After ANNOUNCE. A repeated RECORD has no effect.
static int allowed_to_record(enum rtsp_state state, enum rtsp_method method)
{
    switch (method) {
    case RTSP_OPTIONS:
    case RTSP_GET_PARAMETER:
        return 200;
    case RTSP_SETUP:
        return state == RTSP_PLAYING ? 455 : 200;
    case RTSP_RECORD:
    case RTSP_TEARDOWN:
        return state == RTSP_INIT ? 455 : 200;
    default:
        return 455;
    }
}

// RFC 2326, A.2. A repeated PLAY changes range or speed; a repeated PAUSE has no effect.
static int allowed(const struct rtsp_session *s, enum rtsp_method method)
{
    enum rtsp_state state = s->state;
    if (s->records)
        return allowed_to_record(state, method);
    switch (method) {
    case RTSP_ANNOUNCE:
        return state == RTSP_INIT ? 200 : 455;
    case RTSP_RECORD:
        return 455;
    case RTSP_OPTIONS:
    case RTSP_DESCRIBE:
    case RTSP_GET_PARAMETER: // allowed without a session: a ping
        return 200;
    case RTSP_SETUP: // for a further track
        return state == RTSP_PLAYING ? 455 : 200;
    case RTSP_PLAY:
    case RTSP_PAUSE:
    case RTSP_TEARDOWN:
    case RTSP_SET_PARAMETER:
        return state == RTSP_INIT ? 455 : 200;
    case RTSP_UNKNOWN:
        break;
    }
    return 501;
}

int rtsp_session_check(const struct rtsp_session *s, enum rtsp_method method, struct text session)
{
    if (method == RTSP_UNKNOWN)
        return 501;
    // "Session: ID;timeout=60" is also accepted: some clients echo the whole value.
    bool named = session.len > 0;
    size_t len = 0;
    while (len < session.len && session.at[len] != ';' && session.at[len] != ' ')
        len++;
    if (named && (!s->id[0] || len != strlen(s->id) || memcmp(session.at, s->id, len) != 0))
        return 454;
    int status = allowed(s, method);
    bool needs_session = method == RTSP_PLAY || method == RTSP_RECORD || method == RTSP_PAUSE ||
                         method == RTSP_TEARDOWN ||
                         (method == RTSP_SETUP && s->state == RTSP_READY);
    if (status == 200 && needs_session && !named)
        return 454;
    return status;
}

void rtsp_session_apply(struct rtsp_session *s, enum rtsp_method method, uint64_t id)
{
    switch (method) {
    case RTSP_SETUP:
        s->state = RTSP_READY;
        snprintf(s->id, sizeof(s->id), "%016" PRIx64, id);
        break;
    case RTSP_ANNOUNCE:
        s->records = true;
        break;
    case RTSP_PLAY:
    case RTSP_RECORD:
        s->state = RTSP_PLAYING;
        break;
    case RTSP_PAUSE:
        s->state = RTSP_READY;
        break;
    case RTSP_TEARDOWN:
        s->state = RTSP_INIT;
        s->records = false;
        s->id[0] = '\0';
        break;
    default:
        break;
    }
}

void rtsp_session_waits(struct rtsp_session *s)
{
    s->has_waited = true;
}

void rtsp_session_alive(struct rtsp_session *s, usec_t now)
{
    s->last_sign = now;
    s->has_asked = true;
}

int rtsp_session_patience(const struct rtsp_session *s)
{
    if (s->has_asked)
        return RTSP_SESSION_TIMEOUT_S;
    return RTSP_FIRST_REQUEST_S + (s->has_waited ? RTSP_DECISION_S : 0);
}

bool rtsp_session_expired(const struct rtsp_session *s, usec_t now)
{
    return now - s->last_sign > rtsp_session_patience(s) * USEC_PER_SEC;
}
