// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "lab/abr/abr_optimum.h"
#include "lab/abr/abr_session.h"
#include "tests/support/failing_alloc.hpp"
#include "tests/support/sanitized.hpp"

namespace
{
const usec_t sec = USEC_PER_SEC;

const struct {
    const char *name, *text;
} paths[] = {
    {"steady", "0 1.5\n10 1.5\n"},
    {"step", "0 4\n30 1\n60 4\n90 4\n"},
    {"stairs", "0 .3\n20 .6\n40 1.2\n60 2.4\n80 1.2\n100 .6\n120 .6\n"},
    {"noise", "0 .9\n2 2.1\n4 .4\n6 1.7\n8 1.1\n10 3\n12 .6\n14 1.4\n16 .2\n18 2.5\n20 1.9\n22 .8\n"
              "24 .5\n26 1.3\n28 2.8\n30 .7\n"},
    {"outage", "0 2\n25 .05\n37 2\n60 2\n"},
    {"slow", "0 .25\n15 .09\n30 .35\n45 .35\n"},
};

struct path {
    rate_trace trace{};

    explicit path(const std::string &name)
    {
        int line;
        for (const auto &p : paths)
            if (name == p.name)
                REQUIRE(rate_trace_parse(p.text, strlen(p.text), &trace, &line) == 0);
    }
    ~path()
    {
        rate_trace_destroy(&trace);
    }
    path(const path &) = delete;
    path &operator=(const path &) = delete;
};

struct film {
    abr_film f{};

    explicit film(const char *name, int seconds = 600)
    {
        REQUIRE(abr_film_init(&f, name, seconds) == 0);
    }
    ~film()
    {
        abr_film_destroy(&f);
    }
    film(const film &) = delete;
    film &operator=(const film &) = delete;

    abr_result view(const char *policy, const path &over, abr_delivery delivery,
                    usec_t target) const
    {
        abr_config config{};
        config.table = f.table;
        config.target = target;
        memcpy(config.bitrates_bps, f.bitrates_bps, sizeof(config.bitrates_bps));
        abr_session s{};
        s.film = &f;
        s.trace = &over.trace;
        REQUIRE(abr_policy_new(policy, &config, &s.policy) == 0);
        s.delivery = delivery;
        s.rtt = 50 * USEC_PER_MSEC;
        s.target = target;
        s.kernel_bytes = 12500;
        abr_result r;
        REQUIRE(abr_session_run(&s, &r) == 0);
        abr_policy_free(s.policy);
        return r;
    }
};
} // namespace

// By Sabre (github.com/UMass-LIDS/sabre, 09b03bb): -a bolae, dynamic and throughput, -b 25, 300
// segments of 2 s of exactly the seven levels' bitrates, a latency of 50 ms. QoE is MPC's, of its
// totals.
TEST_CASE("abr session: the reference policies do what Sabre's do")
{
    const struct {
        const char *path, *policy;
        double kbps, stalled_s, qoe;
    } rows[] = {
        {"steady", "bola-e", 1443.5, 0, .5509},     {"steady", "dynamic", 1450.9, 0, .6789},
        {"steady", "throughput", 957.1, 0, .9541},  {"step", "bola-e", 1753.9, 0, 1.7157},
        {"step", "dynamic", 1709.1, 0, 1.6709},     {"step", "throughput", 1780.5, 0, 1.7317},
        {"stairs", "bola-e", 918.1, 0, .8331},      {"stairs", "dynamic", 910.7, 0, .7792},
        {"stairs", "throughput", 483.5, 0, .4637},  {"noise", "bola-e", 1298.4, 0, .8293},
        {"noise", "dynamic", 1202.4, 0, .7387},     {"noise", "throughput", 900.5, 0, .8229},
        {"outage", "bola-e", 1594.9, 7.24, 1.4515}, {"outage", "dynamic", 1595.2, 0, 1.5069},
        {"outage", "throughput", 941.1, 0, .9253},  {"slow", "bola-e", 243.6, 0, .2244},
        {"slow", "dynamic", 234.0, 0, .2161},       {"slow", "throughput", 113.5, 0, .1099},
    };
    const film f("goddard");
    for (const auto &row : rows) {
        CAPTURE(row.path, row.policy);
        const path p(row.path);
        const abr_result r = f.view(row.policy, p, ABR_SEGMENTS, 25 * sec);
        CHECK(r.complete);
        CHECK(r.mean_kbps == Approx(row.kbps).epsilon(0.015));
        CHECK(r.stalled_s == Approx(row.stalled_s).margin(0.05));
        CHECK(r.qoe == Approx(row.qoe).epsilon(0.018));
    }
}

TEST_CASE("abr session: QoE by hand")
{
    const film f("goddard", 8);
    const uint8_t levels[] = {0, 6, 6, 5};
    abr_result r{};
    r.stalled_s = 0.5;
    abr_result_shown(&r, &f.f, levels);
    CHECK(r.mean_kbps == Approx((80 + 1920 + 1920 + 960) / 4.0));
    CHECK(r.changes == 2);
    CHECK(r.qoe == Approx((.08 + 1.92 + 1.92 + .96 - 1.84 - .96 - 1.92 * .5) / 4));
    CHECK(std::isnan(r.qoe_ssim));
}

