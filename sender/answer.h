// SPDX-License-Identifier: GPL-2.0-or-later
// The answer to one RTSP request while it is made.
#ifndef WEIR_SENDER_ANSWER_H
#define WEIR_SENDER_ANSWER_H

#include <stddef.h>

#include "common/wire/sdp.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tcp_conn;

struct answer { // zero but for `status` to begin with
    int status;
    char headers[4096];              // complete lines; of URIs, PLAY has two
    const char *content_type;        // static
    char body[SDP_MAX_BYTES + 4096]; // terminated
};

// Adds a header line; `format` ends in CRLF.
void answer_header(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
// An error with a sentence for people.
void answer_refuse(struct answer *a, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Queues it on the connection. `cseq` < 0: the request had none. 0, ERR_FULL or ERR_CLOSED.
int answer_send(const struct answer *a, int cseq, struct tcp_conn *to);

#ifdef __cplusplus
}
#endif
#endif
