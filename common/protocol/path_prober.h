// SPDX-License-Identifier: GPL-2.0-or-later
// Decides when a viewer sends its token (path_token.h) from its two ports of a datagram path.
//
//   Probe.   From each port on which the server has not been heard since the probe began, every
//            PATH_PROBER_REPEAT, for PATH_PROBER_TRY at most.
//   Silence. When media is due on the path and none has come for PATH_PROBER_SILENCE, a probe
//            begins: the viewer's address, or its port at a NAT, may have changed, and the token
//            tells the server where the viewer is now (RFC 9000, 9). A server that is heard and
//            sends no media is asked after twice as long each time, up to PATH_PROBER_MAX_SILENCE.
//   Keep.    The port for RTP sends a token every PATH_PROBER_KEEP, as a NAT may keep a binding
//            only for what leaves (RFC 6263, 4.6). The reports keep that of the port for RTCP.
//
// Rejected: watching the machine's interfaces. It misses what a NAT forgets, and a token that was
// not necessary costs 20 bytes. Pure.
#ifndef WEIR_PROTOCOL_PATH_PROBER_H
#define WEIR_PROTOCOL_PATH_PROBER_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define PATH_PROBER_REPEAT      (50 * USEC_PER_MSEC)
#define PATH_PROBER_TRY         (5 * USEC_PER_SEC)
#define PATH_PROBER_SILENCE     (150 * USEC_PER_MSEC)
#define PATH_PROBER_MAX_SILENCE (5 * USEC_PER_SEC)
#define PATH_PROBER_KEEP        (15 * USEC_PER_SEC)

struct path_prober {
    bool heard[2]; // RTP, RTCP: since the probe began
    bool open;     // the server has been heard on both ports
    bool due;      // media is due on the path
    usec_t until;  // end of the probe
    usec_t next;   // of its tokens; USEC_NEVER: no probe
    usec_t keep;   // the next token of the port for RTP outside of probes
    usec_t since;  // the silence counts from then on
    usec_t limit;  // the silence that begins a probe
};

// The first probe begins.
void path_prober_begin(struct path_prober *p, usec_t now);
usec_t path_prober_next_timeout(const struct path_prober *p);
// Returns the ports that send a token now: 1 RTP, 2 RTCP, 3 both, 0 none.
int path_prober_on_timeout(struct path_prober *p, usec_t now);
// A datagram of the server arrived on port `which`, which knows its address, or it is media.
// Returns true if the server is heard on both ports for the first time.
bool path_prober_heard(struct path_prober *p, int which, bool is_media, usec_t now);
// Media is due on the path, or not any more.
void path_prober_set_due(struct path_prober *p, bool due, usec_t now);

DECLS_END
#endif
