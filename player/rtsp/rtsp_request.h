// SPDX-License-Identifier: GPL-2.0-or-later
// RTSP requests as text (RFC 2326, 6), and what weir-send answers to GET_PARAMETER.
#ifndef WEIR_PLAYER_RTSP_RTSP_REQUEST_H
#define WEIR_PLAYER_RTSP_RTSP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/usec.h"
#include "common/transport/transport.h"
#include "common/wire/rtsp.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rtsp_request {
    enum rtsp_method method;
    const char *uri;
    int cseq;
    const char *session; // NULL or empty: none yet
    const char *headers; // further header lines, each ended by CRLF; NULL: none
    const char *body;    // parameters (text/parameters); NULL: none
};

// Returns the length written (terminated), or ERR_FULL.
int rtsp_request_format(const struct rtsp_request *r, char *out, size_t cap);

struct rtsp_measures {
    bool has_clock;
    usec_t sender_wall;
    int level;                       // -1: not told
    struct transport_info transport; // what was not told is NaN
    double skipped;                  // frames that the sender left out; NaN = not told
};

// Reads the body of an answer to GET_PARAMETER. What is unknown or malformed is skipped: it is as
// good as not told.
void rtsp_measures_read(struct text body, struct rtsp_measures *out);

#ifdef __cplusplus
}
#endif
#endif
