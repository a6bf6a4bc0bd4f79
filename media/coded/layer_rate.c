// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/layer_rate.h"

#include <assert.h>
#include <math.h>

// log2 of bits per qp. The quantiser step doubles every 6 qp (H.264, 8.5.8); the bits fall a little
// faster than the step rises.
#define SLOPE (1.1 / 6)

#define BUCKET_LOW     (-0.04) // s
#define BUCKET_HIGH    0.15    // s
#define BUCKET_HIGH_UP 0.13    // s; bound for layers above T0, which leave the rest to T0
#define PAYBACK        0.8     // s in which a group's excess is paid back
#define LAYER_DISTANCE 2.0     // qp between layers of a group
#define LAYER_NEAREST  (-4.0)  // the same at fine quantisers, if it makes the frames' sizes even
#define EVEN           1.25    // bits of a layer's frame there, of the next layer's, at most
#define FINE_QP        28.0    // finer quantisers are fine ones
#define GROUP_NEAREST  (-2.0)  // min. qp of a group relative to the group below it
#define GROUP_FARTHEST 12.0    // max. qp of a group relative to the group below it
#define GAIN           0.4     // weight of a new measurement of cost

static double level_fps(const struct layer_rate *r, int t)
{
    return r->fps / (1 << (r->layers - 1 - t));
}

// Returns the next group below `group`; -1 = none.
static int group_below(const struct layer_rate *r, int group)
{
    int below = group - 1;
    while (below >= 0 && r->rate[below] <= 0)
        below--;
    return below;
}

static double group_rate(const struct layer_rate *r, int group)
{
    int below = group_below(r, group);
    return r->rate[group] - (below >= 0 ? r->rate[below] : 0);
}

static double group_fps(const struct layer_rate *r, int group)
{
    int below = group_below(r, group);
    return level_fps(r, group) - (below >= 0 ? level_fps(r, below) : 0);
}

void layer_rate_init(struct layer_rate *r, int width, int height, double fps, int layers,
                     const int rate_bps[LEVEL_MAX_LAYERS])
{
    assert(layers >= 1 && layers <= LEVEL_MAX_LAYERS && fps > 0 && rate_bps[layers - 1] > 0);
    *r = (struct layer_rate){.layers = layers, .fps = fps, .last = -1};
    for (int t = 0; t < layers; t++)
        r->rate[t] = rate_bps[t];
    // A level whose rate is at least that of a higher level is no bound: ignore it.
    for (int t = layers - 2; t >= 0; t--)
        for (int up = t + 1; up < layers; up++)
            if (r->rate[up] > 0 && r->rate[t] >= r->rate[up])
                r->rate[t] = 0;
    for (int t = layers - 1; t >= 0; t--)
        r->group[t] = r->rate[t] > 0 ? t : r->group[t + 1];

    // Initial guess: a key frame takes one bit per pixel at qp 28, a P frame a third of that.
    r->key_cost = log2((double)width * height) + 28 * SLOPE;
    for (int t = 0; t < layers; t++) {
        r->cost[t] = r->key_cost - 1.6;
        r->bucket[t] = BUCKET_LOW * r->rate[t];
        r->qp[t] = 30;
    }
}

// A higher rate pays back in less time what a lower one owes. A lower rate would need too long.
static double owed_at(double content, double scale)
{
    return content * (content > 0 ? fmin(scale, 1) : scale);
}

void layer_rate_set(struct layer_rate *r, double top_bps)
{
    assert(top_bps > 0);
    double scale = top_bps / r->rate[r->layers - 1];
    for (int t = 0; t < r->layers; t++) {
        r->rate[t] *= scale;
        r->bucket[t] = owed_at(r->bucket[t], scale);
        r->excess[t] = owed_at(r->excess[t], scale);
    }
}

static void drain(struct layer_rate *r, int64_t index)
{
    double seconds = r->last < 0 ? 1 / r->fps : (double)(index - r->last) / r->fps;
    for (int t = 0; t < r->layers; t++) {
        if (r->rate[t] <= 0)
            continue;
        double rate = group_rate(r, t);
        r->excess[t] -= rate * seconds;
        r->excess[t] = fmax(r->excess[t], rate * (BUCKET_LOW - 1 / group_fps(r, t)));
        // The law bounds the content just after a frame. Here, before the frame, the lower bound is
        // one frame's share less.
        r->bucket[t] -= r->rate[t] * seconds;
        r->bucket[t] = fmax(r->bucket[t], r->rate[t] * (BUCKET_LOW - 1 / level_fps(r, t)));
    }
    r->last = index;
}

static double room_for(const struct layer_rate *r, int temporal_id)
{
    double room = INFINITY;
    for (int t = temporal_id; t < r->layers; t++)
        if (r->rate[t] > 0)
            room = fmin(room, r->rate[t] * (temporal_id > 0 ? BUCKET_HIGH_UP : BUCKET_HIGH) -
                                  r->bucket[t]);
    return fmax(room, 0);
}

