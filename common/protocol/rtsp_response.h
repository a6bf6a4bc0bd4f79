// SPDX-License-Identifier: GPL-2.0-or-later
// What a server's responses say to a viewer, one function a kind of request (RFC 2326). Nothing
// here changes the session: rtsp_client does.
#ifndef WEIR_PROTOCOL_RTSP_RESPONSE_H
#define WEIR_PROTOCOL_RTSP_RESPONSE_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/pending_requests.h"
#include "common/wire/rtsp.h"
#include "common/wire/sdp.h"
#include "common/wire/url.h"

DECLS_BEGIN

#define RTSP_DEFAULT_TIMEOUT (60 * USEC_PER_SEC) // if the server says none (12.37)

struct rtsp_setup_response {
    struct text session;    // the id, not empty
    usec_t session_timeout; // above 0
    struct text transport;  // the Transport header; .at == NULL: none
    bool multicast;         // it names a group that the server sends to
};

struct rtsp_play_response {
    double seconds; // where it begins; NaN: not said
    int64_t first;  // these as struct rtsp_frames has them; -1: not said
    int64_t show;
    bool ahead;
    int64_t until; // 0: not said
    double scale;  // 1: not said
    double speed;  // that the server granted; 0: not said
    double behind; // these as struct rtsp_rewind has them; 0: not said
    double back;
    int seq; // of the first packet, of the first stream that RTP-Info names; -1: not said
};

// SETUP. `out` borrows from the response. 0, or ERR_MALFORMED: no Session header (an empty
// `session`), or its id has `id_cap` bytes or more; all else of `out` counts all the same.
int rtsp_response_setup(const struct rtsp_item *r, size_t id_cap, struct rtsp_setup_response *out);
// PLAY. A header that cannot be read counts as absent.
struct rtsp_play_response rtsp_response_play(const struct rtsp_item *r);
// OPTIONS: returns true if the server has the method.
bool rtsp_response_lists(const struct rtsp_item *r, const char *method);
// DESCRIBE (C.1.1): sets `base`, which holds the request's URL, to the URL that the session's
// control URLs are relative to. `sdp`: of the response's body.
void rtsp_response_base(const struct rtsp_item *r, const struct sdp *sdp, char base[URL_MAX_TEXT]);
// A response of 300 or above, as a sentence for people: "the server refuses PLAY: 455 ...".
void rtsp_response_refusal(const struct rtsp_item *r, enum request_kind kind, char *out,
                           size_t cap);
// Writes a message's body in one printable line. Returns its length.
size_t rtsp_response_line(const struct rtsp_item *r, char *out, size_t cap);

DECLS_END
#endif
