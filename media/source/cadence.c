// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/cadence.h"

#include <math.h>
#include <stdbool.h>

static const double ROUNDING = 0.2; // of a field; stamps in milliseconds are off by .06
static const double SWING = 1.2;    // fields between the earliest and the latest picture of a block
enum { MAX_STEP = 6, MIN_PART = 8 };

// Film has 24 pictures a second (24000/1001): with 60 fields 5/2 of them each, with 50 25/12.
static double film_step(const struct cadence *c)
{
    return (double)c->fields.num / c->fields.den < 55 ? 25.0 / 12 : 2.5;
}

void cadence_init(struct cadence *c, struct fps fields)
{
    *c = (struct cadence){.fields = fields, .last = USEC_NEVER};
}

void cadence_break(struct cadence *c)
{
    c->last = USEC_NEVER;
    c->count = 0;
}

static void judge(struct cadence *c)
{
    double step = film_step(c), place = 0, early = 0, late = 0;
    bool is_regular = true;
    for (int i = 0; i < CADENCE_BLOCK; i++) {
        place += c->steps[i] - step;
        early = fmin(early, place);
        late = fmax(late, place);
        is_regular &= c->steps[i] > 0;
    }
    if (!is_regular)
        c->irregular++;
    else if (late - early <= SWING)
        c->film++;
    else if (place > -SWING)
        c->broken++;
    else
        c->dense++;
}

void cadence_add(struct cadence *c, usec_t at)
{
    if (c->last != USEC_NEVER) {
        double fields =
            ((double)at - (double)c->last) * c->fields.num / c->fields.den / USEC_PER_SEC;
        bool is_whole =
            fields > 0.5 && fields < MAX_STEP + 0.5 && fabs(fields - round(fields)) <= ROUNDING;
        c->steps[c->count++] = is_whole ? (int)lround(fields) : 0;
        if (c->count == CADENCE_BLOCK) {
            judge(c);
            c->count = 0;
        }
    }
    c->last = at;
}

enum cadence_kind cadence_rate(const struct cadence *c, struct fps *rate)
{
    int64_t whole = c->film + c->broken + c->dense;
    if (!c->film || c->broken > c->film || c->irregular * MIN_PART > whole)
        return CADENCE_NAMED;
    *rate = c->fields;
    if (c->dense)
        return CADENCE_FIELDS;
    bool is_50 = film_step(c) < 2.5; // 24 = 50 * 12 / 25 = 60 * 2 / 5
    rate->num = c->fields.num / (is_50 ? 25 : 5) * (is_50 ? 12 : 2);
    return CADENCE_FILM;
}
