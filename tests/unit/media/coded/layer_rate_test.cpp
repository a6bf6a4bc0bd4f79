// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/layer_rate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "common/base/rng.h"

namespace
{

// A model of an encoder: bits halve every 6 qp, at coarse quantisers every 8; each frame has some
// noise.
struct fake_encoder {
    rng random = rng_seeded(1);
    double cost[LEVEL_MAX_LAYERS + 1] = {18, 17, 16.5, 16,
                                         20}; // log2 bits at qp 0; the last: key frames
    double noise = 0.3;                       // log2
    int calls = 0;

    double frame(const layer_rate *r, int tid, bool key, double *qp, layer_rate *rate)
    {
        (void)r;
        double base = cost[key ? LEVEL_MAX_LAYERS : tid] + noise * (2 * rng_unit(&random) - 1);
        for (;;) {
            calls++;
            double bits = std::exp2(base - std::min(*qp, 40.0) / 6 - std::max(*qp - 40, 0.0) / 8);
            double next = *qp;
            if (layer_rate_fits(rate, bits, &next))
                return bits;
            *qp = next;
        }
    }
};

struct run_t {
    std::vector<double> bits;
    std::vector<int> tid;
    std::vector<double> qp;
};

run_t run(layer_rate *r, fake_encoder *e, int64_t from, int64_t frames, int64_t key_every)
{
    run_t out;
    for (int64_t m = from; m < from + frames; m++) {
        int tid = layer_temporal_id(m, r->layers);
        bool key = m == 0 || (key_every && tid == 0 && m % key_every < 1 << (r->layers - 1));
        double qp = layer_rate_begin(r, m, tid, key);
        double bits = e->frame(r, tid, key, &qp, r);
        layer_rate_end(r, bits, qp);
        out.bits.push_back(bits);
        out.tid.push_back(tid);
        out.qp.push_back(qp);
    }
    return out;
}

void check_windows(const run_t &run, double fps, int tid, double bps, double low, double high)
{
    size_t n = (size_t)std::lrint(2 * fps);
    double lowest = 1e9, highest = 0;
    for (size_t i = 0; i + n <= run.bits.size(); i++) {
        double sum = 0;
        for (size_t j = i; j < i + n; j++)
            sum += run.tid[j] <= tid ? run.bits[j] : 0;
        lowest = std::min(lowest, sum / (2 * bps));
        highest = std::max(highest, sum / (2 * bps));
    }
    INFO("layer " << tid << " of " << bps << " bit/s: " << lowest << " .. " << highest);
    CHECK(lowest >= low);
    CHECK(highest <= high);
}

} // namespace

TEST_CASE("levels keep their rate over 2 s, whatever their layers cost")
{
    struct {
        double fps;
        int layers;
        int bps[LEVEL_MAX_LAYERS];
        double cost[LEVEL_MAX_LAYERS + 1];
        int64_t key_every;
        double lowest;
    } table[] = {
        {15, 2, {80000, 120000}, {18, 17, 0, 0, 20}, 0, 0.9},
        {15, 2, {80000, 120000}, {18, 17, 0, 0, 20}, 31, 0.9},
        {15, 2, {80000, 120000}, {18, 15.5, 0, 0, 21}, 31, 0.7}, // an upper layer too easy for its
                                                                 // share
        {30, 2, {240000, 320000}, {18, 17.5, 0, 0, 21}, 47, 0.9},
        {30, 2, {0, 1920000}, {20, 19, 0, 0, 23}, 35, 0.9},
        {30, 3, {480000, 700000, 960000}, {20, 19, 18, 0, 22}, 40, 0.9},
        {30, 1, {500000}, {19, 0, 0, 0, 22}, 33, 0.9},
        {60, 4, {0, 700000, 0, 1100000}, {20, 19, 18, 17, 22}, 100, 0.9},
    };
    for (auto &row : table) {
        layer_rate r;
        layer_rate_init(&r, 320, 180, row.fps, row.layers, row.bps);
        fake_encoder e;
        std::copy(row.cost, row.cost + LEVEL_MAX_LAYERS + 1, e.cost);
        run_t all = run(&r, &e, 0, 600, row.key_every);
        for (int t = 0; t < row.layers; t++)
            if (row.bps[t])
                check_windows(all, row.fps, t, row.bps[t], row.lowest, 1.10);
        CHECK(e.calls < 700); // hardly any frame is made twice
    }
}

TEST_CASE("the upper bound holds when the content becomes eight times as hard, frame by frame or "
          "for good")
{
    int bps[LEVEL_MAX_LAYERS] = {80000, 120000};
    layer_rate r;
    layer_rate_init(&r, 256, 144, 15, 2, bps);
    fake_encoder e;
    run_t all = run(&r, &e, 0, 101, 0);
    auto more = [&](int64_t from, int64_t frames, double harder) {
        for (double &c : e.cost)
            c += harder;
        run_t part = run(&r, &e, from, frames, 0);
        all.bits.insert(all.bits.end(), part.bits.begin(), part.bits.end());
        all.tid.insert(all.tid.end(), part.tid.begin(), part.tid.end());
    };
    more(101, 1, 3);
    more(102, 50, -3);
    more(152, 100, 3);
    check_windows(all, 15, 0, 80000, 0.75, 1.10);
    check_windows(all, 15, 1, 120000, 0.75, 1.10);
}

