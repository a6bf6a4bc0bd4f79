// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the readers of link_spec's syntax (links, simulated flows): parts of a list, quantities
// with units, and the error line PART: 'WORD' is not ALLOWED.
#ifndef WEIR_LINK_LINK_SPEC_READ_H
#define WEIR_LINK_LINK_SPEC_READ_H

#include "common/base/decls.h"
#include "common/base/scan.h"
#include "lab/link/link_spec.h"

DECLS_BEGIN

struct spec_reader {
    struct link_spec *spec; // borrowed
    bool is_change;         // true while link_change_parse reads
    struct scan part;       // the current KEY=VALUE
    char *error;            // borrowed
    size_t error_cap;
};

struct spec_unit {
    const char *name; // NULL ends a list of units
    double factor;
};

struct spec_quantity {
    const struct spec_unit *units; // static
    double min, max;               // in the unit with factor 1
    bool or_zero;                  // true: 0 is allowed although it is below `min`
    const char *allowed;           // static; the allowed values, for the error line
};

extern const struct spec_quantity spec_time;          // in microseconds
extern const struct spec_quantity spec_time_positive; // in microseconds, at least 1
extern const struct spec_quantity spec_interval;      // in microseconds, at least 100
extern const struct spec_quantity spec_schedule_time;
extern const struct spec_quantity spec_rate; // in bit/s
extern const struct spec_quantity spec_rate_or_zero;
extern const struct spec_quantity spec_percent;
extern const struct spec_quantity spec_bytes;
extern const struct spec_quantity spec_overhead;
extern const struct spec_quantity spec_packets;
extern const struct spec_quantity spec_queue_time;
extern const struct spec_quantity spec_weight;
extern const struct spec_quantity spec_gain;

struct spec_excerpt {
    char text[48];
};

// Returns the beginning of `s`, with unprintable characters replaced.
struct spec_excerpt spec_excerpt(struct scan s);

// Writes the error line. Returns `err`.
__attribute__((format(printf, 3, 4))) int spec_fail(struct spec_reader *r, int err,
                                                    const char *format, ...);

// Takes the next part of a list whose parts are separated by `c`; empty parts count. Returns false
// after the last part: `s->at` is then NULL.
static inline bool spec_take(struct scan *s, char c, struct scan *part)
{
    if (!s->at)
        return false;
    const char *found = scan_end(s) ? NULL : (const char *)memchr(s->at, c, scan_left(s));
    part->at = s->at;
    part->end = found ? found : s->end;
    s->at = found ? found + 1 : NULL;
    return true;
}

// Reads `value`, which must be exactly a number and one of q's units (a plain 0 needs none).
// Returns 0; ERR_MALFORMED, ERR_RANGE with the error line.
int spec_read(struct spec_reader *r, struct scan value, const struct spec_quantity *q, double *out);
int spec_read_time(struct spec_reader *r, struct scan value, const struct spec_quantity *q,
                   usec_t *out);
// Reads a percentage, returns a probability.
int spec_read_probability(struct spec_reader *r, struct scan value, double *out);

// Reads the value of queue=: KIND[:LIMIT][:KEY=VALUE...], into r->spec->queue and as_time.
int spec_read_queue(struct spec_reader *r, struct scan value);
// Reads the value of loss=.
int spec_read_loss(struct spec_reader *r, struct scan value);

DECLS_END
#endif
