// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer asks for on its RTSP connection: the methods, and the session that SETUP makes. The
// connection below it lends it its TCP connection. Loop thread only.
#ifndef WEIR_SENDER_RTSP_VIEWER_H
#define WEIR_SENDER_RTSP_VIEWER_H

#include <sys/socket.h>
#include <uv.h>

#include "common/protocol/rtsp_session.h"
#include "common/wire/rtsp.h"
#include "common/wire/rtsp_transport.h"
#include "sender/catalog/catalog.h"
#include "sender/rtsp/rtsp_response.h"
#include "sender/session/media_address.h"
#include "sender/session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

struct udp_socket;
struct mtp_raw;

struct viewer {
    uv_loop_t *loop;          // borrowed
    struct catalog *shelf;    // borrowed
    struct catalog_hold hold; // of the film of the path that was requested last
    struct stream *stream;    // its stream; NULL: none yet
    struct mtp_raw *raw;      // borrowed; NULL: none
    struct tcp_conn *tcp;     // borrowed: the connection's
    char name[64];            // its address
    struct rtsp_session state;
    struct session *session; // owned; NULL before SETUP
    bool interleaved;
    bool knows_weir; // names our transports
    int channel[2];
    struct udp_socket *udp[2];        // owned; RTP, RTCP
    struct media_address address;     // of datagram media
    int second_channel[2];            // as the next two, of the track that was set up second
    struct udp_socket *second_udp[2]; // NULL: it goes with the first
    struct media_address second_address;
    bool wants_pair;                              // of packets, once the address is proved
    uint32_t pair;                                // its number
    int query_level;                              // from ?level=N; -1 = none
    void (*on_stuck)(void *ctx, const char *why); // as struct session_config says
    void *ctx;                                    // borrowed
};

// Serves one request; the answer has status 200 and is else empty. Returns false if the request has
// to wait for a film to be opened: hold.on_ready follows, then the same request comes again.
bool viewer_serve(struct viewer *v, const struct rtsp_item *request, struct rtsp_response *a,
                  usec_t now);
// SETUP: picks a transport and makes the session.
void viewer_setup(struct viewer *v, const struct rtsp_item *request, struct rtsp_response *a,
                  usec_t now);
// SETUP of the other track behind that of the first: over the same transport, on channels or, for a
// player that does not know ours, ports of its own.
void viewer_setup_second(struct viewer *v, const struct rtsp_transport *offers, int count,
                         bool audio, struct rtsp_response *a);
// Of the pictures' track, or the sound's.
uint32_t viewer_track_ssrc(const struct viewer *v, bool audio);
bool viewer_has_second(const struct viewer *v); // of a session: are both tracks set up?
// Answers SETUP with what was given.
void viewer_answer_setup(struct viewer *v, const struct rtsp_transport *given,
                         struct rtsp_response *a);
// RTP's channel and RTCP's: two, even if the viewer names one, or one twice; `usual` if it names
// none.
void viewer_choose_channels(const struct rtsp_transport *offer, int usual, int channel[2]);
// Sends a pair of packets back to back where the media goes, numbered as the viewer asked: at once,
// or as soon as its address is proved. ERR_UNSUPPORTED: its media does not go in datagrams.
int viewer_send_pair(struct viewer *v, uint32_t pair);
// The level to begin with: the URL's, or what a stranger gets without asking, the highest.
int viewer_level(const struct viewer *v);
// Tells why the server is about to end the session, by a TEARDOWN of its own.
void viewer_dismiss(struct viewer *v, const char *why);
// Gives the stream back; without a session.
void viewer_leave(struct viewer *v);
// Ends the session, if there is one.
void viewer_teardown(struct viewer *v, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
