// SPDX-License-Identifier: GPL-2.0-or-later
// The Transport header of RTSP (RFC 2326, 12.39).
#ifndef WEIR_WIRE_RTSP_TRANSPORT_H
#define WEIR_WIRE_RTSP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum {
    RTSP_MAX_OFFERS = 8, // max alternatives kept of one Transport header
    RTSP_MAX_NAME = 48,  // max bytes of a transport, parameter or algorithm name with NUL
};

// One alternative of a Transport header. Weir's own parameters: `x-weir=minbuf:1,3` names the
// transport, `x-cc=reno` the kernel's congestion control, `x-weir-repair=auto` how lost packets are
// repaired (repair_mode_parse()); a response repeats it if the server does so. `x-weir-ecn` in an
// offer: the viewer echoes ECN marks as the transport defines. In a response,
// `x-weir-token=0123456789ABCDEF` is the token that the viewer sends from its media ports
// (path_token.h). `x-weir-srtp=` is the master key and salt of what its writer sends
// (srtp_guard.h), in base64 of URLs: 40 characters.
struct rtsp_transport {
    bool tcp;           // true: RTP/AVP/TCP; false: UDP
    bool avpf;          // RTP/AVPF (RFC 4585), with feedback; not over TCP
    bool savp;          // RTP/SAVP or RTP/SAVPF (RFC 3711, RFC 5124)
    bool multicast;     // refused by weir-send with 461
    int interleaved[2]; // channels, -1 when absent
    int client_port[2]; // -1 when absent
    int server_port[2]; // -1 when absent
    int port[2];        // of the multicast group; -1 when absent
    bool has_ssrc;
    uint32_t ssrc;
    char destination[RTSP_MAX_NAME]; // the multicast group; empty when absent
    char source[RTSP_MAX_NAME];      // source of the media, if not the server; empty when absent
    char weir[RTSP_MAX_NAME];        // empty when absent
    char cc[RTSP_MAX_NAME];          // empty when absent
    char repair[RTSP_MAX_NAME];      // x-weir-repair; empty when absent
    char srtp[RTSP_MAX_NAME];        // x-weir-srtp; empty when absent
    bool ecn;                        // x-weir-ecn
    bool has_token;
    uint64_t token;
};

// Reads the alternatives into `out` in order, skipping unknown profiles. Returns their number,
// possibly 0, or ERR_MALFORMED.
int rtsp_transport_decode(struct text value, struct rtsp_transport out[RTSP_MAX_OFFERS]);
// Writes "RTP/AVP..." to `out`, terminated. Returns the length; ERR_FULL; ERR_RANGE: a name with a
// character that decoding would refuse (other than token characters and `:,=@`).
int rtsp_transport_encode(const struct rtsp_transport *t, char *out, size_t cap);

DECLS_END
#endif
