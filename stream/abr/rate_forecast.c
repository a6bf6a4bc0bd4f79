// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/rate_forecast.h"

#include <assert.h>
#include <math.h>

#define SAMPLE_S        0.1
#define ROUNDING        1e-6 // of a sum of durations
#define CHECK_S         2.0
#define WIDEN_PER_S     0.01
#define WIDEN_MAX       1.0
#define USUAL_KEPT      0.93303 // halves in ten spans
#define OFF_KEPT        0.96594 // halves in twenty
#define RAISED_S        0.5     // half-life of a raise, in network-limited time
#define LONG_S          0.5     // of a sample that is no burst
#define AGED_S          2.0     // half-life of the means' weights without samples
#define USUAL_AGED_S    4.0     // the same of the usual rate's
#define FIRST_SPREAD    0.35    // until spans tell; these weigh as much as two
#define FIRST_KEPT      0.7
#define FIRST_WEIGHT    2.0
#define NOW_WEIGHT      2.0 // of the forecast, in spans, in the usual rate
#define MAX_OFF         2.0 // an outage is one large error, not an infinite one
#define MAX_PERSISTENCE 0.95
#define SECONDS_MAX     60.0
#define MIN_BPS         1000.0 // of a forecast; an outage does not make it zero

static const double half_lives_s[2] = {2, 6};

void rate_forecast_init(struct rate_forecast *f)
{
    *f = (struct rate_forecast){.heard = USEC_NEVER,
                                .last_bps = (double)INFINITY,
                                .off_squares = FIRST_SPREAD * FIRST_SPREAD * FIRST_WEIGHT,
                                .off_products =
                                    FIRST_KEPT * FIRST_SPREAD * FIRST_SPREAD * FIRST_WEIGHT,
                                .off_weight = FIRST_WEIGHT};
}

static double mean_bps(const struct rate_forecast *f)
{
    double low = INFINITY;
    for (int i = 0; i < 2; i++)
        if (f->weights[i] > 0)
            low = fmin(low, f->means[i] / f->weights[i]);
    return isfinite(low) ? fmax(low, MIN_BPS) : 0;
}

static void check(struct rate_forecast *f)
{
    double bps = fmax(8 * f->checked.bytes / f->checked.seconds, MIN_BPS);
    if (f->checked_bps > 0) {
        f->errors[f->error_count++ % RATE_FORECAST_ERRORS] = fabs(f->checked_bps - bps) / bps;
        double usual = f->usual_weight > 0 ? f->usual_sum / f->usual_weight : f->checked_bps;
        double off = fmax(log(bps / usual), -MAX_OFF);
        f->off_squares = f->off_squares * OFF_KEPT + off * off;
        f->off_products = f->off_products * OFF_KEPT + off * f->last_off;
        f->off_weight = f->off_weight * OFF_KEPT + 1;
        f->last_off = off;
        f->usual_sum = f->usual_sum * USUAL_KEPT + bps;
        f->usual_weight = f->usual_weight * USUAL_KEPT + 1;
    }
    f->checked = (struct rate_span){0};
    f->checked_bps = mean_bps(f);
}

// So long no sample was limited by the network: what is known weighs less beside the next one.
static void age(struct rate_forecast *f, double seconds)
{
    double kept = exp2(-seconds / AGED_S), usual_kept = exp2(-seconds / USUAL_AGED_S);
    for (int i = 0; i < 2; i++) {
        f->means[i] *= kept;
        f->weights[i] *= kept;
    }
    f->usual_sum *= usual_kept;
    f->usual_weight *= usual_kept;
}

static void add(struct rate_forecast *f, const struct rate_span *s, usec_t now)
{
    double bps = 8 * s->bytes / s->seconds;
    if (f->heard != USEC_NEVER)
        age(f, fmax(usec_to_sec(now - f->heard) - s->seconds, 0));
    f->heard = now;
    for (int i = 0; i < 2; i++) {
        double kept = exp2(-s->seconds / half_lives_s[i]);
        f->means[i] = f->means[i] * kept + bps * (1 - kept);
        f->weights[i] = f->weights[i] * kept + 1 - kept;
    }
    if (bps < f->raised_bps)
        f->raised_bps = bps + (f->raised_bps - bps) * exp2(-s->seconds / RAISED_S);
    f->checked.bytes += s->bytes;
    f->checked.seconds += s->seconds;
    if (f->checked.seconds > CHECK_S - ROUNDING || f->checked_bps <= 0)
        check(f);
}

// Of a short sample the clock's steps and the bursts of the network are the greater part. After a
// network-limited sample it may be what waited for a lost packet, and comes at once.
static void raise_forecast(struct rate_forecast *f, double bps, double seconds)
{
    if (seconds < LONG_S)
        bps = fmin(bps, f->last_bps);
    if (seconds >= SAMPLE_S)
        f->raised_bps = fmax(f->raised_bps, bps);
}

void rate_forecast_sample(struct rate_forecast *f, const struct rate_sample *s, usec_t now)
{
    assert(s->bytes >= 0 && s->duration > 0);
    double seconds = usec_to_sec(s->duration);
    double bps = 8 * (double)s->bytes / seconds;
    if (s->limit == RATE_LIMIT_MEDIA)
        raise_forecast(f, bps, seconds);
    f->last_bps = s->limit == RATE_LIMIT_MEDIA ? (double)INFINITY : bps;
    if (s->limit == RATE_LIMIT_MEDIA)
        return;
    f->gathered.bytes += (double)s->bytes;
    f->gathered.seconds += seconds;
    if (f->gathered.seconds > SAMPLE_S - ROUNDING) {
        add(f, &f->gathered, now);
        f->gathered = (struct rate_span){0};
    }
}

struct rate_estimate rate_forecast_read(const struct rate_forecast *f, usec_t now)
{
    double bps = mean_bps(f);
    double idle = f->heard == USEC_NEVER ? 0 : usec_to_sec(usec_max(now - f->heard, 0));
    if (bps <= 0 && f->raised_bps <= 0)
        return (struct rate_estimate){0};
    double error = 0;
    for (int i = 0; i < RATE_FORECAST_ERRORS && i < f->error_count; i++)
        error = fmax(error, f->errors[i]);
    if (f->error_count == 0)
        error = FIRST_SPREAD;
    error += fmin(WIDEN_PER_S * idle, WIDEN_MAX);
    bps = fmax(bps, f->raised_bps);
    double kept = f->off_products / f->off_squares;
    double seconds = f->weights[1] < 1 ? -half_lives_s[1] * log2(1 - f->weights[1]) : SECONDS_MAX;
    return (struct rate_estimate){.known = true,
                                  .bps = bps,
                                  .error = error,
                                  .low_bps = bps / (1 + error),
                                  .usual_bps = (f->usual_sum + NOW_WEIGHT * bps) /
                                               (f->usual_weight + NOW_WEIGHT),
                                  .spread = sqrt(f->off_squares / f->off_weight),
                                  .persistence = fmax(0, fmin(kept, MAX_PERSISTENCE)),
                                  .seconds = fmin(seconds, SECONDS_MAX)};
}
