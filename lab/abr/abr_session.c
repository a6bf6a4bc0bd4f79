// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/abr/abr_session.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "lab/abr/abr_delivery.h"

void abr_result_shown(struct abr_result *r, const struct abr_film *f, const uint8_t *levels)
{
    bool quality = film_table_shape(f->table)->has_quality;
    double rates = 0;
    double steps = 0;
    double db = 0;
    double db_steps = 0;
    r->changes = 0;
    for (int64_t g = 0; g < f->groups; g++) {
        double mbit = f->bitrates_bps[levels[g]] / 1e6;
        double before = g ? f->bitrates_bps[levels[g - 1]] / 1e6 : mbit;
        double good = film_table_quality(f->table, g, levels[g]) / 10.0;
        rates += mbit;
        steps += fabs(mbit - before);
        r->changes += mbit != before;
        db += good;
        if (g)
            db_steps += fabs(good - film_table_quality(f->table, g - 1, levels[g - 1]) / 10.0);
    }
    double groups = (double)f->groups;
    double top = f->bitrates_bps[f->levels - 1] / 1e6;
    r->mean_kbps = rates / groups * 1e3;
    r->qoe = (rates - steps - top * r->stalled_s) / groups;
    r->mean_db = quality ? db / groups : (double)NAN;
    r->qoe_ssim = quality ? (db - db_steps - ABR_SSIM_STALL * r->stalled_s) / groups : (double)NAN;
}

int abr_session_run(const struct abr_session *s, struct abr_result *out)
{
    uint8_t *shown = calloc((size_t)s->film->groups, 1);
    if (!shown)
        return ERR_NO_MEMORY;
    *out = (struct abr_result){0};
    int err = s->delivery == ABR_SEGMENTS ? abr_segments_run(s, shown, out)
                                          : abr_stream_run(s, shown, out);
    abr_result_shown(out, s->film, shown);
    free(shown);
    return err;
}
