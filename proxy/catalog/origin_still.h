// SPDX-License-Identifier: GPL-2.0-or-later
// Media that gives one small picture of a film at an origin, which has made it: DESCRIBE with
// "Accept: image/jpeg" on a connection of its own, which no session follows. Of an origin that does
// not know that (a third party, an older weir-send) there is none. Loop thread only.
#ifndef WEIR_PROXY_CATALOG_ORIGIN_STILL_H
#define WEIR_PROXY_CATALOG_ORIGIN_STILL_H

#include "common/base/decls.h"
#include "common/protocol/transport_names.h"
#include "proxy/policy/origin_url.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

enum { ORIGIN_STILLS = 8 };                   // at a time, for all viewers; others wait for them
#define ORIGIN_STILL_LIMIT (4 * USEC_PER_SEC) // until the origin has answered

struct origin_stills; // the pictures that are being asked for

// Borrows all. `transports`: of the backbone, as each client has some; no media comes. NULL: no
// memory.
struct origin_stills *origin_stills_new(uv_loop_t *loop, const struct origin_rules *rules,
                                        const struct transport_list *transports);
void origin_stills_free(struct origin_stills *s); // after all media. NULL is fine

// `url`: of the picture at the origin; `via`: of the request; both are copied. NULL: no memory. The
// caller calls ops->free.
struct stream_media *origin_still_new(struct origin_stills *s, const struct url *url,
                                      const char *via);

DECLS_END
#endif