TEST_CASE("abr session: a stream begins at once, and no policy beats the optimum")
{
    const film f("goddard");
    for (int n = 0; n < seeds_of((int)std::size(paths)); n++) {
        CAPTURE(paths[n].name);
        const path p(paths[n].name);
        abr_optimum best;
        REQUIRE(abr_optimum_find(&f.f, &p.trace, 50 * USEC_PER_MSEC, 30 * sec, &best) == 0);
        for (int i = 0; abr_policy_name(i); i++) {
            const bool segments = std::string(abr_policy_name(i)) != "auto";
            const abr_result r =
                f.view(abr_policy_name(i), p, segments ? ABR_SEGMENTS : ABR_STREAM, 30 * sec);
            CAPTURE(abr_policy_name(i));
            CHECK(r.complete);
            CHECK(r.qoe <= best.qoe + 0.001);
            CHECK(r.first_picture_s < 1);
            CHECK(r.wasted_bytes < r.bytes / 5 + 1000000);
        }
    }
}

TEST_CASE("abr session: a path that ends within a group")
{
    // 2 Mbit/s, then 20 kbit/s for 25 s, again and again: of a group at the top level that has just
    // begun, the rest would take minutes. It is cut off, and what the buffer has is played on.
    const film f("goddard");
    rate_trace t{};
    const char text[] = "0 2\n31 .02\n56 2\n87 2\n";
    int line;
    REQUIRE(rate_trace_parse(text, strlen(text), &t, &line) == 0);
    path p("steady");
    std::swap(p.trace, t);
    rate_trace_destroy(&t);
    const abr_result r = f.view("auto", p, ABR_STREAM, 30 * sec);
    CHECK(r.complete);
    CHECK(r.cuts > 0);
    CHECK(r.wasted_bytes < r.bytes / 10);
    CHECK(r.stalled_s < 40); // of 250 s of outages
    CHECK(r.mean_kbps > 700);
}

TEST_CASE("abr session: auto is above the reference policies on these paths")
{
    const film f("goddard");
    double own = 0;
    double others[2] = {};
    for (const auto &row : paths) {
        const path p(row.name);
        own += f.view("auto", p, ABR_STREAM, 30 * sec).qoe;
        others[0] += f.view("bola-e", p, ABR_SEGMENTS, 30 * sec).qoe;
        others[1] += f.view("robust-mpc", p, ABR_SEGMENTS, 30 * sec).qoe;
    }
    CHECK(own > others[0]);
    CHECK(own > others[1]);
}

TEST_CASE("abr session: the same words give the same figures; films of varying sizes have quality")
{
    const film f("vbr:3");
    const path p("noise");
    const abr_result a = f.view("auto", p, ABR_STREAM, 30 * sec);
    const abr_result b = f.view("auto", p, ABR_STREAM, 30 * sec);
    CHECK(a.qoe_ssim == b.qoe_ssim);
    CHECK(a.mean_db > 10);
    CHECK(a.mean_db < 20);
    for (int l = 0; l < f.f.levels; l++)
        CHECK(film_table_mean_bps(f.f.table, l) == Approx(f.f.bitrates_bps[l]).epsilon(0.03));
}

TEST_CASE("abr optimum: by hand, on a steady path of 1.5 Mbit/s")
{
    // The mean rate cannot exceed the path's by more than the buffer that the first second gave,
    // and each film below the top has a share at 960 kbit/s: x at 1920 and 1 - x at 960 is at
    // most 1.5.
    const film f("goddard");
    const path p("steady");
    abr_optimum best;
    REQUIRE(abr_optimum_find(&f.f, &p.trace, 50 * USEC_PER_MSEC, 30 * sec, &best) == 0);
    CHECK(best.min_stalled_s == 0);
    CHECK(best.stalled_s == 0);
    CHECK(best.qoe > 1.45);
    CHECK(best.qoe < 1.5 * 1.01);
}

TEST_CASE("abr session, and the optimum: without memory there is no result")
{
    const film f("goddard", 20);
    const path steady("steady");
    abr_config config{};
    config.table = f.f.table;
    config.target = 30 * sec;
    memcpy(config.bitrates_bps, f.f.bitrates_bps, sizeof(config.bitrates_bps));
    for (abr_delivery delivery : {ABR_STREAM, ABR_SEGMENTS})
        for (int n = 0;; n++) {
            CAPTURE(delivery, n);
            abr_session s{};
            s.film = &f.f;
            s.trace = &steady.trace;
            REQUIRE(abr_policy_new("bola-e", &config, &s.policy) == 0);
            s.delivery = delivery;
            s.rtt = 50 * USEC_PER_MSEC;
            s.target = 30 * sec;
            s.kernel_bytes = 12500;
            abr_result r;
            failing_alloc_set(n);
            const int err = abr_session_run(&s, &r);
            const bool failed = failing_alloc_end();
            abr_policy_free(s.policy);
            CHECK(err == (failed ? ERR_NO_MEMORY : 0));
            if (!failed)
                break;
        }
    for (int n = 0;; n++) {
        CAPTURE(n);
        abr_optimum o;
        failing_alloc_set(n);
        const int err = abr_optimum_find(&f.f, &steady.trace, 50 * USEC_PER_MSEC, 30 * sec, &o);
        const bool failed = failing_alloc_end();
        CHECK(err == (failed ? ERR_NO_MEMORY : 0));
        if (!failed)
            break;
    }
}
