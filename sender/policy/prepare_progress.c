// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/prepare_progress.h"

#include <inttypes.h>
#include <stdio.h>

enum { BAR = 30 };

void prepare_progress_text(const struct prepare_progress *p, int64_t done, bool bar, char *out,
                           size_t cap, usec_t now)
{
    size_t used = 0;
    double seconds = usec_to_sec(now - p->began);
    double rate = seconds > 0 ? (double)(done - p->before) / seconds : 0;
    if (p->total <= 0) {
        snprintf(out, cap, "%" PRId64 " frames  %.1f frames/s", done, rate);
        return;
    }
    if (done > p->total)
        done = p->total;
    if (bar) {
        char text[BAR + 1] = "";
        for (int i = 0; i < BAR; i++)
            text[i] = i < done * BAR / p->total ? '#' : '-';
        used = (size_t)snprintf(out, cap, "[%s] ", text);
    }
    used += (size_t)snprintf(out + used, cap - used, "%3d %%  %.1f frames/s",
                             (int)(done * 100 / p->total), rate);
    if (rate <= 0)
        return;
    int64_t left = (int64_t)((double)(p->total - done) / rate + 0.5);
    snprintf(out + used, cap - used, "  %" PRId64 ":%02d left", left / 60, (int)(left % 60));
}
