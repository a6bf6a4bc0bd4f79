// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "player/questions.h"

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
    struct questions q = {};
    struct pending p;
    CHECK(questions_oldest(&q) == nullptr);
    const enum question all[] = {ASK_OPTIONS, ASK_DESCRIBE, ASK_SETUP};
    for (int i = 0; i < 3; i++) {
        struct pending a = asked(all[i], i + 1);
        questions_add(&q, &a);
    }
    CHECK(questions_oldest(&q)->cseq == 1);
    CHECK(questions_waiting(&q, ASK_DESCRIBE));
    CHECK_FALSE(questions_waiting(&q, ASK_PLAY));

    REQUIRE(questions_take(&q, 2, &p));
    CHECK(p.question == ASK_DESCRIBE);
    CHECK_FALSE(questions_take(&q, 2, &p)); // answered twice
    CHECK_FALSE(questions_take(&q, 7, &p)); // never asked
    REQUIRE(questions_take(&q, 1, &p));
    CHECK(questions_oldest(&q)->question == ASK_SETUP);
    REQUIRE(questions_take(&q, 3, &p));
    CHECK(p.asked == 3000);
    CHECK(q.count == 0);
}

TEST_CASE("questions: an answer without a number is to the oldest")
{
    struct questions q = {};
    struct pending p;
    CHECK_FALSE(questions_take(&q, -1, &p));
    for (int cseq : {4, 5}) {
        struct pending a = asked(ASK_SETUP, cseq);
        questions_add(&q, &a);
    }
    REQUIRE(questions_take(&q, -1, &p));
    CHECK(p.cseq == 4);
    REQUIRE(questions_take(&q, 5, &p));
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
