// SPDX-License-Identifier: GPL-2.0-or-later
// Completes what a proxy has stored, while no viewer needs the backbone: the retransmission phase
// of LC-RTP (Fiksdal 2003, 4.2). One film after the other: all of a size of which at least half of
// the groups are stored in part; the prefix of one of which anything is stored; and what is wanted
// (store_fetch). A round is a session with the origin (film_run.h), at the pace of --fetch-rate.
// Rounds follow while they bring something. Then the film is left alone for a time that doubles.
// Loop thread only.
#ifndef WEIR_PROXY_FEED_FILM_FETCHER_H
#define WEIR_PROXY_FEED_FILM_FETCHER_H

#include "common/base/decls.h"
#include "proxy/feed/film_run.h"

DECLS_BEGIN

struct film_fetcher; // opaque

struct film_fetcher_config {
    struct film_origin origin;
    struct store *store; // borrowed
    double bps;          // 0: at the film's own pace
    // Returns true if a viewer's session with the origin brings the film now; of a film that is
    // wanted, if any viewer has one.
    bool (*is_busy)(void *ctx, struct store_film *f);
    void *ctx;
};

struct film_fetcher *film_fetcher_new(const struct film_fetcher_config *config); // NULL: no memory
void film_fetcher_free(struct film_fetcher *f, usec_t now);                      // NULL is fine
// A viewer has left: the films are looked at again soon.
void film_fetcher_wake(struct film_fetcher *f, usec_t now);

struct film_fetcher_stats {
    uint64_t rounds;
    uint64_t frames, bytes; // that were fetched, of video
};
void film_fetcher_read(const struct film_fetcher *f, struct film_fetcher_stats *out);

DECLS_END
#endif
