// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's side of an RTSP session: connects, asks what there is, sets up, plays, measures once
// a second, leaves.
//
// Round trips from connecting to media: DESCRIBE | SETUP | parameters + PLAY; what can be sent
// together is, but to servers that are not weir-send, which are asked one thing at a time. With a
// choice of transports there is one more a transport, to hear whether the
// network lets it through, and TEARDOWN + SETUP if it does not (transport_choice.h).
//
// With --adapt goddard, on_ready comes where else PLAY is asked for, and client_begin when the
// first level is known.
//
// Deadlines: 5 s to connect, 8 s for each answer until the media plays, 32 s until the transport is
// set up. Then each whole message or datagram tells that the server lives: without any for 10 s
// (13 s when media comes as datagrams: as long as the sender waits for reports, so an outage of
// 10 s is survived) it is lost. Asking once a second makes sure that there is something to hear,
// and keeps the session from timing out. Whether what comes is media, the owner watches, who knows
// of pauses and ends (media_silence.h). Loop thread only.
#ifndef WEIR_PLAYER_RTSP_CLIENT_H
#define WEIR_PLAYER_RTSP_CLIENT_H

#include <stdbool.h>
#include <uv.h>

#include "common/wire/capacity_pair.h"
#include "common/wire/sdp.h"
#include "player/options/play_options.h"
#include "player/rtsp/rtsp_request.h"

#ifdef __cplusplus
extern "C" {
#endif

enum client_end {
    CLIENT_REFUSED,  // cannot be reached, or refused
    CLIENT_LOST,     // vanished after the media began to play
    CLIENT_INTERNAL, // out of memory, no ports ...
    CLIENT_LEFT,     // after client_leave
    CLIENT_LISTED,   // it is no stream but a folder of them; after on_list
};

struct client_setup {
    const char *transport; // as negotiated
    const char *why;       // it and not another of the list; empty: there was no choice
    bool datagram;         // media comes beside the control connection, and may be lost
    bool pairs;            // in datagrams, so a pair of them can be asked for
    usec_t rtt;            // the least of the answers so far
};

struct client_place { // in a file, where PLAY began
    double seconds;   // NaN: not told, as are the next with -1
    int64_t first;    // the first frame that comes
    int64_t show;     // the frame that stands at `seconds`; those before it only serve to decode it
    bool ahead;       // the server sends faster than the media's own pace at first
    bool sought;      // this was asked for by client_seek
};

struct client_answer { // of one measurement
    struct rtsp_measures measures;
    usec_t rtt; // of the question, on the control connection
    usec_t asked_wall;
    usec_t received_wall;
};

struct client_ops {
    void (*on_connected)(void *ctx, usec_t now);
    // The description, good for the client's life. Returns false when it cannot be played: the
    // client then stops with CLIENT_REFUSED, and *why says it.
    bool (*on_described)(void *ctx, const struct sdp *sdp, const char **why, usec_t now);
    // The URL is of a folder: its files, a line each.
    void (*on_list)(void *ctx, struct text list, usec_t now);
    void (*on_setup)(void *ctx, const struct client_setup *setup, usec_t now);
    // There is sound: of weir-send it comes as other packets do, of others by on_sound_packet.
    void (*on_audio)(void *ctx);
    void (*on_audio_packet)(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                            usec_t now);
    void (*on_ready)(void *ctx, usec_t now); // of --adapt goddard: client_begin is up to you
    // PLAY was answered; again after each pause or seek.
    void (*on_playing)(void *ctx, const struct client_place *place, usec_t now);
    void (*on_packet)(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now);
    void (*on_answer)(void *ctx, const struct client_answer *answer, usec_t now);
    // One packet of a pair that client_ask_pair asked for; `bytes`: with all headers of the network
    // layer.
    void (*on_pair)(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now);
    void (*on_pair_refused)(void *ctx, usec_t now);
    void (*on_level)(void *ctx, int level, bool accepted, usec_t now); // of client_set_level
    void (*on_pause_refused)(void *ctx, usec_t now);                   // the server goes on sending
    // The server stays where it is, paused or not, as it was.
    void (*on_seek_refused)(void *ctx, usec_t now);
    // The last callback. `text`: for people; empty for CLIENT_LEFT.
    void (*on_end)(void *ctx, enum client_end end, const char *text, usec_t now);
};

struct client;
struct media_mtp_raw;

// Starts at once. `options` and `ops` are borrowed. NULL: logged.
struct client *client_new(uv_loop_t *loop, const struct play_options *options,
                          const struct client_ops *ops, void *ctx, usec_t now);
void client_free(struct client *c); // NULL is fine; no callback afterwards; not inside one

// So long may nothing come while it plays.
usec_t client_silence_limit(const struct client *c);
// While it plays: on_end(CLIENT_LOST) with this text, in this call.
void client_give_up(struct client *c, const char *why, usec_t now);

// For transports over TCP segments of our own; before the loop runs. Outlives the client.
void client_lend_raw(struct client *c, struct media_mtp_raw *raw);
// Media packets that a router marked (ECN CE) so far; -1: the transport does not tell.
int64_t client_ecn_marked(const struct client *c);
void client_set_ssrc(struct client *c, uint32_t ssrc); // of our RTCP; before it is described
// `sound`: about it.
void client_send_rtcp(struct client *c, bool audio, const uint8_t *data, size_t len);
// After on_ready: a pair of packets, by its number.
void client_ask_pair(struct client *c, uint32_t pair, usec_t now);
// After on_ready, once: PLAY at this level (-1: as --level says) and speed.
void client_begin(struct client *c, int level, double speed, usec_t now);
void client_set_speed(struct client *c, double speed, usec_t now); // what the server gives counts
// After on_playing; each is answered by its callback.
void client_set_level(struct client *c, int level, usec_t now);
void client_set_latency(struct client *c, int ms,
                        usec_t now); // the session's parameter; no callback
// Of stored media: go there, and play.
void client_seek(struct client *c, double seconds, usec_t now);
void client_pause(struct client *c, usec_t now);
void client_resume(struct client *c, usec_t now);
// TEARDOWN. True: on_end(CLIENT_LEFT) follows when it is answered, at the latest after
// CLIENT_LEAVE_TIME. False: the client has ended already. No media comes any more.
bool client_leave(struct client *c, usec_t now);
#define CLIENT_LEAVE_TIME (500 * USEC_PER_MSEC)

#ifdef __cplusplus
}
#endif
#endif
