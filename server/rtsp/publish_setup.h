// SPDX-License-Identifier: GPL-2.0-or-later
// A client that publishes (RFC 2326, 10.3 and 10.11): ANNOUNCE describes its media, SETUP gives
// each medium its channels or UDP ports, and after RECORD its packets go to a publication of the
// catalog. TEARDOWN ends it, as does the end of the connection. Loop thread only.
//
// A medium that is not taken is set up all the same, and its packets are dropped: clients set up
// all that they announce.
#ifndef WEIR_SERVER_RTSP_PUBLISH_SETUP_H
#define WEIR_SERVER_RTSP_PUBLISH_SETUP_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/rtsp_session.h"
#include "server/rtsp/rtsp_response.h"
#include "server/session/catalog.h"

DECLS_BEGIN

struct publish_setup; // opaque
struct tcp_conn;

enum {
    PUBLISH_TRACKS = 4,          // max. media of a client
    PUBLISH_MAX_PACKETS = 30000, // a second: about 300 Mbit/s
};
#define PUBLISH_BEGIN_LIMIT (20 * USEC_PER_SEC) // from ANNOUNCE until RECORD

struct publish_setup_config {
    uv_loop_t *loop; // borrowed, as all that follows
    struct catalog *catalog;
    struct tcp_conn *tcp;       // the RTSP connection
    const char *name;           // the client's address, for the log
    struct rtsp_session *state; // the requests change its state; packets are signs of life
    void (*on_ready)(void *ctx, usec_t now); // the request that waits can be served now
    // The media is no longer taken: the caller ends the connection, not inside this call.
    void (*on_over)(void *ctx, const char *why, usec_t now);
    void *ctx;
};

struct publish_setup *
publish_setup_new(const struct publish_setup_config *config); // NULL: no memory
void publish_setup_free(struct publish_setup *p, usec_t now); // NULL is fine; as publish_setup_end

// Returns true if clients can publish to the catalog.
bool publish_setup_is_offered(const struct publish_setup *p);
// Serves ANNOUNCE, SETUP, RECORD or TEARDOWN, which rtsp_session_check allows and for which the
// client was let in. `path`: of the URI, without a key. Returns false if it must be served again
// after on_ready.
bool publish_setup_serve(struct publish_setup *p, const struct rtsp_item *request, const char *path,
                         struct rtsp_response *a, usec_t now);
// An interleaved frame arrived.
void publish_setup_interleaved(struct publish_setup *p, int channel, const uint8_t *data,
                               size_t len, usec_t now);
// Call it about once a second.
void publish_setup_second(struct publish_setup *p, usec_t now);
// Ends the publication, if there is one. `why`: it broke off; NULL: it did not.
void publish_setup_end(struct publish_setup *p, const char *why, usec_t now);

DECLS_END
#endif
