// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/video/live_edges.h"

#include "stream/outcome/stall_classifier.h"

void live_edges_init(struct live_edges *l)
{
    *l = (struct live_edges){.newest_number = -1, .first = -1};
}

void live_edges_begin(struct live_edges *l, int64_t number)
{
    l->first = number;
}

// The edge of frame `number`, moved to frame `to`.
static struct qoe_media_edge moved(const struct playout *playout, const struct qoe_media_edge *of,
                                   int64_t number, int64_t to)
{
    usec_t media = playout_pts(playout, to) - playout_pts(playout, number);
    struct qoe_media_edge e = *of;
    e.shown += media;
    if (e.captured != QOE_UNKNOWN)
        e.captured += media;
    return e;
}

static bool stood_still(const struct live_edges *l, const struct qoe_media_edge *end,
                        const struct qoe_media_edge *begin)
{
    if (l->newest_number < 0 || end->captured == QOE_UNKNOWN || begin->captured == QOE_UNKNOWN)
        return false;
    usec_t media = begin->captured - end->captured;
    usec_t gap = begin->shown - end->shown;
    return media > STALL_SILENCE && gap > STALL_SILENCE &&
           media <= gap + l->newest_waited + STALL_SILENCE;
}

static void emit(const struct viewing_sink *sink, enum viewing_kind kind,
                 const struct qoe_media_edge *e, usec_t at)
{
    struct viewing_event event = {.kind = kind, .at = at, .edge = *e};
    viewing_emit(sink, &event);
}

void live_edges_shown(struct live_edges *l, const struct playout *playout,
                      const struct viewing_sink *sink, const struct qoe_media_edge *e,
                      int64_t number, usec_t waited)
{
    if (l->first >= 0) {
        struct qoe_media_edge first = moved(playout, e, number, l->first);
        emit(sink, VIEWING_LIVE_BEGIN, &first, e->shown);
        l->first = -1;
    } else {
        struct qoe_media_edge end = moved(playout, &l->newest, l->newest_number, number);
        if (stood_still(l, &end, e)) {
            emit(sink, VIEWING_LIVE_END, &end, e->shown);
            emit(sink, VIEWING_LIVE_BEGIN, e, e->shown);
        }
    }
    l->newest = *e;
    l->newest_number = number;
    l->newest_waited = usec_max(0, waited);
}

void live_edges_end(const struct live_edges *l, const struct playout *playout,
                    const struct viewing_sink *sink, int64_t to, usec_t now)
{
    if (l->newest_number < 0)
        return;
    struct qoe_media_edge end = moved(playout, &l->newest, l->newest_number, to);
    emit(sink, VIEWING_LIVE_END, &end, now);
}
