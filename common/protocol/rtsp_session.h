// SPDX-License-Identifier: GPL-2.0-or-later
// The server's state machine of one RTSP session (RFC 2326, appendix A.2): which method is allowed
// in which state, how it changes the state, and when the session has been silent for too long.
#ifndef WEIR_PROTOCOL_RTSP_SESSION_H
#define WEIR_PROTOCOL_RTSP_SESSION_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtsp.h"

DECLS_BEGIN

enum {
    RTSP_SESSION_TIMEOUT_S = 60, // announced in the Session header
    // From the start of the connection until a request is accepted; parts of a request, and refused
    // ones, do not count.
    RTSP_FIRST_REQUEST_S = 10,
    RTSP_DECISION_S = 10, // and for the decision whether the peer is let in
};

enum rtsp_state { RTSP_INIT, RTSP_READY, RTSP_PLAYING }; // playing: or recording

struct rtsp_session {
    enum rtsp_state state;
    bool records;     // after ANNOUNCE, until TEARDOWN: the peer sends the media
    char id[20];      // 16 hexadecimal digits; empty in RTSP_INIT
    usec_t last_sign; // time of the last sign of life: a request, or RTCP
    bool has_asked;   // true after the first request that was accepted
    bool has_waited;  // a request waited for the decision whether the peer is let in
};

void rtsp_session_init(struct rtsp_session *s, usec_t now);
// Checks whether this request may be served in this state. Returns 200, or the response's status:
// 454 a Session header that is missing or wrong, 455 not in this state (SETUP twice, PLAY before
// SETUP ...), 501 unknown. `session` is the value of the request's Session header.
int rtsp_session_check(const struct rtsp_session *s, enum rtsp_method method, struct text session);
// Call after a request was served with 200. `id` is used by SETUP.
void rtsp_session_apply(struct rtsp_session *s, enum rtsp_method method, uint64_t id);
// Call if a request waits for the decision whether its peer is let in.
void rtsp_session_waits(struct rtsp_session *s);
// Call after a whole request that was accepted, or RTCP.
void rtsp_session_alive(struct rtsp_session *s, usec_t now);
// Returns how long the session may be silent now, in seconds.
int rtsp_session_patience(const struct rtsp_session *s);
bool rtsp_session_expired(const struct rtsp_session *s, usec_t now);

DECLS_END
#endif
