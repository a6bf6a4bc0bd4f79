// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/protocol/pending_requests.h"

static struct pending asked(enum request_kind kind, int cseq)
{
    struct pending p = {};
    p.kind = kind;
    p.cseq = cseq;
    p.asked = 1000 * cseq;
    return p;
}

TEST_CASE("pending requests: responses are matched by CSeq, in any order")
{
    struct pending_requests q = {};
    struct pending p;
    CHECK(pending_requests_oldest(&q) == nullptr);
    const enum request_kind all[] = {REQUEST_OPTIONS, REQUEST_DESCRIBE, REQUEST_SETUP};
    for (int i = 0; i < 3; i++) {
        struct pending a = asked(all[i], i + 1);
        pending_requests_add(&q, &a);
    }
    CHECK(pending_requests_oldest(&q)->cseq == 1);
    CHECK(pending_requests_waiting(&q, REQUEST_DESCRIBE));
    CHECK_FALSE(pending_requests_waiting(&q, REQUEST_PLAY));
    CHECK(pending_requests_find(&q, REQUEST_SETUP) == 2);
    CHECK(pending_requests_find(&q, REQUEST_PLAY) == -1);

    REQUIRE(pending_requests_take(&q, 2, &p));
    CHECK(p.kind == REQUEST_DESCRIBE);
    CHECK_FALSE(pending_requests_take(&q, 2, &p)); // a second response
    CHECK_FALSE(pending_requests_take(&q, 7, &p)); // never sent
    REQUIRE(pending_requests_take(&q, 1, &p));
    CHECK(pending_requests_oldest(&q)->kind == REQUEST_SETUP);
    struct pending forgotten = asked(REQUEST_PLAY, 4);
    pending_requests_add(&q, &forgotten);
    pending_requests_forget(&q, 1);
    CHECK_FALSE(pending_requests_take(&q, 4, &p));
    REQUIRE(pending_requests_take(&q, 3, &p));
    CHECK(p.asked == 3000);
    CHECK(q.count == 0);
}

TEST_CASE("pending requests: a response without CSeq answers the oldest")
{
    struct pending_requests q = {};
    struct pending p;
    CHECK_FALSE(pending_requests_take(&q, -1, &p));
    for (int cseq : {4, 5}) {
        struct pending a = asked(REQUEST_SETUP, cseq);
        pending_requests_add(&q, &a);
    }
    REQUIRE(pending_requests_take(&q, -1, &p));
    CHECK(p.cseq == 4);
    REQUIRE(pending_requests_take(&q, 5, &p));
}

TEST_CASE("pending requests: 100 Continue is of one request, which waits on")
{
    struct pending_requests q = {};
    struct pending p;
    for (int cseq : {4, 5}) {
        struct pending a = asked(REQUEST_SETUP, cseq);
        pending_requests_add(&q, &a);
    }
    pending_requests_continue(&q, 5, 77);
    pending_requests_continue(&q, 6, 88); // of none
    CHECK(pending_requests_oldest(&q)->heard == 0);
    REQUIRE(pending_requests_take(&q, 4, &p));
    CHECK(pending_requests_oldest(&q)->heard == 77);
}

TEST_CASE("pending requests: the method of each kind")
{
    CHECK(request_method(REQUEST_OPTIONS) == RTSP_OPTIONS);
    CHECK(request_method(REQUEST_LEVEL) == RTSP_SET_PARAMETER);
    CHECK(request_method(REQUEST_ADAPT) == RTSP_SET_PARAMETER);
    CHECK(request_method(REQUEST_PAIR) == RTSP_SET_PARAMETER);
    CHECK(request_method(REQUEST_MEASURES) == RTSP_GET_PARAMETER);
    CHECK(request_method(REQUEST_TEARDOWN) == RTSP_TEARDOWN);
}
