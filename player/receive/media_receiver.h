// SPDX-License-Identifier: GPL-2.0-or-later
// Where RTP and RTCP come in and RTCP goes out: interleaved on the control connection (RFC
// 2326, 10.12), or a pair of UDP ports. Writes the Transport header's offers and takes its answer;
// over UDP, proves where the ports are and reports what arrives, if the server wants that.
// Loop thread only.
#ifndef WEIR_PLAYER_RECEIVE_MEDIA_RECEIVER_H
#define WEIR_PLAYER_RECEIVE_MEDIA_RECEIVER_H

#include <stdbool.h>
#include <uv.h>

#include "common/net/tcp_conn.h"
#include "common/net/udp_socket.h"
#include "common/transport/transport_list.h"
#include "common/wire/capacity_pair.h"
#include "common/wire/sdp.h"
#include "player/receive/media_feedback.h"
#include "player/receive/media_mtp.h"
#include "player/receive/media_mtp_raw.h"
#include "player/receive/path_validation.h"

#ifdef __cplusplus
extern "C" {
#endif

// `data` is borrowed for the call. `arrived`: when the kernel took it in, as far as that is known.
typedef void media_packet_fn(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                             usec_t now);

struct media_receiver_ops {
    media_packet_fn *on_packet;
    media_packet_fn *on_audio; // the sound's, if it has a way of its own
    // One of two packets that measure the path; `bytes`: with the headers of IP and UDP.
    void (*on_pair)(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now);
    // Media can come by the path beside the control connection: once, if there is one that tells.
    void (*on_proved)(void *ctx, usec_t now);
    // The media's own connection is over; `error` as media_mtp_raw.h has it.
    void (*on_end)(void *ctx, const char *error, usec_t now);
};

struct media_receiver {
    uv_loop_t *loop;              // borrowed
    struct tcp_conn *control;     // borrowed
    const struct sdp *sdp;        // borrowed
    uint32_t ssrc;                // ours
    struct udp_socket *socket[2]; // RTP, RTCP; owned; NULL unless datagram transports are offered
    struct sockaddr_storage peer[2];
    bool accepted;
    bool datagram;
    int channel[2];
    bool has_audio;       // beside the video or, of servers that are not weir-send, its own way
    int audio_channel[2]; // -1: none
    struct udp_socket *audio_socket[2]; // owned; NULL unless it has ports of its own
    struct sockaddr_storage audio_peer[2];
    char name[TRANSPORT_MAX_NAME];        // of the transport taken
    const struct media_receiver_ops *ops; // static
    void *ctx;                            // borrowed
    uint64_t strangers;                   // datagrams from elsewhere, dropped
    struct media_feedback *feedback;      // owned; NULL: not wanted
    struct media_mtp *mtp;                // owned; NULL: another transport
    struct media_mtp_raw *raw;            // borrowed; NULL: transports that need it are not offered
    bool uses_raw;                        // media comes by it
    struct path_validation *proof;        // owned; NULL: not asked for
};

// `control` is connected; it and `sdp` outlive the path. `ssrc`: what the viewer goes by in RTCP.
// `raw`: a socket for transports over TCP segments of our own, or NULL.
void media_receiver_init(struct media_receiver *m, uv_loop_t *loop, struct tcp_conn *control,
                         const struct sdp *sdp, uint32_t ssrc, struct media_mtp_raw *raw,
                         const struct media_receiver_ops *ops, void *ctx);
void media_receiver_destroy(struct media_receiver *m);

// Writes the offers of `list` to `out`, the value of a Transport header; opens UDP ports when one
// needs them. 0; ERR_IO (logged); ERR_FULL.
int media_receiver_offer(struct media_receiver *m, const struct transport_list *list,
                         const char *cc, char *out, size_t cap);
// The server's choice, one of `list`. 0; ERR_MALFORMED; ERR_UNSUPPORTED: not what was offered;
// ERR_NO_MEMORY.
int media_receiver_accept(struct media_receiver *m, const struct transport_list *list,
                          struct text answer, usec_t now);
// The same for the sound, which comes the way that was accepted: 0, ERR_IO, ERR_FULL; and 0,
// ERR_MALFORMED, ERR_UNSUPPORTED.
int media_receiver_offer_audio(struct media_receiver *m, char *out, size_t cap);
int media_receiver_accept_audio(struct media_receiver *m, struct text answer);
// The server's choice has a path that tells when it is proved.
bool media_receiver_tells(const struct media_receiver *m);

// Hands an interleaved frame of the control connection on, if its channel is ours.
void media_receiver_interleaved(struct media_receiver *m, int channel, const uint8_t *data,
                                size_t len, usec_t now);
// Sends one compound, which is about the sound or not; when the network has no room it is lost, as
// RTCP may be.
void media_receiver_send_rtcp(struct media_receiver *m, bool audio, const uint8_t *data,
                              size_t len);

#ifdef __cplusplus
}
#endif
#endif
