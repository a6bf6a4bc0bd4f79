// SPDX-License-Identifier: GPL-2.0-or-later
// The requests of an RTSP client that have no response yet, in the order in which they were sent.
#ifndef WEIR_PROTOCOL_PENDING_REQUESTS_H
#define WEIR_PROTOCOL_PENDING_REQUESTS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtsp.h"

DECLS_BEGIN

enum { PENDING_REQUESTS_MAX = 16 };

enum request_kind {
    REQUEST_OPTIONS,
    REQUEST_DESCRIBE,
    REQUEST_SETUP,
    REQUEST_AUDIO,
    REQUEST_LATENCY,
    REQUEST_PLAYOUT,
    REQUEST_MAX_RATE,
    REQUEST_ADAPT,
    REQUEST_AUDIO_TRACK,
    REQUEST_ONLY,
    REQUEST_PAIR,
    REQUEST_PATH, // media moves beside the connection
    REQUEST_LEVEL,
    REQUEST_PLAY,
    REQUEST_PAUSE,
    REQUEST_MEASURES,
    REQUEST_VALUES, // parameters that the caller names
    REQUEST_FILM_TABLE,
    REQUEST_TEARDOWN,
    REQUEST_ANNOUNCE, // of a recording client
    REQUEST_RECORD
};

enum rtsp_method request_method(enum request_kind kind);

struct pending {
    enum request_kind kind;
    int cseq;
    int level;   // REQUEST_LEVEL
    bool sought; // REQUEST_PLAY: it requests another position
    bool paused; // REQUEST_PLAY: the server was paused before it
    char *text;  // owned; the caller frees it
    usec_t asked;
    usec_t heard; // 100 Continue came last; 0: none did
    usec_t asked_wall;
};

struct pending_requests { // all zero at first
    int count;
    struct pending pending[PENDING_REQUESTS_MAX];
};

// Requires count < PENDING_REQUESTS_MAX.
void pending_requests_add(struct pending_requests *q, const struct pending *p);
// Removes the request with that CSeq. A response without CSeq (cseq < 0) matches the oldest
// request, as some servers omit it. Returns false if there is no such request.
bool pending_requests_take(struct pending_requests *q, int cseq, struct pending *out);
// The server works on the request with that CSeq: 100 Continue.
void pending_requests_continue(struct pending_requests *q, int cseq, usec_t now);
// Returns true if a request of that kind has no response yet.
bool pending_requests_waiting(const struct pending_requests *q, enum request_kind kind);
// The place in `pending` of the oldest request of that kind; -1: each has a response.
int pending_requests_find(const struct pending_requests *q, enum request_kind kind);
// Drops the request at that place and frees its text. Its response will match no request.
void pending_requests_forget(struct pending_requests *q, int place);
// NULL: every request has a response
const struct pending *pending_requests_oldest(const struct pending_requests *q);

DECLS_END
#endif
