// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/bola.h"

#include <math.h>

void bola_init(struct bola *b, const struct abr_config *config, double lowest)
{
    *b = (struct bola){.levels = film_table_shape(config->table)->levels};
    for (int l = 0; l < b->levels; l++) {
        b->bitrates[l] = config->bitrates_bps[l];
        b->utilities[l] = log(b->bitrates[l] / b->bitrates[0]) + lowest;
    }
}

double bola_score(const struct bola *b, int level, double buffer_s)
{
    return (bola_max_buffer(b, level) - buffer_s) / b->bitrates[level];
}

int bola_level(const struct bola *b, double buffer_s)
{
    int best = 0;
    for (int l = 1; l < b->levels; l++)
        if (bola_score(b, l, buffer_s) > bola_score(b, best, buffer_s))
            best = l;
    return best;
}

double bola_min_buffer(const struct bola *b, int level)
{
    double buffer = 0;
    for (int l = 0; l < level; l++) {
        double rate = b->bitrates[level];
        double even = (rate * b->utilities[l] - b->bitrates[l] * b->utilities[level]) /
                      (rate - b->bitrates[l]);
        buffer = fmax(buffer, b->v * (b->gp + even));
    }
    return buffer;
}

double bola_max_buffer(const struct bola *b, int level)
{
    return b->v * (b->utilities[level] + b->gp);
}
