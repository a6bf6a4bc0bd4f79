// SPDX-License-Identifier: GPL-2.0-or-later
// The requests of one viewer: numbers each (CSeq), gives it the session and the credentials, and
// keeps it until its response, because a 401 makes the viewer send it again.
#ifndef WEIR_PROTOCOL_RTSP_REQUESTS_H
#define WEIR_PROTOCOL_RTSP_REQUESTS_H

#include "common/base/decls.h"
#include "common/protocol/pending_requests.h"
#include "common/protocol/rtsp_auth.h"
#include "common/wire/url.h"

DECLS_BEGIN

enum { RTSP_REQUESTS_TEXT = 8192, RTSP_MAX_SESSION = 128 };

struct client_request {
    enum request_kind kind;
    const char *uri;     // NULL: the presentation
    const char *headers; // each line ends with CRLF; NULL: none
    const char *body;    // NULL: none
    int level;           // these as struct pending has them
    bool sought;
    bool paused;
};

struct rtsp_requests { // all zero at first
    const char *agent; // static; the program's name; NULL: "weir-play"
    int cseq;
    char session[RTSP_MAX_SESSION]; // the Session header's id; empty before SETUP
    // Names the session that a SETUP of this group makes while its id is not known
    // (Pipelined-Requests, RFC 7826, 18.33); 0: the header is not sent.
    unsigned group;
    char base[URL_MAX_TEXT]; // of the presentation
    char key[URL_MAX_KEY];   // that the URI of each request has in its query; empty: none
    struct pending_requests pending;
};

// Writes a request that is sent at `now`, and keeps it. `cnonce` as rtsp_auth_line has it. Returns
// the length; ERR_FULL: it is too long, or PENDING_REQUESTS_MAX have no response; ERR_NO_MEMORY.
int rtsp_requests_write(struct rtsp_requests *q, const struct client_request *r,
                        struct rtsp_auth *auth, uint32_t cnonce, char out[RTSP_REQUESTS_TEXT],
                        usec_t now);
// The newest request was sent when the wall clock showed `wall`.
void rtsp_requests_sent(struct rtsp_requests *q, usec_t wall);
// The request as it was passed to rtsp_requests_write. Borrows from `p`.
struct client_request rtsp_requests_again(const struct pending *p);
// No request gets a response any more.
void rtsp_requests_forget(struct rtsp_requests *q);

DECLS_END
#endif
