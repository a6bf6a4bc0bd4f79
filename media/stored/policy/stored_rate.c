// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_rate.h"

#include <assert.h>
#include <math.h>

#define FIRST   26.0 // initial quantiser
#define HALVING 6.0  // initial quantiser difference that halves the bits
#define LEAST   0.01 // min. share of a part's own rate, if the parts below it take all
// Of a size with a finest quantiser, which is near the right one:
#define NEAR            1.0 // that a group may be above it
#define LIMITED_BELOW   0.25
#define LIMITED_HALVING 4.5

void stored_rate_init(struct stored_rate *r, const struct ladder *ladder, int size_id)
{
    int layers = ladder->sizes[size_id].layers;
    *r = (struct stored_rate){0};
    for (int layer = 0; layer < layers; layer++) {
        r->part_of[layer] = r->parts;
        for (int l = 0; l < ladder->level_count; l++)
            if (ladder->levels[l].size_id == size_id && ladder->levels[l].temporal_id == layer)
                r->rate[r->parts++] = ladder->levels[l].bitrate_bps;
    }
    assert(r->parts > 0);
    // No viewer receives layers above the highest level; they belong to the highest part.
    for (int layer = 0; layer < layers; layer++)
        if (r->part_of[layer] == r->parts)
            r->part_of[layer] = r->parts - 1;
    for (int part = 0; part < r->parts; part++)
        r->quant[part] = FIRST;
    r->finest = STORED_RATE_MIN;
    r->below = STORED_RATE_BELOW;
    r->halving = HALVING;
}

void stored_rate_limit(struct stored_rate *r, double finest)
{
    assert(finest >= STORED_RATE_MIN && finest <= STORED_RATE_MAX);
    r->finest = finest;
    r->near = NEAR;
    r->below = LIMITED_BELOW;
    r->halving = LIMITED_HALVING;
    for (int part = 0; part < r->parts; part++)
        r->quant[part] = finest;
}

void stored_rate_begin(struct stored_rate *r, double seconds)
{
    r->seconds = seconds;
    r->attempts = 0;
}

double stored_rate_quant(const struct stored_rate *r, int layer)
{
    return r->quant[r->part_of[layer]];
}

// Returns the quantiser at which parts `from` .. `to` have `bits` together.
static double quant_for(const struct stored_rate *r, const double part_bits[], int from, int to,
                        double bits)
{
    double at_zero = 0;
    for (int i = from; i <= to; i++)
        at_zero += part_bits[i] * exp2(r->quant[i] / r->halving);
    return r->halving * log2(at_zero / bits);
}

// Measures `halving` from two attempts whose quantisers differ enough.
static void learn(struct stored_rate *r, double bits)
{
    double coarser = r->quant[0] - r->quant_before;
    if (r->attempts > 0 && fabs(coarser) >= 1 && bits != r->bits_before) {
        double halving = coarser / log2(r->bits_before / bits);
        r->halving = fmin(fmax(halving, HALVING / 2), HALVING * 2);
    }
    r->quant_before = r->quant[0];
    r->bits_before = bits;
}

// Chooses the next quantisers, from the lowest part up. All parts up to the level that needs the
// coarsest quantiser get that one; then the parts above it follow in the same way.
static void adjust(struct stored_rate *r, const double part_bits[])
{
    double next[LEVEL_MAX_LAYERS];
    double spent = 0, aim = 1 - r->below / 2; // as a part of the rate
    for (int from = 0; from < r->parts;) {
        int tightest = from;
        double quant = -INFINITY;
        for (int to = from; to < r->parts; to++) {
            double room = aim * r->rate[to] * r->seconds;
            double wanted = quant_for(r, part_bits, from, to, fmax(room - spent, LEAST * room));
            tightest = wanted > quant ? to : tightest;
            quant = fmax(quant, wanted);
        }
        if (from > 0)
            quant = fmax(quant, next[from - 1] - STORED_RATE_FINER);
        quant = fmin(fmax(quant, r->finest), STORED_RATE_MAX);
        while (from <= tightest)
            next[from++] = quant;
        spent = aim * r->rate[tightest] * r->seconds;
    }
    for (int i = 0; i < r->parts; i++)
        r->quant[i] = next[i];
}

bool stored_rate_takes(struct stored_rate *r, const double bits[LEVEL_MAX_LAYERS])
{
    double part_bits[LEVEL_MAX_LAYERS] = {0};
    for (int layer = 0; layer < LEVEL_MAX_LAYERS; layer++)
        part_bits[r->part_of[layer]] += bits[layer];
    double used = 0, sum = 0;
    bool finest = true;
    for (int i = 0; i < r->parts; i++) {
        part_bits[i] = fmax(part_bits[i], 1);
        sum += part_bits[i];
        used = fmax(used, sum / (r->rate[i] * r->seconds));
        finest &= r->quant[i] <= r->finest + r->near;
    }
    bool above = used > 1 + STORED_RATE_ABOVE, coarsest = r->quant[0] >= STORED_RATE_MAX;
    bool fits = above ? coarsest : used >= 1 - r->below || finest;
    learn(r, part_bits[0]);
    if (fits || ++r->attempts == STORED_RATE_ATTEMPTS)
        return true;
    adjust(r, part_bits);
    return false;
}
