// SPDX-License-Identifier: GPL-2.0-or-later
// Where RTP and RTCP arrive and RTCP leaves: interleaved on the control connection (RFC
// 2326, 10.12), on pairs of UDP ports, of a multicast group, too, or on a connection that the
// transport makes. Writes the Transport header's offers and takes its answer; over UDP, responds to
// the server's path validation. What a transport does with its packets is its receiving end's
// business (transport_receiver.h). Loop thread only.
#ifndef WEIR_CLIENT_RECEIVE_MEDIA_RECEIVER_H
#define WEIR_CLIENT_RECEIVE_MEDIA_RECEIVER_H

#include <stdbool.h>
#include <uv.h>

#include "client/receive/second_path.h"
#include "common/base/decls.h"
#include "common/net/tcp_conn.h"
#include "common/net/udp_socket.h"
#include "common/protocol/server_dialect.h"
#include "common/srtp/srtp_guard.h"
#include "common/transport/mtp_raw_receiver.h"
#include "common/transport/path_validation.h"
#include "common/transport/transport_list.h"
#include "common/transport/transport_receiver.h"
#include "common/wire/capacity_pair.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

// `track`: whose path it took. The audio shares the video's, unless audio_has_own_flow
// (server_dialect.h).
// `data` is borrowed for the call. `arrived`: when the kernel received it, as far as that is known.
typedef void media_packet_fn(void *ctx, enum media_track track, bool rtcp, const uint8_t *data,
                             size_t len, usec_t arrived, usec_t now);

struct media_receiver_ops {
    media_packet_fn *on_packet;
    // One of two packets that measure the path; `bytes`: with the headers of IP and UDP.
    void (*on_pair)(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now);
    // Media can arrive on a path other than the control connection. Called once, if
    // media_receiver_tells.
    void (*on_validated)(void *ctx, usec_t now);
    // The server is heard on the path beside the connection. NULL: no such path is offered, as for
    // the next one.
    void (*on_beside_open)(void *ctx, usec_t now);
    // Media comes over that path, or over the connection again. The packet that shows it follows.
    void (*on_moved)(void *ctx, bool beside, usec_t now);
    // Datagrams pass on the second path. NULL: none is offered.
    void (*on_second_open)(void *ctx, usec_t now);
    // The server has validated this viewer's address once more: it has changed. NULL: not told.
    void (*on_address_changed)(void *ctx, usec_t now);
    // The separate media connection ended; `error` as in transport_receiver.h.
    void (*on_end)(void *ctx, const char *error, usec_t now);
};

// One track's path, at the viewer's end.
struct receiver_track {
    struct media_receiver *owner; // borrowed
    bool accepted;                // the server answered this track's SETUP
    struct track_path path; // its sockets are owned; NULL if the track has no ports of its own
    struct sockaddr_storage peer[2]; // path.peer: the address from which the server sends
};

struct media_receiver {
    uv_loop_t *loop;                      // borrowed
    struct tcp_conn *control;             // borrowed
    const struct sdp *sdp;                // borrowed
    const struct server_dialect *dialect; // static; of the SDP
    uint32_t ssrc;                        // the viewer's
    struct receiver_track tracks[TRACKS];
    bool datagram;                 // media arrives on UDP ports
    bool reports;                  // true if the server agreed to reports of each packet (RFC 8888)
    char name[TRANSPORT_MAX_NAME]; // of the transport taken
    char repair[RTSP_MAX_NAME];    // how the server repairs losses; empty: it does not
    const struct media_receiver_ops *ops; // static
    void *ctx;                            // borrowed
    uint64_t third_party;                 // datagrams from elsewhere, dropped
    // Set it before an offer. The control connection is encrypted, or must be treated as if it
    // were: datagrams next to it are SRTP only.
    bool encrypts;
    uint8_t key[SRTP_KEY_BYTES]; // of what the viewer sends; encrypts
    bool has_key;
    struct srtp_guard *srtp;             // owned; NULL: plain RTP
    struct mtp_raw_receiver *raw;        // borrowed; NULL: transports that need it are not offered
    struct transport_receiver *receiver; // owned; NULL: what arrives is RTP
    struct path_responder *responder;    // owned; NULL: the server does not validate the path
    // Of media in datagrams; owned; NULL: there is one path.
    struct second_path *second;
    // The path beside the connection, on the video's ports, with `receiver` and `responder` once it
    // was tried. An empty name: there is none.
    struct {
        char name[TRANSPORT_MAX_NAME];
        struct rtsp_transport answer; // of the server, without its key
        bool in_use;                  // media comes there
        bool was_in_use;              // it has
        bool has_packet;
        uint16_t newest;     // sequence number of the video on either path; has_packet
        int64_t marked_past; // by receivers of earlier tries
    } beside;
};

