// SPDX-License-Identifier: GPL-2.0-or-later
// One stream of a server, from the viewing end: the RTSP session (rtsp_link.h), and from its
// description on the receivers of its media (stream_receiver.h), wired with each other: packets
// from the link to the receivers, RTCP back, and the repair of lost packets as the server grants
// it. The owner gets the events of the session and the media, and takes from these the calls here:
//
//   on_described -> remote_stream_describe       on_setup, on_moved -> remote_stream_set_up
//   on_audio     -> stream_receiver_add_audio    on_answer          -> stream_receiver_set_path
//
// Loop thread only, of any loop.
#ifndef WEIR_CLIENT_SESSION_REMOTE_STREAM_H
#define WEIR_CLIENT_SESSION_REMOTE_STREAM_H

#include "client/receive/stream_receiver.h"
#include "client/rtsp/rtsp_link.h"
#include "common/base/decls.h"

DECLS_BEGIN

struct remote_stream; // opaque

// Starts at once. `config`: as rtsp_link_new takes it; its on_packet and packet_ctx are set here.
// Its spare is taken over, on failure too. NULL: no memory.
struct remote_stream *remote_stream_new(const struct rtsp_link_config *config, usec_t now);
// Frees the link, and sends nothing: rtsp_link_detach or rtsp_client_leave may have ended the
// session. The receivers stay, with what they have got. Not inside a callback.
void remote_stream_hang_up(struct remote_stream *r);
// Packets are dropped from now on.
void remote_stream_stop(struct remote_stream *r);
// Ends the session if there is one: its TEARDOWN leaves at once. Only on_end may be called, and
// only inside this. NULL is fine. Not inside a callback.
void remote_stream_free(struct remote_stream *r, usec_t now);

// The session: for its requests and what it reports. Borrowed; NULL: hung up.
struct rtsp_link *remote_stream_link(const struct remote_stream *r);
// NULL: not described yet. Borrowed, until the next remote_stream_describe.
struct stream_receiver *remote_stream_media(const struct remote_stream *r);

// Makes the receivers of a description; of one that is out of date, or was redirected, they are
// freed. Of config->video the loop, the random number and the way back are set here. Returns NULL
// if there is no memory.
struct stream_receiver *remote_stream_describe(struct remote_stream *r,
                                               const struct stream_receiver_config *config);

// How the server repairs lost packets, after SETUP.
enum repair_mode remote_stream_repair(const struct remote_stream *r);

struct remote_repair {
    bool audio;  // lost packets of the audio are requested, too
    usec_t keep; // how long after it was noticed a missing packet is of use
};
// The transport is known, or the media has moved to another: from now on lost packets are repaired,
// as far as the server can. Returns 0; ERR_NO_MEMORY: they are not.
int remote_stream_set_up(struct remote_stream *r, const struct rtsp_client_setup *setup,
                         const struct remote_repair *repair, usec_t now);

DECLS_END
#endif
