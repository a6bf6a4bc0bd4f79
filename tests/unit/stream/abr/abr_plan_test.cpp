// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>

#include "stream/abr/abr_plan.h"

namespace
{
// Two levels worth 1 and 2; groups of 2 s; the path stays as it is; nothing after the last step.
struct plan {
    std::unique_ptr<abr_plan> p = std::make_unique<abr_plan>();

    plan(int steps, float low_s, float high_s)
    {
        abr_plan_input &in = p->input;
        in.steps = steps;
        in.levels = 2;
        in.length_s = 2;
        in.target_s = 31.5F; // bins of .5 s
        in.stall_cost = 2;
        in.tail = 0;
        in.tail_s = 1;
        in.rest_s = 1000;
        for (int k = 0; k < steps; k++) {
            in.usual_s[k][0] = low_s;
            in.usual_s[k][1] = high_s;
            in.utilities[k][0] = 1;
            in.utilities[k][1] = 2;
        }
        for (int i = 0; i < ABR_PLAN_REGIMES; i++) {
            in.slowdown[i] = 1;
            in.chances[i][i] = 1;
        }
    }
    int best(float before, float buffer_s, float *value = nullptr)
    {
        const abr_plan_now now = {0, before, buffer_s};
        int level = -1;
        abr_plan_solve(p.get());
        float v = abr_plan_best(p.get(), &now, &level);
        if (value)
            *value = v;
        return level;
    }
};
} // namespace

TEST_CASE("abr plan: one group, by hand")
{
    // The high level takes 3 s: 2 - change - 2 x what the buffer lacks.
    const struct {
        float before, buffer;
        int level;
        float value;
    } rows[] = {
        {2, 3, 1, 2},    // nothing lacks
        {2, 2.5F, 1, 1}, // .5 s lack: 2 - 1; down would be 1 - 1
        {2, 2, 0, 0},    // 1 s lacks: 2 - 2 = 0 too; the first of equals
        {1, 3, 0, 1},    // up: 2 - 1; the same, so it stays
        {1, 0, 0, -1},   // the low level takes 1 s
    };
    plan p(1, 1, 3);
    for (const auto &row : rows) {
        CAPTURE(row.before, row.buffer);
        float value = 0;
        CHECK(p.best(row.before, row.buffer, &value) == row.level);
        CHECK(value == Approx(row.value).margin(1e-4));
    }
}

TEST_CASE("abr plan: several groups, by hand")
{
    // A group at the high level drains 1 s. From 6 s four of them leave 2 s. From 5 s the fourth
    // would stall for 1 s, which costs 2, as much as it is worth; a low one is worth 1 - 1.
    plan p(4, 1, 3);
    float value = 0;
    CHECK(p.best(2, 6, &value) == 1);
    CHECK(value == Approx(8));
    CHECK(p.best(2, 5, &value) == 1);
    CHECK(value == Approx(6));
    CHECK(p.best(1, 6, &value) == 1);
    CHECK(value == Approx(7));
}

TEST_CASE("abr plan: a buffer below zero has stalled")
{
    plan p(1, 1, 3);
    float value = 0;
    p.best(1, -1, &value);
    CHECK(value ==
          Approx(1 - 2 * 1 - 2 * 1)); // 1 s before it begins to arrive, 1 s until it is whole
}

TEST_CASE("abr plan: chances are means")
{
    plan p(1, 1, 2);
    p.p->input.slowdown[1] = 3; // the high level then takes 6 s
    p.p->input.chances[0][0] = p.p->input.chances[0][1] = 0.5F;
    abr_plan_solve(p.p.get());
    const abr_plan_now now = {0, 2, 4};
    CHECK(abr_plan_value(p.p.get(), &now, 1) == Approx(2 - 0.5 * 2 * 2));
    // Half way to regime 1, which is slow for sure.
    const abr_plan_now between = {0.5F, 2, 4};
    CHECK(abr_plan_value(p.p.get(), &between, 1) == Approx(2 - 0.75 * 2 * 2));
}

TEST_CASE("abr plan: what the film's end does not need is worth nothing")
{
    for (float rest_s : {1000.0F, 0.0F}) {
        plan p(1, 1, 9);
        p.p->input.tail = 100;
        p.p->input.tail_s = 10;
        p.p->input.rest_s = rest_s;
        CHECK(p.best(2, 10) == (rest_s > 0 ? 0 : 1)); // the higher level costs 8 s of buffer
    }
}

TEST_CASE("abr plan: the most levels and steps, and values that cannot be")
{
    auto p = std::make_unique<abr_plan>();
    abr_plan_input &in = p->input;
    in.steps = ABR_PLAN_STEPS;
    in.levels = LADDER_MAX_LEVELS;
    in.length_s = 2;
    in.target_s = 30;
    in.stall_cost = 1;
    in.tail_s = 1;
    for (int i = 0; i < ABR_PLAN_REGIMES; i++) {
        in.slowdown[i] = 1;
        in.chances[i][i] = 1;
    }
    for (int k = 0; k < in.steps; k++)
        for (int l = 0; l < in.levels; l++) {
            in.utilities[k][l] = (float)(l + 1);
            in.usual_s[k][l] = l % 2 ? 1e9F : 0;
        }
    abr_plan_solve(p.get());
    const abr_plan_now now = {-3, 1, 1e9F};
    int level = -1;
    CHECK(abr_plan_best(p.get(), &now, &level) > 0);
    CHECK(level == LADDER_MAX_LEVELS - 2);
}