TEST_CASE("easy content is not encoded finer than the finest quantiser and saves no credit")
{
    int bps[LEVEL_MAX_LAYERS] = {80000, 120000};
    layer_rate r;
    layer_rate_init(&r, 256, 144, 15, 2, bps);
    fake_encoder e;
    e.cost[0] = e.cost[1] = e.cost[4] = 12;
    run_t easy = run(&r, &e, 0, 150, 0);
    CHECK(easy.qp.back() == LAYER_RATE_QP_MIN);
    e.cost[0] = 18;
    e.cost[1] = 17;
    run_t hard = run(&r, &e, 150, 150, 0);
    check_windows(hard, 15, 0, 80000, 0.75, 1.10);
    check_windows(hard, 15, 1, 120000, 0.75, 1.10);
}

TEST_CASE("layers of one group keep a distance of 2; higher groups are hardly finer")
{
    int bps[LEVEL_MAX_LAYERS] = {0, 0, 900000};
    layer_rate r;
    layer_rate_init(&r, 640, 360, 30, 3, bps);
    fake_encoder e;
    e.noise = 0;
    for (double &c : e.cost)
        c += 4; // quantisers that are coarse
    run_t one = run(&r, &e, 0, 400, 0);
    for (size_t i = 396; i < 400; i++)
        CHECK(one.qp[i] - one.qp[396] == Approx(2 * one.tid[i]).margin(0.5));

    int two[LEVEL_MAX_LAYERS] = {300000, 900000};
    layer_rate_init(&r, 640, 360, 30, 2, two); // more for the upper layer than it can use
    run_t flat = run(&r, &e, 0, 400, 0);
    CHECK(flat.qp[399] >= flat.qp[398] - 3);
}

TEST_CASE("at fine quantisers the frames of a group's layers are of even size")
{
    int bps[LEVEL_MAX_LAYERS] = {0, 1920000};
    struct {
        double cost[2]; // log2 bits at qp 0; 8 kB a frame are 2^16 bits
        double ratio;   // of the bits of a T0 frame and a T1 frame
    } table[] = {
        {{20.0, 19.35}, 1.25}, // qp 22, as the test picture
        {{20.4, 19.75}, 1.45}, // qp 25: half of the way
        {{19.5, 19.5}, 1.26},  // of the usual distance, 2 qp
        {{19.8, 17.8}, 2.65},  // at the nearest distance, -4 qp
        {{21.9, 21.2}, 2.05},  // qp 33: coarse; the usual distance
    };
    for (auto &row : table) {
        layer_rate r;
        layer_rate_init(&r, 1280, 720, 30, 2, bps);
        fake_encoder e;
        e.noise = 0;
        std::copy(row.cost, row.cost + 2, e.cost);
        run_t all = run(&r, &e, 0, 300, 0);
        INFO("costs " << row.cost[0] << ", " << row.cost[1] << ": qp " << all.qp[298] << ", "
                      << all.qp[299]);
        CHECK(all.bits[298] / all.bits[299] == Approx(row.ratio).epsilon(0.05));
        check_windows(all, 30, 1, 1920000, 0.9, 1.1);
    }
}

TEST_CASE("a new rate keeps the proportion of the levels")
{
    int bps[LEVEL_MAX_LAYERS] = {80000, 120000};
    layer_rate r;
    layer_rate_init(&r, 256, 144, 15, 2, bps);
    fake_encoder e;
    run(&r, &e, 0, 100, 0);
    layer_rate_set(&r, 60000);
    run_t half = run(&r, &e, 100, 150, 0);
    check_windows(half, 15, 0, 40000, 0.90, 1.10);
    check_windows(half, 15, 1, 60000, 0.90, 1.10);
}

TEST_CASE("a rate that the coarsest quantiser exceeds does not keep the picture coarse afterwards")
{
    const int bps[] = {640000, 960000};
    layer_rate r;
    layer_rate_init(&r, 1280, 720, 30, 2, bps);
    fake_encoder e;
    run(&r, &e, 0, 100, 0);
    layer_rate_set(&r, 4000);
    run_t low = run(&r, &e, 100, 20, 0);
    CHECK(low.qp.back() == LAYER_RATE_QP_MAX);
    layer_rate_set(&r, 600000);
    run_t after = run(&r, &e, 120, 30, 0);
    int coarse = 0; // frames
    for (double qp : after.qp)
        coarse += qp > 45;
    CHECK(coarse < 6);
    check_windows(run(&r, &e, 150, 100, 0), 30, 1, 600000, 0.88, 1.12);
}
