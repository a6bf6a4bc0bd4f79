// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/watch/watch.h"

#include <inttypes.h>
#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "lab/watch/clip.h"
#include "lab/watch/numbering.h"
#include "media/pattern/pattern_picture.h"
#include "player/compare/picture_compare.h"

#define GRACE (10 * USEC_PER_SEC) // time for pending comparisons after the last picture

struct watch {
    struct picture_compare *measure; // owned
    FILE *out;                       // borrowed; two threads write lines, each with one call
    struct numbering numbering;
    uint64_t pictures;
};

// Called on the measuring thread.
static bool on_measured(void *ctx, const struct measured *m)
{
    struct watch *w = ctx;
    return fprintf(w->out,
                   "{\"event\":\"picture\",\"number\":%" PRId64 ",\"shown\":%" PRId64
                   ",\"ssim\":%.6f}\n",
                   m->number, m->shown, m->ssim_y) > 0;
}

static void look(struct watch *w, struct picture *p, usec_t now)
{
    w->pictures++;
    int64_t read = pattern_picture_read(p);
    p->number = numbering_next(&w->numbering, read, now);
    if (p->number == NUMBERING_NOTHING_NEW)
        return;
    fprintf(w->out, "{\"event\":\"frame\",\"number\":%" PRId64 ",\"shown\":%.6f,\"read\":%s}\n",
            p->number, usec_to_sec(now), read >= 0 ? "true" : "false");
    picture_compare_push(w->measure, p, now);
}

int watch_run(struct source *source, FILE *in, FILE *out)
{
    struct watch w = {.out = out, .numbering = numbering_of(source->fps)};
    int width = source->width, height = source->height;
    struct picture_compare_config config = {
        .reference = source, .fills = true, .on_measured = on_measured, .ctx = &w};
    w.measure = picture_compare_new(&config);
    if (!w.measure)
        return ERR_NO_MEMORY;
    struct picture *p;
    bool more = true;
    while (more && (p = picture_new(width, height))) {
        more = clip_read_picture(in, p);
        if (more)
            look(&w, p, clock_now());
        picture_unref(p);
    }
    uint64_t skipped = picture_compare_finish(w.measure, clock_now() + GRACE);
    picture_compare_free(w.measure);
    fprintf(out,
            "{\"event\":\"end\",\"pictures\":%" PRIu64 ",\"unreadable\":%" PRIu64
            ",\"repeated\":%" PRIu64 ",\"skipped\":%" PRIu64 "}\n",
            w.pictures, w.numbering.unreadable, w.numbering.repeated, skipped);
    if (more) {
        log_error("out of memory for a picture");
        return ERR_NO_MEMORY;
    }
    if (ferror(in) || fflush(out) != 0 || ferror(out)) {
        log_error("cannot read the pictures, or cannot write the lines");
        return ERR_IO;
    }
    return 0;
}
