// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_levels.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/coded/ladder.h"
#include "media/stored/policy/stored_pass.h"
#include "media/stored/stored_x265.h"
#include "sender/catalog/stream_open.h"
#include "sender/prepare/prepare_content.h"

static void note_encoded(const char *name, const char *reason)
{
    log_info("%s: its video is encoded again: %s", name, reason);
}

int prepare_levels_probe(const struct options *o, const char *name, bool may_pass,
                         struct prepare_own *out)
{
    struct pass_probe probe = {0};
    const char *reason = stream_open_must_encode(o);
    *out = (struct prepare_own){0};
    if (!may_pass)
        return 0;
    int err = reason ? 0 : pass_probe_whole(name, o->pass_kbps * 1000, NULL, &probe, &out->keys);
    if (err)
        return err;
    if (!reason)
        reason = pass_check_reason(probe.verdict);
    if (!reason && probe.coded.reorders)
        reason = "it has B frames, which a stored ladder has in places of its own (weir-send FILE "
                 "passes them)";
    out->coded = probe.coded;
    out->coded.passes = !reason;
    if (reason && probe.verdict == PASS_HIGH_RATE)
        log_info("%s: its video is encoded again: %s (%d kbit/s, of %d)", name, reason,
                 probe.coded.bitrate_bps / 1000, o->pass_kbps);
    else if (reason)
        note_encoded(name, reason);
    return 0;
}

static bool is_by_content(const struct options *o)
{
    return !o->fixed_ladder && !o->level_count;
}

// Makes the ladder of what is encoded, with so many layers, and its plan. Returns ERR_NOT_FOUND if
// there is no plan, or an error of ladder_from_requests (logged).
static int choose(const struct options *o, const struct source *s, int layers, struct ladder *l,
                  struct stored_plan *plan)
{
    int err = o->level_count ? ladder_from_requests(o->levels, o->level_count, s->width, s->height,
                                                    s->fps, layers, l)
                             : ladder_default(s->width, s->height, s->fps, layers, NULL, l);
    if (err || stored_plan_init(plan, l) == 0)
        return err;
    // The default rate may be no simple fraction of the file's, for example 30 of 31.3 frames/s.
    // Then use the file's own rate for all sizes; a size that was there for that rate goes.
    const struct size_spec *top = &l->sizes[l->size_count - 1];
    while (!o->level_count && l->size_count > 1 && top[-1].width == top->width &&
           top[-1].height == top->height) {
        while (l->levels[l->level_count - 1].size_id == l->size_count - 1)
            l->level_count--;
        l->size_count--;
        top--;
    }
    for (int i = 0; i < l->size_count && !o->level_count; i++)
        l->sizes[i].fps = s->fps;
    return stored_plan_init(plan, l) == 0 ? 0 : ERR_NOT_FOUND;
}

// Makes a ladder whose top is the film's own video, with as many layers below as let its IDR
// pictures fit: fewer layers have a shorter period, and so another length of the groups. Returns
// NULL, or why there is none.
static const char *pass_top(const struct options *o, const struct source *s,
                            const struct prepare_own *own, struct ladder *l,
                            struct stored_plan *plan)
{
    const struct pass_keys *keys = &own->keys;
    int most = o->temporal_layers ? o->temporal_layers : PREPARE_LAYERS;
    int least = o->temporal_layers ? o->temporal_layers : 1;
    const char *reason = pass_check_reason(PASS_LOW_RATE);
    if (!s->coded.passes)
        return pass_check_reason(PASS_OTHER_SIZE);
    for (int layers = most; layers >= least; layers--) {
        if (choose(o, s, layers, l, plan) != 0 || ladder_pass(l, own->coded.bitrate_bps) != 0)
            continue;
        reason =
            "its IDR pictures do not begin the groups of a stored ladder, every 2 s (1 s above "
            "1920x1080)";
        if (stored_plan_init(plan, l) == 0 && keys->frames >= plan->period &&
            stored_pass_fits(keys->at, keys->count, keys->frames, plan->gop))
            return NULL;
    }
    return reason;
}

int prepare_levels_choose(const struct options *o, const char *name, const struct source *s,
                          struct prepare_own *own, struct ladder *ladder, struct stored_plan *plan,
                          double finest[LADDER_MAX_SIZES], bool *by_content)
{
    *by_content = false;
    if (own->coded.passes) {
        const char *reason = pass_top(o, s, own, ladder, plan);
        if (!reason)
            log_info("%s: its own video passes as it is, as the top level: %dx%d, %d kbit/s; "
                     "temporal layers of the levels below: %d (--no-passthrough encodes it again)",
                     s->name, s->width, s->height, own->coded.bitrate_bps / 1000,
                     ladder->sizes[0].layers);
        if (!reason)
            return 0;
        own->coded.passes = false;
        note_encoded(s->name, reason);
    }
    int most = o->codec == SDP_HEVC ? STORED_X265_LAYERS : PREPARE_LAYERS;
    int err = choose(o, s, o->temporal_layers ? o->temporal_layers : most, ladder, plan);
    if (err == ERR_NOT_FOUND)
        log_error("the levels' frame rates must be simple fractions of the file's, such as 1/2");
    struct content_ladder better;
    if (!err && is_by_content(o) && prepare_content(name, s, ladder, &better)) {
        *ladder = better.ladder;
        *by_content = true;
        memcpy(finest, better.finest, sizeof(better.finest));
        err = stored_plan_init(plan, ladder);
    }
    return err;
}

bool prepare_levels_are_fixed(const struct options *o, const struct ladder *stored)
{
    struct ladder l;
    struct stored_plan plan;
    struct source s = {
        .width = stored->source_width, .height = stored->source_height, .fps = stored->source_fps};
    struct options fixed = *o;
    fixed.level_count = 0;
    return choose(&fixed, &s, stored->sizes[0].layers, &l, &plan) == 0 &&
           l.level_count == stored->level_count && l.size_count == stored->size_count &&
           memcmp(l.levels, stored->levels, (size_t)l.level_count * sizeof(*l.levels)) == 0 &&
           memcmp(l.sizes, stored->sizes, (size_t)l.size_count * sizeof(*l.sizes)) == 0;
}
