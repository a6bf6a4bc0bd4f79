// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/freeze_watch.h"

#include "stream/qoe/freeze_account.h"

void freeze_watch_init(struct freeze_watch *w, const struct ladder *ladder,
                       const struct frame_outcomes *ledger, const struct playout *playout,
                       const struct lateness *own)
{
    *w = (struct freeze_watch){
        .ladder = ladder, .ledger = ledger, .playout = playout, .own = own, .last = -1};
}

bool freeze_watch_missing(const struct freeze_watch *w, int64_t end, enum freeze_cause *why)
{
    uint64_t causes[FREEZE_CAUSES] = {0};
    uint64_t most = 0;
    if (w->last < 0)
        return false;
    int64_t first = w->last + 1;
    if (end - first > FRAME_HISTORY_WINDOW)
        first = end - FRAME_HISTORY_WINDOW; // frame_outcomes knows no older frames
    for (int64_t n = first; n < end; n++) {
        int level = playout_level_at(w->playout, n);
        enum frame_cause root;
        bool was_late = playout_was_late(w->playout, w->own, n);
        if ((level >= 0 && !level_has_frame(w->ladder, level, n)) ||
            !frame_outcomes_root(w->ledger, n, was_late, &root))
            continue;
        causes[freeze_cause_of_frame(root)]++;
    }
    for (int c = 0; c < FREEZE_CAUSES; c++) {
        if (causes[c] > most) {
            most = causes[c];
            *why = (enum freeze_cause)c;
        }
    }
    return most > 0;
}

static usec_t shortest_pace(const struct freeze_watch *w)
{
    usec_t shortest = 0;
    int known = w->paces < FREEZE_WATCH_PACE ? w->paces : FREEZE_WATCH_PACE;
    for (int i = 0; i < known; i++)
        shortest = i == 0 ? w->pace[i] : usec_min(shortest, w->pace[i]);
    return shortest;
}

void freeze_watch_shown(struct freeze_watch *w, struct qoe_shown *e)
{
    usec_t pts = playout_pts(w->playout, e->number);
    usec_t media = w->last < 0 ? 0 : pts - w->last_pts;
    bool foreign = w->ladder->level_count == 0;
    if (foreign && media > 0)
        w->pace[w->paces++ % FREEZE_WATCH_PACE] = media;
    e->interval = shortest_pace(w);
    e->gap_known = freeze_watch_missing(w, e->number, &e->gap);
    if (foreign && !e->gap_known && media > FREEZE_LEAST &&
        media > FREEZE_INTERVALS * e->interval) {
        e->gap_known = true;
        e->gap = FREEZE_SENDER;
    }
    w->last = e->number;
    w->last_pts = pts;
}

void freeze_watch_moved(struct freeze_watch *w)
{
    w->last = -1;
}
