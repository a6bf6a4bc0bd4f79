// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer can request as often as it likes, what one request may cost the server beyond its
// answer, and what bounds that. Each method of RTSP, each parameter and each kind of RTCP has a row
// here, and so has what else a viewer can send; request_limits_test fails if one has none.
//
//   The law of a row with an interval: a bucket of `burst` requests, which gains one each
//   `interval`. A request that finds it empty is not served (request_budget_take). What bounds the
//   others is in the file that the row names.
//
// All requests of one connection are served one after the other, and between two of them others
// have their turn; answers wait for a peer that does not read, within TCP_CONN_OUT_BYTES. So a
// request that costs its answer alone needs no limit here. Pure.
#ifndef WEIR_SERVER_POLICY_REQUEST_LIMITS_H
#define WEIR_SERVER_POLICY_REQUEST_LIMITS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp.h"
#include "server/policy/rtsp_parameters.h"

DECLS_BEGIN

enum {
    // Max. lines of a body of GET_PARAMETER or SET_PARAMETER: the work for one request is bounded.
    REQUEST_MAX_PARAMETERS = 512,
};

enum request_cost {
    REQUEST_COSTS_ANSWER, // nothing else
    REQUEST_COSTS_BYTES,  // datagrams, or media that would not have been sent
    REQUEST_COSTS_WORK,   // of a thread, a disk or an encoder that others share, or of the origin
    REQUEST_COSTS_PLACE,  // memory, files or ports while it lasts
};

struct request_limit {
    const char *name; // static, as is all text here; NULL: the row is missing
    enum request_cost cost;
    int burst;
    usec_t interval;   // 0: not limited here
    const char *bound; // a sentence: what bounds the cost
    const char *where; // the file that keeps the bound; "": this one
};

// Each returns a row, or NULL if the value is none of its enumeration.
const struct request_limit *request_limit_of_method(enum rtsp_method method);
const struct request_limit *request_limit_of_parameter(enum rtsp_parameter parameter);
const struct request_limit *request_limit_of_rtcp(enum rtcp_kind kind);
// The re-attachment of a session to another connection (session_attach.h).
const struct request_limit *request_limit_of_attach(void);
// What else a viewer can send. Returns the row number `i` from 0; NULL: there are no more.
const struct request_limit *request_limit_of_other(int i);

struct request_budget { // of one viewer and row; all zero: full
    bool has_begun;
    double left;
    usec_t at;
};

// Returns true if a request may be served at `now`, and counts it. A row without an interval allows
// all.
bool request_budget_take(struct request_budget *b, const struct request_limit *limit, usec_t now);

DECLS_END
#endif
