// SPDX-License-Identifier: GPL-2.0-or-later
// Fetches a film while viewers read it from the store: what they need next and no other session
// with the origin brings in time (fill_plan.h), in sessions of its own (film_run.h). Each goes on
// towards the film's end at --fill-speed, so the store gets ahead of the viewers.
//
// If nothing of the group that a viewer waits for comes for the time of --outage, that viewer's
// media ends, and for a while new viewers of the film are relayed. If the store has no room for
// what is missing, nothing more is fetched, and the media of those who need it ends at once. A few
// sessions at a time: for another one, that ends which is furthest ahead of its viewers. Loop
// thread only.
#ifndef WEIR_PROXY_FEED_FILM_FILLER_H
#define WEIR_PROXY_FEED_FILM_FILLER_H

#include "common/base/decls.h"
#include "proxy/feed/film_run.h"

DECLS_BEGIN

#define FILM_FILLER_PAUSE (60 * USEC_PER_SEC) // after a failure

struct film_filler; // opaque

struct film_filler_config {
    const struct film_origin *origin; // borrowed
    struct store_film *film;          // held by the filler
    double speed;                     // multiple of the film's pace
    usec_t outage;
    usec_t after; // no session before this time: another viewer's is just beginning
};

struct film_filler *film_filler_new(const struct film_filler_config *config); // NULL: no memory
void film_filler_free(struct film_filler *f, usec_t now);                     // NULL is fine
// What store_source_new_filled takes, until the filler is freed.
struct store_filler *film_filler_base(struct film_filler *f);
uint64_t film_filler_bytes(const struct film_filler *f); // of video that was fetched

DECLS_END
#endif
