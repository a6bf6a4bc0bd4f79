// SPDX-License-Identifier: GPL-2.0-or-later
// The catalog of a proxy: the streams of its origins. A path is described at its origin when a
// viewer requests it (DESCRIBE), and is kept while a viewer holds it. The origin's refusal passes
// to the viewer.
//
// With a store, what passes is stored. A film of which the size that a viewer begins with is stored
// completely is served without its origin, in the sizes that are complete. After `validate` the
// origin is asked for its description again; if it cannot be reached, the stored film is served.
// A film whose prefix is stored, or that another viewer has requested shortly before, is served
// from the store, too, while what it lacks is fetched (film_filler.h). Loop thread only.
#ifndef WEIR_PROXY_CATALOG_ORIGIN_CATALOG_H
#define WEIR_PROXY_CATALOG_ORIGIN_CATALOG_H

#include "common/base/decls.h"
#include "proxy/feed/relay_media.h"
#include "proxy/policy/origin_url.h"
#include "proxy/policy/via.h"
#include "proxy/store/store.h"
#include "server/session/catalog.h"

DECLS_BEGIN

struct origin_catalog_config {
    uv_loop_t *loop; // borrowed, as the next two
    const struct origin_rules *rules;
    const struct relay_choices *choices;
    char name[VIA_MAX_NAME]; // of this proxy in Via headers
    usec_t viewer_timeout;   // these as struct stream has them
    int max_viewers;
    const struct transport_list *transports;
    bool only_these;
    enum scheduler_mode queue;
    size_t queue_bytes;
    struct store *store; // borrowed; NULL: nothing is stored
    usec_t validate;     // how long a stored film is served before its origin is asked again
    const struct transport_list *fetch_transports; // borrowed; these as film_fetcher.h has them
    double fetch_bps;
    bool has_prefix; // the store keeps prefixes (store_config)
    usec_t share; // a viewer that asks within this time of another one reads what that brings; 0:
                  // never
    double fill_speed; // at which films that are viewed from the store are fetched
};

struct catalog *origin_catalog_new(const struct origin_catalog_config *config); // NULL: no memory

DECLS_END
#endif
