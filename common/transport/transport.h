// SPDX-License-Identifier: GPL-2.0-or-later
// What carries RTP packets from a sender's session to a viewer: the sending end, which this header
// declares, and the receiving end (transport_receiver.h). A transport decides *when* the next
// packet may leave; the scheduler above decides which one.
//
// Adding a transport: one file with both ends and its struct transport_kind, and one row in
// transports.c. The programs' options, menus, help and statistics list it from that row.
//
// Names are "NAME" or "NAME:PARAMS", as on weir-play's command line and in the Transport header's
// x-weir parameter.
#ifndef WEIR_TRANSPORT_TRANSPORT_H
#define WEIR_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/datagram_sender.h"
#include "common/protocol/media_transport.h"

DECLS_BEGIN

// The contents of the viewer's RTCP report block (RFC 3550, 6.4.1).
struct transport_report {
    double fraction_lost; // since the last report
    usec_t rtt;           // 0 = not measurable from this report
};

// Called on the loop when `room` may have become true again after it was false.
typedef void transport_room_fn(void *ctx, usec_t now);

struct transport;

struct transport_ops {
    struct media_transport_ops media; // after `room` was false, the room callback follows
    // An RTCP datagram of the viewer arrived. NULL: not used.
    void (*on_rtcp)(struct transport *t, const uint8_t *data, size_t len, usec_t now);
    // A datagram arrived from the viewer's port for RTP. NULL: such datagrams are ignored.
    void (*on_media)(struct transport *t, const uint8_t *data, size_t len, usec_t now);
    // Sends RTCP, which is never delayed for long. 0; ERR_AGAIN: dropped; ERR_CLOSED.
    int (*send_rtcp)(struct transport *t, enum media_track track, const uint8_t *data, size_t len,
                     usec_t now);
    void (*on_report)(struct transport *t, const struct transport_report *r,
                      usec_t now); // NULL: not used
    // The control connection became writable, or the viewer's address was validated.
    void (*on_writable)(struct transport *t, usec_t now);
    // The control connection has another socket (tcp_conn_exchange), with the system's settings.
    // NULL: the transport uses only what all sockets have.
    void (*on_reconnected)(struct transport *t, usec_t now);
    void (*free)(struct transport *t);
};

struct udp_socket;
struct sockaddr;
struct srtp_guard;

// The paths of one track's RTP ([0]) and RTCP ([1]). The struct that embeds this one owns the
// sockets; peers are borrowed.
struct track_path {
    int channel[2]; // on the RTSP connection: stream transports
    struct udp_socket
        *socket[2]; // datagram transports; NULL for the audio if it shares the video's ports
    const struct sockaddr
        *peer[2]; // AF_UNSPEC: not validated (path_validation.h); nothing is sent there
};

struct transport {                // embedded first
    struct media_transport media; // first; transport_open fills in all but max_packet
    const struct transport_ops *ops;
    const struct transport_kind *kind;
    char name[TRANSPORT_MAX_NAME];    // with its parameters
    struct srtp_guard *srtp;          // encrypts what leaves; NULL: plain RTP. Borrowed
    struct track_path tracks[TRACKS]; // all borrowed; the session changes one that is set up later
};

struct tcp_conn;
struct mtp_raw;

// What the session passes to a new transport. All pointers outlive the transport.
struct transport_path {
    struct tcp_conn *control;     // the RTSP connection; its packets are `$`-interleaved on it
    int channel[2];               // RTP, RTCP; stream transports
    struct udp_socket *socket[2]; // RTP, RTCP; datagram transports
    // destination of datagram transports; AF_UNSPEC until it is validated: nothing is sent before
    const struct sockaddr *peer[2];
    struct mtp_raw *raw; // `raw` transports; NULL: there is none
    // Encrypts media and RTCP; NULL: plain RTP. The RTCP of `raw` transports takes the control
    // connection, and is not encrypted by it.
    struct srtp_guard *srtp;
    bool feedback;  // the viewer reports each packet (RFC 8888)
    bool ecn;       // the viewer echoes marks (x-weir-ecn)
    uint64_t token; // of the SETUP response; authenticates MTP's packets and acknowledgements
    uint32_t ssrc;  // of the RTP stream; and its first sequence number
    uint16_t first_seq;
    bool goes_on;     // the numbers before were sent by another transport: reports may name them
    double start_bps; // what is known of the path (controller_config); 0: nothing
    usec_t start_rtt;
    void *loop; // uv_loop_t
    transport_room_fn *on_room;
    void *ctx;
};

struct transport_receiver;
struct transport_receiver_path;

// A row of the table. Sessions and RTSP read these properties.
struct transport_kind {
    const char *name;
    const char *help; // a line for --help and the manual
    bool datagram;    // RTP/AVP: on UDP ports at both ends; otherwise RTP/AVP/TCP
    bool needs_raw;   // raw sockets at both ends (CAP_NET_RAW): media takes a TCP connection of its
                      // own
    bool plain_rtp;   // its other end may be a peer that supports only plain RTP
    bool reliable;    // a packet that began to leave arrives, in order
    bool holds_back;  // packets that the network cannot accept yet wait; they are not lost
    bool measures;    // its info reports arrivals, so that the media can adapt to the network
    bool reports;     // the viewer reports each packet if it can (RFC 8888)
    // Its rate depends on the viewer's reports, so it requires them; its packets are marked as
    // ECN-capable.
    bool responsive;
    bool echoes_ecn; // its receiving end echoes marks, and the viewer offers that (x-weir-ecn)
    const char *controller; // used by transport_datagram.c: the parameters are the controller's
    bool large_packets;     // as large as the path allows (packet_size.h), as in its paper
    // 0, ERR_MALFORMED, ERR_RANGE, ERR_NOT_FOUND
    int (*check)(const struct transport_kind *kind, const char *params);
    // The sending end. NULL: no memory, or a requirement is missing.
    struct transport *(*create)(const struct transport_kind *kind, const char *params,
                                const struct transport_path *path, usec_t now);
    // Creates the receiving end. NULL: none is required; packets that arrive are plain RTP. 0;
    // ERR_UNSUPPORTED: the server's response lacks a required value; ERR_NO_MEMORY.
    int (*receive)(const struct transport_receiver_path *path, struct transport_receiver **out,
                   usec_t now);
};

// All transports, ended by NULL. The first is the default.
extern const struct transport_kind *const transport_kinds[];
int transport_number(const struct transport_kind *kind); // index in the table

// Splits "NAME:PARAMS", finds the kind, and checks the parameters. 0; ERR_NOT_FOUND; ERR_MALFORMED;
// ERR_RANGE. *params points into `name`.
int transport_find(const char *name, const struct transport_kind **kind, const char **params);
// Finds the kind and creates a transport. NULL: a bad name, or no memory (logged).
struct transport *transport_open(const char *name, const struct transport_path *path, usec_t now);
// Returns true if the transport of this name needs raw sockets.
bool transport_needs_raw(const char *name);
// Returns true if the transport of this name needs UDP.
bool transport_needs_udp(const char *name);
// Returns true if media travels on the RTSP connection, so that TLS of the connection encrypts it.
bool transport_is_interleaved(const char *name);
// "minbuf, tcp, udp": for error messages.
void transport_names(char *out, size_t cap);

DECLS_END
#endif
