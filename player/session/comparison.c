// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/comparison.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/mailbox.h"
#include "media/picture/geometry.h"
#include "player/compare/picture_compare.h"

// The loop empties the mailbox, except for results that arrive after the loop has ended.
enum { RESULTS = 2 * PICTURE_COMPARE_QUEUE_PICTURES };

struct comparison {
    struct comparison_config config; // its reference is owned until `compare` takes it over
    struct mailbox *results;         // owned; struct measured
    struct picture_compare *compare; // owned; NULL: nothing to compare
    struct contact_sheet *sheet;     // owned; NULL: not requested
};

static void on_result(void *ctx, void *item, usec_t now)
{
    struct comparison *c = ctx;
    const struct measured *m = item;
    if (m->shown == m->number)
        qoe_on_picture(c->config.qoe, m->mse_y, m->ssim_y);
    if (c->config.options->picture_events)
        trace_picture(c->config.events, m->number, m->shown, m->ssim_y, now);
    free(item);
}

struct comparison *comparison_new(const struct comparison_config *config)
{
    struct comparison *c = calloc(1, sizeof(*c));
    if (!c) {
        source_free(config->reference);
        return NULL;
    }
    c->config = *config;
    c->results = mailbox_new(config->loop, RESULTS, on_result, free, c);
    if (c->results)
        return c;
    comparison_free(c);
    return NULL;
}

void comparison_free(struct comparison *c)
{
    if (!c)
        return;
    picture_compare_free(c->compare);
    mailbox_free(c->results);
    contact_sheet_free(c->sheet);
    source_free(c->config.reference);
    free(c);
}

// Called on the comparing thread.
static bool post(void *ctx, const struct measured *m)
{
    struct comparison *c = ctx;
    struct measured *copy = malloc(sizeof(*copy));
    if (!copy)
        return false;
    *copy = *m;
    if (mailbox_post(c->results, copy))
        return true;
    free(copy);
    return false;
}

// Pictures are compared by their numbers, so another film, or one at another rate, compares what
// never was the same picture. A server that is not weir-send describes no source: then the
// reference is taken to be its film.
static void drop_other_film(struct comparison *c, const struct ladder *l)
{
    const struct source *r = c->config.reference;
    struct fps fps = l->source_fps;
    if (!r || l->source_width <= 0 || fps.den <= 0 ||
        (r->width == l->source_width && r->height == l->source_height &&
         (int64_t)r->fps.num * fps.den == (int64_t)fps.num * r->fps.den))
        return;
    log_warn("--reference %s is not used: it is %dx%d@%.4g, but the server plays %dx%d@%.4g",
             r->name, r->width, r->height, fps_value(r->fps), l->source_width, l->source_height,
             fps_value(fps));
    source_free(c->config.reference);
    c->config.reference = NULL;
}

bool comparison_open(struct comparison *c, const struct sdp *sdp)
{
    const struct play_options *o = c->config.options;
    const struct ladder *l = &sdp->ladder;
    struct geometry g = {l->source_width, l->source_height, l->source_fps};
    // The player draws the test pictures for the comparison, so it supports only the sizes that
    // weir-send sends.
    bool draws = sdp->source == SDP_SOURCE_TEST && geometry_is_good(&g);
    if (c->compare)
        return true;
    drop_other_film(c, l);
    if (o->contact_sheet && !c->sheet && !(c->sheet = contact_sheet_new()))
        return false;
    struct picture_compare_config config = {.sheet = c->sheet,
                                            .test = !o->no_picture && !c->config.reference && draws,
                                            .width = l->source_width,
                                            .height = l->source_height,
                                            .fps = l->source_fps,
                                            .reference = c->config.reference,
                                            .fills = o->picture_events,
                                            .on_measured = post,
                                            .ctx = c};
    if (!config.sheet && !config.test && !config.reference)
        return true;
    c->config.reference = NULL;
    c->compare = picture_compare_new(&config);
    return c->compare;
}

void comparison_push(struct comparison *c, const struct play_frame *f)
{
    if (c->compare && f->fate == FATE_SHOWN)
        picture_compare_push(c->compare, f->picture, f->shown_at);
}

void comparison_finish(struct comparison *c, usec_t deadline)
{
    if (c->compare)
        qoe_on_pictures_skipped(c->config.qoe, picture_compare_finish(c->compare, deadline));
}

const struct contact_sheet *comparison_sheet(const struct comparison *c)
{
    return c->sheet;
}
