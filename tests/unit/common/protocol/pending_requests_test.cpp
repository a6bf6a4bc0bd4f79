// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/protocol/pending_requests.h"

static struct pending asked(enum question question, int cseq)
{
    struct pending p = {};
    p.question = question;
    p.cseq = cseq;
    p.asked = 1000 * cseq;
    return p;
}

TEST_CASE("questions: answers are matched by number, in any order")
{
    struct pending_requests q = {};
    struct pending p;
    CHECK(pending_requests_oldest(&q) == nullptr);
    const enum question all[] = {ASK_OPTIONS, ASK_DESCRIBE, ASK_SETUP};
    for (int i = 0; i < 3; i++) {
        struct pending a = asked(all[i], i + 1);
        pending_requests_add(&q, &a);
    }
    CHECK(pending_requests_oldest(&q)->cseq == 1);
    CHECK(pending_requests_waiting(&q, ASK_DESCRIBE));
    CHECK_FALSE(pending_requests_waiting(&q, ASK_PLAY));

    REQUIRE(pending_requests_take(&q, 2, &p));
    CHECK(p.question == ASK_DESCRIBE);
    CHECK_FALSE(pending_requests_take(&q, 2, &p)); // answered twice
    CHECK_FALSE(pending_requests_take(&q, 7, &p)); // never asked
    REQUIRE(pending_requests_take(&q, 1, &p));
    CHECK(pending_requests_oldest(&q)->question == ASK_SETUP);
    REQUIRE(pending_requests_take(&q, 3, &p));
    CHECK(p.asked == 3000);
    CHECK(q.count == 0);
}

TEST_CASE("questions: an answer without a number is to the oldest")
{
    struct pending_requests q = {};
    struct pending p;
    CHECK_FALSE(pending_requests_take(&q, -1, &p));
    for (int cseq : {4, 5}) {
        struct pending a = asked(ASK_SETUP, cseq);
        pending_requests_add(&q, &a);
    }
    REQUIRE(pending_requests_take(&q, -1, &p));
    CHECK(p.cseq == 4);
    REQUIRE(pending_requests_take(&q, 5, &p));
}

TEST_CASE("questions: the method of each")
{
    CHECK(question_method(ASK_OPTIONS) == RTSP_OPTIONS);
    CHECK(question_method(ASK_LEVEL) == RTSP_SET_PARAMETER);
    CHECK(question_method(ASK_ADAPT) == RTSP_SET_PARAMETER);
    CHECK(question_method(ASK_PAIR) == RTSP_SET_PARAMETER);
    CHECK(question_method(ASK_MEASURES) == RTSP_GET_PARAMETER);
    CHECK(question_method(ASK_TEARDOWN) == RTSP_TEARDOWN);
}
