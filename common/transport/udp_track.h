// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the datagram transports: sending on the UDP ports of a track's path.
#ifndef WEIR_TRANSPORT_UDP_TRACK_H
#define WEIR_TRANSPORT_UDP_TRACK_H

#include <sys/uio.h>

#include "common/base/decls.h"
#include "common/transport/transport.h"

DECLS_BEGIN

// Returns true if the viewer's address of port `which` (0: RTP, 1: RTCP) is validated, so that
// packets may be sent there.
bool udp_track_is_validated(const struct track_path *track, int which);
// Sends `count` RTP packets of `parts` parts each, UDP_SOCKET_BATCH at most, in one system call.
// What the kernel refuses (a full device queue, an unreachable peer) is lost like any datagram.
void udp_track_send(const struct track_path *track, const struct iovec *queue, int parts,
                    int count);
// transport_ops.send_rtcp: on the track's own port or, if it has none, on that of the video.
int udp_track_send_rtcp(struct transport *t, enum media_track track, const uint8_t *data,
                        size_t len, usec_t now);

DECLS_END
#endif
