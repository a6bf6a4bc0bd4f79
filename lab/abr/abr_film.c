// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/abr/abr_film.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/scan.h"

#define KEPT       0.85
#define DEVIATION  0.45
#define OWN        0.06 // standard deviation of a level's own factor
#define CUT        (1.0 / 6)
#define BASE_DB    7.0
#define DB_PER_2   1.95
#define BASE_BYTES 9000.0
#define TWO_PI     6.283185307179586

enum { GROUP_S = 2, FPS = 30, MAX_SECONDS = 21600, FILM_LEVELS = 7 };

static const int goddard_kbps[FILM_LEVELS] = {80, 120, 240, 320, 640, 960, 1920};
static const int vbr_kbps[FILM_LEVELS] = {145, 250, 400, 620, 950, 1400, 2000};

static double normal(struct rng *r)
{
    double radius = sqrt(-2 * log(1 - rng_unit(r)));
    return radius * cos(TWO_PI * rng_unit(r));
}

static int quality_of(double bytes, double complexity)
{
    double db = BASE_DB + DB_PER_2 * log2(bytes / (complexity * BASE_BYTES)) - log(complexity);
    return (int)round(10 * fmax(0, fmin(db, 25.5)));
}

static void fill(struct abr_film *f, double *complexity, uint64_t seed, const int *kbps)
{
    struct rng r = rng_seeded(seed);
    double x = DEVIATION * normal(&r);
    double sum = 0;
    for (int64_t g = 0; g < f->groups; g++) {
        bool cut = rng_unit(&r) < CUT;
        double fresh = DEVIATION * normal(&r);
        x = cut ? fresh : KEPT * x + sqrt(1 - KEPT * KEPT) * fresh;
        complexity[g] = seed ? exp(x) : 1;
        sum += complexity[g];
    }
    for (int64_t g = 0; g < f->groups; g++) {
        complexity[g] *= (double)f->groups / sum;
        for (int l = 0; l < f->levels; l++) {
            double own = seed ? exp(OWN * normal(&r) - OWN * OWN / 2) : 1;
            double bytes = kbps[l] * 1e3 / 8 * GROUP_S * complexity[g] * own;
            f->bytes[g * f->levels + l] = (int64_t)round(bytes);
        }
    }
}

static int read_name(const char *text, uint64_t *seed)
{
    int64_t number;
    *seed = 0;
    if (strcmp(text, "goddard") == 0)
        return 0;
    if (strncmp(text, "vbr:", 4) != 0)
        return ERR_MALFORMED;
    struct scan s = scan_of(text + 4, strlen(text + 4));
    if (!scan_int(&s, INT64_MAX, &number) || !scan_end(&s) || number < 1)
        return ERR_MALFORMED;
    *seed = (uint64_t)number;
    return 0;
}

int abr_film_init(struct abr_film *f, const char *text, int seconds)
{
    uint64_t seed;
    int err = read_name(text, &seed);
    if (err || seconds < GROUP_S || seconds > MAX_SECONDS)
        return err ? err : ERR_RANGE;
    const int *kbps = seed ? vbr_kbps : goddard_kbps;
    *f = (struct abr_film){.levels = FILM_LEVELS, .groups = seconds / GROUP_S};
    const struct film_shape shape = {.levels = f->levels,
                                     .groups = f->groups,
                                     .group_frames = GROUP_S * FPS,
                                     .last_frames = GROUP_S * FPS,
                                     .fps = {FPS, 1},
                                     .has_quality = seed != 0};
    double *complexity = calloc((size_t)f->groups, sizeof(*complexity));
    f->bytes = calloc((size_t)f->groups * FILM_LEVELS, sizeof(*f->bytes));
    err = complexity && f->bytes ? film_table_new(&shape, &f->table) : ERR_NO_MEMORY;
    if (!err) {
        for (int l = 0; l < f->levels; l++)
            f->bitrates_bps[l] = kbps[l] * 1000;
        fill(f, complexity, seed, kbps);
    }
    for (int64_t i = 0; i < f->groups * f->levels && !err; i++) {
        int64_t group = i / f->levels;
        err = film_table_set(f->table, group, (int)(i % f->levels), (uint64_t)f->bytes[i],
                             quality_of((double)f->bytes[i], complexity[group]));
    }
    free(complexity);
    if (err)
        abr_film_destroy(f);
    return err;
}

void abr_film_destroy(struct abr_film *f)
{
    free(f->bytes);
    film_table_free(f->table);
    *f = (struct abr_film){0};
}