// Returns the qp by which layer t of a group is coarser than the group's lowest layer.
static double distance(const struct layer_rate *r, int lowest, int t)
{
    double nearest = LAYER_DISTANCE - (FINE_QP - r->qp[r->group[lowest]]);
    double sum = 0;
    for (int i = lowest + 1; i <= t; i++) {
        double even = (log2(EVEN) - (r->cost[i - 1] - r->cost[i])) / SLOPE;
        sum += fmin(fmax(fmax(even, nearest), LAYER_NEAREST), LAYER_DISTANCE);
    }
    return sum;
}

// Returns the quantiser of the group's lowest layer at which the mean cost of its layers meets the
// group's rate, corrected to pay back the excess.
static double group_qp(const struct layer_rate *r, int group)
{
    int lowest = group_below(r, group) + 1;
    double sum = 0;
    for (int t = lowest; t <= group; t++) {
        double layer_fps = r->fps / (1 << (r->layers - (t > 0 ? t : 1)));
        sum += layer_fps * exp2(r->cost[t] - SLOPE * distance(r, lowest, t));
    }
    double rate = group_rate(r, group);
    // Before a frame, the excess is one frame's share below its value after a frame.
    double owed = r->excess[group] / rate + 1 / group_fps(r, group);
    double target = rate * fmin(fmax(1 - owed / PAYBACK, 0.5), 1.25);
    return (log2(sum) - log2(target)) / SLOPE;
}

static double clip_qp(double qp)
{
    return fmin(fmax(qp, LAYER_RATE_QP_MIN), LAYER_RATE_QP_MAX);
}

static double qp_for_bits(double cost, double bits)
{
    return (cost - log2(fmax(bits, 64))) / SLOPE;
}

double layer_rate_begin(struct layer_rate *r, int64_t index, int temporal_id, bool key)
{
    assert(index > r->last && temporal_id >= 0 && temporal_id < r->layers);
    drain(r, index);
    r->temporal_id = temporal_id;
    r->key = key;
    r->attempts = 0;
    r->room = room_for(r, temporal_id);

    int group = r->group[temporal_id];
    int below = group_below(r, group);
    double base = group_qp(r, group);
    if (below >= 0)
        base = fmin(fmax(base, r->qp[below] + GROUP_NEAREST), r->qp[below] + GROUP_FARTHEST);
    r->qp[group] = clip_qp(base);

    double qp = r->qp[group] + distance(r, below + 1, temporal_id);
    // A key frame gets a finer quantiser than the frames that depend on it, if there is room.
    if (key)
        qp = fmax(qp - 1, qp_for_bits(r->key_cost, 0.8 * r->room));
    else
        qp = fmax(qp, qp_for_bits(r->cost[temporal_id], 0.8 * r->room));
    return clip_qp(qp);
}

bool layer_rate_fits(struct layer_rate *r, double bits, double *qp)
{
    double cost = log2(fmax(bits, 64)) + *qp * SLOPE;
    r->attempts++;
    if (bits > r->room) {
        if (*qp >= LAYER_RATE_QP_MAX)
            return true;
        // The margin grows with each attempt: at coarse quantisers, bits fall slower than modelled.
        double step = qp_for_bits(cost, 0.85 * r->room) - *qp;
        *qp = clip_qp(*qp + fmax(step, 1) * (0.5 + 0.5 * r->attempts));
        return false;
    }
    // The first key frame's cost was a guess. Viewers see the result for a long time, so a key
    // frame that turned out far too small is encoded again.
    if (r->key && !r->key_measured && r->attempts == 1 && bits < 0.5 * r->room) {
        double finer = fmax(qp_for_bits(cost, 0.8 * r->room), 22);
        if (finer < *qp - 1) {
            *qp = clip_qp(finer);
            return false;
        }
    }
    return true;
}

static void learn(double *cost, bool *measured, double seen)
{
    // Limit the effect of a single frame that is unlike the others, such as a scene cut.
    double change = *measured ? fmin(fmax(seen - *cost, -1.5), 1.0) * GAIN : seen - *cost;
    *cost += change;
    *measured = true;
}

void layer_rate_end(struct layer_rate *r, double bits, double qp)
{
    for (int t = r->temporal_id; t < r->layers; t++)
        if (r->rate[t] > 0)
            r->bucket[t] += bits;
    r->excess[r->group[r->temporal_id]] += bits;

    double seen = log2(fmax(bits, 64)) + qp * SLOPE;
    if (r->key)
        learn(&r->key_cost, &r->key_measured, seen);
    else
        learn(&r->cost[r->temporal_id], &r->measured[r->temporal_id], seen);
    // Until a layer has been measured, the first key frame gives the best guess of its cost.
    for (int t = 0; r->key && t < r->layers; t++)
        if (!r->measured[t])
            r->cost[t] = seen - 1.6 - 0.4 * t;
}
