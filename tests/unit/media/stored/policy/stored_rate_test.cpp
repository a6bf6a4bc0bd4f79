// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_rate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace
{
ladder three_layers(std::vector<std::pair<int, int>> levels)
{
    ladder l{};
    l.source_fps = {30, 1};
    l.size_count = 1;
    l.sizes[0] = {640, 360, {30, 1}, 3};
    for (auto [layer, bps] : levels)
        l.levels[l.level_count++] = {0, layer, bps};
    return l;
}

// A model of an encoder whose layers have the given bits at quantiser 26, and half of them
// `halving` above.
struct encoder_model {
    double at_26[3];
    double halving;
    double bits[LEVEL_MAX_LAYERS] = {};
    int attempts = 0;

    void run(stored_rate *r)
    {
        bool taken = false;
        for (attempts = 0; !taken; attempts++) {
            for (int i = 0; i < 3; i++)
                bits[i] = at_26[i] * std::exp2((26 - stored_rate_quant(r, i)) / halving);
            taken = stored_rate_takes(r, bits);
        }
    }
    double kbps(int layer, double seconds) const
    {
        double sum = 0;
        for (int i = 0; i <= layer; i++)
            sum += bits[i];
        return sum / seconds / 1000;
    }
};
} // namespace

TEST_CASE("stored rate: the level's rate is met from above and below")
{
    ladder l = three_layers({{2, 500000}});
    for (double bits : {2e5, 8e5, 95e4, 3e6, 2e7}) {
        for (double halving : {3.2, 4.5, 6.0, 7.0, 11.0}) {
            INFO(bits << " bits, half of them each " << halving);
            stored_rate r;
            stored_rate_init(&r, &l, 0);
            stored_rate_begin(&r, 2);
            encoder_model m = {{bits * 0.6, bits * 0.25, bits * 0.15}, halving};
            m.run(&r);
            CHECK(m.attempts < STORED_RATE_ATTEMPTS);
            CHECK((m.kbps(2, 2) <= 510 || stored_rate_quant(&r, 0) == STORED_RATE_MAX));
            CHECK((m.kbps(2, 2) >= 440 || stored_rate_quant(&r, 0) == STORED_RATE_MIN));
            stored_rate_begin(&r, 2); // the next group is like it
            m.run(&r);
            CHECK(m.attempts == 1);
        }
    }
}

TEST_CASE("stored rate: a lower level's rate limits only its layers")
{
    ladder l = three_layers({{1, 300000}, {2, 500000}});
    stored_rate r;
    stored_rate_init(&r, &l, 0);
    stored_rate_begin(&r, 2);
    encoder_model m = {{6e5, 2e5, 2e5}, 6};
    m.run(&r);
    CHECK(m.kbps(1, 2) <= 306);
    CHECK(m.kbps(1, 2) >= 264);
    CHECK(m.kbps(2, 2) <= 510);
    CHECK(stored_rate_quant(&r, 0) == stored_rate_quant(&r, 1));
    CHECK(stored_rate_quant(&r, 2) < stored_rate_quant(&r, 1));
    CHECK(stored_rate_quant(&r, 2) >= stored_rate_quant(&r, 1) - STORED_RATE_FINER);
}

TEST_CASE("stored rate: one quantiser for all layers unless a lower level is too large")
{
    ladder l = three_layers({{0, 400000}, {2, 500000}});
    stored_rate r;
    stored_rate_init(&r, &l, 0);
    stored_rate_begin(&r, 2);
    encoder_model m = {{12e5, 4e5, 4e5}, 6};
    m.run(&r);
    CHECK(stored_rate_quant(&r, 0) == stored_rate_quant(&r, 2));
    CHECK(m.kbps(2, 2) <= 510);
}

TEST_CASE("stored rate: still pictures use the finest quantiser, noise the rate")
{
    ladder l = three_layers({{2, 500000}});
    stored_rate r;
    stored_rate_init(&r, &l, 0);
    stored_rate_begin(&r, 2);
    encoder_model still = {{2000, 100, 100}, 6};
    still.run(&r);
    CHECK(stored_rate_quant(&r, 0) == STORED_RATE_MIN);
    encoder_model noise = {{1e9, 1e8, 1e8}, 6};
    stored_rate_begin(&r, 2);
    noise.run(&r);
    CHECK(stored_rate_quant(&r, 0) == STORED_RATE_MAX);
    CHECK(noise.attempts <= STORED_RATE_ATTEMPTS);
}

TEST_CASE("stored rate: a group gets no more than the given quantiser needs, and at most the rate")
{
    ladder l = three_layers({{2, 500000}});
    stored_rate r;
    stored_rate_init(&r, &l, 0);
    stored_rate_limit(&r, 30);
    CHECK(stored_rate_quant(&r, 0) == 30);
    struct {
        double bits; // at 26, of a second
        int attempts;
        double least, most; // quantiser
    } const groups[] = {
        {3e5, 1, 30, 30},   // 162 kbit/s at 30
        {1.5e6, 2, 33, 35}, // 810 kbit/s at 30: the rate is met
        {3e5, 2, 30, 30},   // back from there
        {7.6e5, 1, 30, 30}, // 410 kbit/s
    };
    for (auto &g : groups) {
        INFO(g.bits);
        stored_rate_begin(&r, 1);
        encoder_model m = {{g.bits * 0.6, g.bits * 0.25, g.bits * 0.15}, 4.5};
        m.run(&r);
        CHECK(m.attempts == g.attempts);
        CHECK(stored_rate_quant(&r, 0) >= g.least);
        CHECK(stored_rate_quant(&r, 0) <= g.most);
        CHECK(m.kbps(2, 1) <= 510);
    }
    // Within 1 of the finest quantiser nothing is encoded again.
    r.quant[0] = 30.9;
    stored_rate_begin(&r, 1);
    encoder_model easy = {{1e5, 1e4, 1e4}, 4.5};
    easy.run(&r);
    CHECK(easy.attempts == 1);
}
