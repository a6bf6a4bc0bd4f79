// SPDX-License-Identifier: GPL-2.0-or-later
// The connection to an RTSP server: looks the host up, connects, follows redirects, and runs
// rtsp_client.h (the protocol) on the socket; media_receiver.h receives the media.
// The timeout to connect is 5 s; 2 s while the host has further addresses. Loop thread only.
#ifndef WEIR_CLIENT_RTSP_RTSP_LINK_H
#define WEIR_CLIENT_RTSP_RTSP_LINK_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"
#include "common/protocol/rtsp_client.h"
#include "common/wire/capacity_pair.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

#define RTSP_LINK_TABLE_LIMIT (30 * USEC_PER_SEC)

// A media packet arrived in the flow of `track`. weir-send's audio comes in that of the video.
// `data` is borrowed for the call.
typedef void rtsp_link_packet_fn(void *ctx, enum media_track track, bool rtcp, const uint8_t *data,
                                 size_t len, usec_t arrived, usec_t now);

struct rtsp_link_ops {
    struct rtsp_client_events rtsp;
    // The film's table, which the owner of the link owns from now on; NULL: the server has none, or
    // it came malformed or not in time (logged). NULL: the owner requests none.
    void (*on_film_table)(void *ctx, struct film_table *table, usec_t now);
    // One packet of a pair that rtsp_link_ask_pair requested arrived. `bytes`: with the headers of
    // IP and UDP. NULL: the owner requests none.
    void (*on_pair)(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now);
};

struct rtsp_link;
struct rtsp_spare; // a connection to a server, without a session
struct rtsp_standby;
struct mtp_raw_receiver;

struct rtsp_link_config {
    uv_loop_t *loop; // borrowed
    // Copied. The link fills in what it knows: standard_transports, hash, seed.
    const struct rtsp_client_config *rtsp;
    const char *cc;     // the kernel's congestion control to request for media over TCP; empty: the
                        // server's choice. Copied
    const char *repair; // how lost packets of datagram transports are to be repaired
                        // (x-weir-repair); NULL: the server is not asked. Copied
    // Media beside the connection is SRTP even if the connection is not encrypted: for tests, as
    // the keys cross the network readable.
    bool srtp;
    // An interface's name, or a local address, of a second network, over which media in datagrams
    // comes, too (second_path.h), copied; NULL or empty: there is none.
    const char *second;
    // The session is continued on another connection when this one seems dead or the address of
    // this machine changes (attach_watch.h), if the server knows how.
    bool attaches;
    struct rtsp_spare *spare; // taken over, on failure too: plays over this connection, which must
                              // serve the URL; NULL: makes its own
    // Receiver for transports over raw TCP segments, borrowed; NULL: they are not possible.
    struct mtp_raw_receiver *raw;
    const struct rtsp_link_ops *ops; // static
    void *ctx;                       // borrowed
    rtsp_link_packet_fn *on_packet;  // NULL: no SETUP follows the description
    void *packet_ctx;                // borrowed
};

// Starts at once. NULL: no memory.
struct rtsp_link *rtsp_link_new(const struct rtsp_link_config *config, usec_t now);
void rtsp_link_free(struct rtsp_link *l); // NULL is fine; no callback afterwards; not inside one

// Ends the session at once, without a callback, and keeps the connection, on which the server drops
// what it did not send yet. The link is of no use afterwards but to be freed. NULL: no memory,
// there is no connection, or media has one of its own; then nothing has changed. The caller owns
// the result. It may be called inside a callback.
struct rtsp_spare *rtsp_link_detach(struct rtsp_link *l, usec_t now);
// Returns true if the connection leads to the server of `url`, with the same user.
bool rtsp_spare_serves(const struct rtsp_spare *s, const struct url *url);
void rtsp_spare_free(struct rtsp_spare *s); // NULL is fine
// Lets the next stream begin on the connection of `standby`, if that leads to the same server and
// is open, and media was sent over the spare one. That one is reset: neither what waits at the
// server nor what the network lost delays the next stream.
void rtsp_spare_renew(struct rtsp_spare *s, struct rtsp_standby *standby, usec_t now);
// Call it about once a second while media plays. Makes and tends *standby, a connection to the
// link's server. Frees it if it is of no use: the media has packets or a connection of its own, or
// the server cannot begin a stream in one round trip.
void rtsp_link_keep_standby(struct rtsp_link *l, struct rtsp_standby **standby, usec_t now);

// The protocol, for the viewer's requests and what it knows of the session; borrowed. As a request
// changes the next deadline, the link looks for that after each call of this.
struct rtsp_client *rtsp_link_client(struct rtsp_link *l);
// How the server repairs lost packets, in the words of its SETUP response; empty: it does not.
const char *rtsp_link_repair(const struct rtsp_link *l);
// Media packets that a router marked (ECN CE) so far; -1: the transport does not report marks.
int64_t rtsp_link_ecn_marked(const struct rtsp_link *l);
// Bytes of RTP that came over the second network so far; -1: there is none.
int64_t rtsp_link_second_bytes(const struct rtsp_link *l);
// Stops or continues reading media; over TCP nothing is read at all. Not inside a callback.
void rtsp_link_hold(struct rtsp_link *l, bool hold, usec_t now);
// Reports the next `packets` media packets as marked. Returns false if the transport cannot.
bool rtsp_link_mark(struct rtsp_link *l, int packets);
void rtsp_link_set_ssrc(struct rtsp_link *l,
                        uint32_t ssrc); // SSRC of our RTCP; call it in on_described at the latest
// Sends a compound of RTCP about the audio or the video.
void rtsp_link_send_rtcp(struct rtsp_link *l, bool audio, const uint8_t *data, size_t len);

// Call it after on_playing, once, for the film that `sdp` describes: requests its table, part by
// part. on_film_table follows, once, within RTSP_LINK_TABLE_LIMIT, unless the link ends; maybe
// inside this call.
void rtsp_link_ask_film_table(struct rtsp_link *l, const struct sdp *sdp, usec_t now);
// Ends the session while media plays: calls on_end(RTSP_CLIENT_LOST) with the text `why`.
void rtsp_link_give_up(struct rtsp_link *l, const char *why, usec_t now);

DECLS_END
#endif
