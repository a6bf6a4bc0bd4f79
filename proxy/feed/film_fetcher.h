// SPDX-License-Identifier: GPL-2.0-or-later
// Completes what a proxy has stored, while no viewer needs the backbone: the retransmission phase
// of LC-RTP (Fiksdal 2003, 4.2). One film after the other, of which at least half of a size's
// groups are stored in part. A round is a session with the origin:
//
//   1. The frames and the audio that are missing are listed; those only are requested (`only`,
//      frame_ranges.h), over the transport of --fetch-transport, at the pace of --fetch-rate.
//   2. The origin names the SHA-256 of the groups that are whole (`group-hash`). What differs is
//      removed, and is missing in the next round.
//
// Rounds follow while they bring something. Then the film is left alone for a time that doubles.
// Loop thread only.
#ifndef WEIR_PROXY_FEED_FILM_FETCHER_H
#define WEIR_PROXY_FEED_FILM_FETCHER_H

#include "common/protocol/transport_names.h"
#include "proxy/policy/origin_url.h"
#include "proxy/store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct film_fetcher; // opaque

struct film_fetcher_config {
    uv_loop_t *loop; // these pointers are borrowed
    struct store *store;
    const struct transport_list *transports;
    const struct origin_rules *rules; // only films of these origins are fetched
    const char *via;                  // value of the Via header for the origin
    double bps;                       // 0: at the film's own pace
    // Returns true if a viewer's session with the origin brings the film now.
    bool (*is_busy)(void *ctx, const struct store_film *f);
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

#ifdef __cplusplus
}
#endif
#endif
