// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/udp_track.h"

#include <string.h>

#include "common/base/err.h"
#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"
#include "common/wire/rtcp.h"

bool udp_track_is_validated(const struct track_path *track, int which)
{
    return track->peer[which]->sa_family != AF_UNSPEC;
}

void udp_track_send(const struct track_path *track, const struct iovec *queue, int parts, int count)
{
    if (count == 1) // a plain call is cheaper than a batch of one packet
        (void)udp_socket_send(track->socket[0], track->peer[0], queue, parts);
    else if (count > 1)
        (void)udp_socket_send_batch(track->socket[0], track->peer[0], queue, parts, count);
}

int udp_track_send_rtcp(struct transport *t, enum media_track track, const uint8_t *data,
                        size_t len, usec_t now)
{
    (void)now;
    const struct track_path *to = &t->tracks[t->tracks[track].socket[1] ? track : TRACK_VIDEO];
    struct iovec part = {.iov_len = len};
    part.iov_base = (uint8_t *)(uintptr_t)data; // sendmsg does not write to it
    uint8_t out[RTCP_MAX_PACKET + SRTCP_TAIL_BYTES];
    if (t->srtp) {
        if (len > RTCP_MAX_PACKET)
            return ERR_AGAIN;
        memcpy(out, data, len);
        if (srtp_guard_seal_rtcp(t->srtp, out, &part.iov_len, sizeof(out)) != 0)
            return ERR_AGAIN;
        part.iov_base = out;
    }
    bool sent =
        udp_track_is_validated(to, 1) && udp_socket_send(to->socket[1], to->peer[1], &part, 1) == 0;
    return sent ? 0 : ERR_AGAIN;
}