// `control` is connected; it and `sdp` outlive the receiver. `sdp` is complete. `ssrc`: the
// viewer's in RTCP. `raw`: for transports that need raw sockets, or NULL.
void media_receiver_init(struct media_receiver *m, uv_loop_t *loop, struct tcp_conn *control,
                         const struct sdp *sdp, uint32_t ssrc, struct mtp_raw_receiver *raw,
                         const struct media_receiver_ops *ops, void *ctx);
void media_receiver_destroy(struct media_receiver *m);

// Writes the offers of `list` to `out`, the value of a Transport header; opens UDP ports if one of
// them requires ports. `repair`: the value of x-weir-repair in offers of datagrams; empty: without.
// 0; ERR_IO (logged); ERR_FULL; ERR_UNSUPPORTED: an unknown transport, or
// none of them can be encrypted.
int media_receiver_offer(struct media_receiver *m, const struct transport_list *list,
                         const char *cc, const char *repair, char *out, size_t cap);
// Reads the server's selection from `list`, and joins its multicast group. 0; ERR_MALFORMED; ERR_IO
// (logged): the group cannot be joined; ERR_UNSUPPORTED: a transport that was
// not offered; ERR_NO_MEMORY.
int media_receiver_accept(struct media_receiver *m, const struct transport_list *list,
                          struct text answer, usec_t now);
// Writes the offer of a path beside the connection, of the datagram transport `name`. Errors as of
// media_receiver_offer. Call it after that.
int media_receiver_offer_beside(struct media_receiver *m, const char *name, const char *repair,
                                char *out, size_t cap);
// Reads the answer, after media_receiver_accept. Returns true if there is such a path.
bool media_receiver_accept_beside(struct media_receiver *m, struct text answer);
// Sends tokens there: on_beside_open follows when the server is heard.
void media_receiver_try_beside(struct media_receiver *m, usec_t now);
// Writes the offer of a second path over `network`, of the transport that media_receiver_offer has
// just offered alone. 0; ERR_UNSUPPORTED: several were, or there is none of this kind; other errors
// of second_path.h.
int media_receiver_offer_second(struct media_receiver *m, const char *network, const char *repair,
                                char *out, size_t cap);
// Reads the answer, after media_receiver_accept; of no text: the server offers none. Returns true
// if there is such a path: it is tried at once.
bool media_receiver_accept_second(struct media_receiver *m, struct text answer, usec_t now);
// Bytes of RTP that came over it; -1: there is no such path.
int64_t media_receiver_second_bytes(const struct media_receiver *m);
// The same for the audio, which takes the transport that was accepted: 0, ERR_IO, ERR_FULL; and 0,
// ERR_MALFORMED, ERR_UNSUPPORTED.
int media_receiver_offer_audio(struct media_receiver *m, char *out, size_t cap);
int media_receiver_accept_audio(struct media_receiver *m, struct text answer);
// Returns true if on_validated or on_end will be called for the selected transport's path.
bool media_receiver_tells(const struct media_receiver *m);
// Returns true if media uses a connection that the transport's receiving end made.
bool media_receiver_connects(const struct media_receiver *m);

// Returns the number of media packets that routers marked (ECN CE); -1: the transport does not
// report marks.
int64_t media_receiver_marked(const struct media_receiver *m);
// Stops or continues reading the media's ports (udp_socket_hold), or the connection if media comes
// over it.
void media_receiver_hold(struct media_receiver *m, bool hold, usec_t now);
// Reports the next `packets` packets as marked. Returns false if the transport cannot.
bool media_receiver_mark(struct media_receiver *m, int packets);

// Passes an interleaved frame of the control connection on, if its channel is a track's.
void media_receiver_interleaved(struct media_receiver *m, int channel, const uint8_t *data,
                                size_t len, usec_t now);
// Sends one compound of a track, over both paths if there are two. If the network has no room it is
// lost, which RTCP allows.
void media_receiver_send_rtcp(struct media_receiver *m, enum media_track track, const uint8_t *data,
                              size_t len);

DECLS_END
#endif
