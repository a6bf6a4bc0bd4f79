// SPDX-License-Identifier: GPL-2.0-or-later
// A forecast of the path's rate from what arrived, with its error.
//
//   Sample     bytes and the time in which they arrived, on the receiver's clock. A sample says
//              what limited it. NETWORK: the sender had data all the time and more room than it
//              used; such a sample says what the path carries. MEDIA: the sender was paced, or had
//              nothing to send; then the path carries at least that much.
//   Mean       samples are gathered to 100 ms or more. Two exponentially weighted means, weighted
//              by duration, with half-lives of 2 and 6 s; the forecast is the lower one, so it
//              falls at once and rises slowly (dash.js; Spiteri, Sitaraman, Sparacio 2019, section
//              5). It is bytes over time: the harmonic mean of the rates of equal amounts.
//   Error      every 2 s of network-limited time the rate of these 2 s is compared with the
//              forecast at their beginning. The error is the largest of the last five,
//              |forecast - rate| / rate, and `low_bps` is forecast / (1 + error) (RobustMPC; Yin,
//              Jindal, Sekar, Sinopoli 2015, section 5.3).
//   Usual      the mean rate of these spans of 2 s; weights halve in ten of them. The forecast
//              counts as two more. Around it the path is taken to vary as an AR(1) process of
//              ln(rate / usual): `spread` is its standard deviation, `persistence` its correlation
//              from one span to the next; of both weights halve in twenty.
//   Media      a media-limited sample above the forecast raises it at once; one of less than half
//              a second that follows a network-limited one only as far as that is above it.
//              Network-limited time lowers that again, with a half-life of .5 s, as far as to its
//              own samples. A sample below the forecast tells nothing.
//   Idle       without network-limited samples the forecast stays. The error widens by .01 a
//              second, up to +1. What is known ages: beside the next sample the means weigh half
//              as much for each 2 s without one, the usual rate for each 4 s. Else a full buffer,
//              which is filled for a second and then waits for several, would learn of a faster
//              path in minutes.
//
// Pure.
#ifndef WEIR_STREAM_ABR_RATE_FORECAST_H
#define WEIR_STREAM_ABR_RATE_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RATE_FORECAST_ERRORS = 5 };

enum rate_limited_by { RATE_LIMIT_NETWORK, RATE_LIMIT_MEDIA };

struct rate_sample {
    int64_t bytes;
    usec_t duration; // the samples of a limit follow each other; > 0
    enum rate_limited_by limit;
};

struct rate_span { // bytes gathered over time
    double bytes;
    double seconds;
};

struct rate_forecast {         // only rate_forecast.c uses the fields
    struct rate_span gathered; // less than a sample's time
    struct rate_span checked;  // since the forecast that is checked next
    double checked_bps;        // that forecast; 0: none
    double means[2];
    double weights[2]; // of all samples; 1: the weight of none is missing
    double errors[RATE_FORECAST_ERRORS];
    int error_count;
    // Sums over the checked spans with falling weights: rates, and squares of ln(rate / usual).
    double usual_weight, usual_sum;
    double off_weight, off_squares, off_products;
    double last_off;   // of the span before
    double raised_bps; // by media-limited samples
    double last_bps;   // of the last sample, if the network limited it; else INFINITY
    usec_t heard;      // the last network-limited sample; USEC_NEVER: none
};

struct rate_estimate {
    bool known; // false: nothing was measured, and all are 0
    double bps;
    double error;
    double low_bps;
    double usual_bps;
    double spread;
    double persistence; // 0 .. .95
    double seconds;     // network-limited time that was measured, at most a minute
};

void rate_forecast_init(struct rate_forecast *f);
void rate_forecast_sample(struct rate_forecast *f, const struct rate_sample *s, usec_t now);
struct rate_estimate rate_forecast_read(const struct rate_forecast *f, usec_t now);

DECLS_END
#endif
