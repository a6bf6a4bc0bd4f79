// SPDX-License-Identifier: GPL-2.0-or-later
// The connection to an RTSP server: looks the host up, connects, follows redirects, and runs
// rtsp_client.h (the protocol) on the socket; media_receiver.h receives the media.
// The timeout to connect is 5 s; 2 s while the host has further addresses. Loop thread only.
#ifndef WEIR_PLAYER_RTSP_CLIENT_H
#define WEIR_PLAYER_RTSP_CLIENT_H

#include <stdbool.h>
#include <uv.h>

#include "common/protocol/rtsp_client.h"
#include "common/wire/capacity_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

struct client_ops {
    struct rtsp_client_events rtsp;
    // Media. weir-send's audio comes by on_packet, too; that of third-party servers by
    // on_audio_packet. `data` is borrowed for the call.
    void (*on_packet)(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now);
    void (*on_audio_packet)(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                            usec_t now);
    // One packet of a pair that client_ask_pair requested; `bytes`: with the headers of IP and UDP.
    void (*on_pair)(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now);
};

struct client;
struct mtp_raw_receiver;

// Starts at once. `config` is copied, and what the client itself knows is filled in:
// standard_transports, hash, seed. `cc`: the kernel's congestion control to request for media
// over TCP; empty: the server's choice. `ops` is static, `ctx` borrowed. NULL: logged.
struct client *client_new(uv_loop_t *loop, const struct rtsp_client_config *config, const char *cc,
                          const struct client_ops *ops, void *ctx, usec_t now);
void client_free(struct client *c); // NULL is fine; no callback afterwards; not inside one

// For transports over raw TCP segments; NULL: they are not possible. Before the loop runs. Outlives
// the client.
void client_lend_raw(struct client *c, struct mtp_raw_receiver *raw);
// Media packets that a router marked (ECN CE) so far; -1: the transport does not report marks.
int64_t client_ecn_marked(const struct client *c);
void client_set_ssrc(struct client *c, uint32_t ssrc); // of our RTCP; in on_described at the latest
// Sends a compound of RTCP about the audio or the video.
void client_send_rtcp(struct client *c, bool audio, const uint8_t *data, size_t len);

// See the functions of the same names in rtsp_client.h.
usec_t client_silence_limit(const struct client *c);
void client_ask_pair(struct client *c, uint32_t pair, usec_t now);
void client_begin(struct client *c, int level, double speed, usec_t now);
void client_set_speed(struct client *c, double speed, usec_t now);
void client_set_level(struct client *c, int level, usec_t now);
void client_set_latency(struct client *c, int ms, usec_t now);
void client_seek(struct client *c, double seconds, usec_t now);
void client_pause(struct client *c, usec_t now);
void client_resume(struct client *c, usec_t now);
bool client_leave(struct client *c, usec_t now);
// While media plays: on_end(RTSP_CLIENT_LOST) with this text, in this call.
void client_give_up(struct client *c, const char *why, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
