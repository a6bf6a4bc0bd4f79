// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of one RTP session: packets in, whole frames and audio packets out. It wires
// the video's receiver (video_receiver.h) with the audio's (audio_receiver.h), tells them apart
// where they share a flow, relates their clocks, and makes both streams' RTCP. The packets may come
// from an RTSP session of ours (remote_stream.h), or from a client that publishes to us.
//
// Loop thread only, of any loop.
#ifndef WEIR_CLIENT_RECEIVE_STREAM_RECEIVER_H
#define WEIR_CLIENT_RECEIVE_STREAM_RECEIVER_H

#include "client/receive/audio_receiver.h"
#include "client/receive/video_receiver.h"
#include "common/base/decls.h"

DECLS_BEGIN

// What becomes of the media; NULL: not needed. No call may free the receiver.
struct stream_receiver_ops {
    struct video_receiver_ops video;
    // A packet arrived, maybe a malformed one or a duplicate. One of the video is processed after
    // this call, one of the audio was before.
    void (*on_media)(void *ctx, enum media_track track, bool rtcp, const uint8_t *data, size_t len,
                     usec_t now);
    void (*on_audio)(void *ctx, const struct received_audio *a, usec_t now);
};

struct stream_receiver_config {
    struct video_receiver_config video;    // its ops and ctx are set here
    const struct stream_receiver_ops *ops; // static
    void *ctx;                             // borrowed
};

struct stream_receiver; // opaque

// NULL: no memory.
struct stream_receiver *stream_receiver_new(const struct stream_receiver_config *config);
void stream_receiver_free(struct stream_receiver *r); // NULL is fine
// The video's, borrowed: for what concerns no audio.
struct video_receiver *stream_receiver_video(const struct stream_receiver *r);

// The server has set up the audio that the description names. Before, its packets are dropped. The
// second call does nothing. Returns 0; ERR_NO_MEMORY: its lost packets are not requested.
int stream_receiver_add_audio(struct stream_receiver *r);
// The transport is known, or has changed. `repairs_audio`: its lost packets are requested, too.
// Returns 0 or ERR_NO_MEMORY.
int stream_receiver_set_repair(struct stream_receiver *r, const struct video_repair *repair,
                               bool repairs_audio);
// The path's round trip (0: unknown), and how long after it was noticed a missing packet of the
// audio is of use; of the video video_receiver_set_keep says it.
void stream_receiver_set_path(struct stream_receiver *r, usec_t rtt, usec_t keep, usec_t now);
// `track`: the flow in which the packet came.
void stream_receiver_packet(struct stream_receiver *r, enum media_track track, bool rtcp,
                            const uint8_t *data, size_t len, usec_t arrived, usec_t now);
// The picture with this time stamp, or that the newest packet is of, has the media time `media`:
// the audio's position is found from it.
void stream_receiver_relate(struct stream_receiver *r, uint32_t rtp_timestamp, usec_t media,
                            usec_t arrived);

struct stream_audio_counts {
    bool started; // a packet has come
    uint64_t packets;
    uint64_t lost;
    uint64_t repaired; // were requested and sent again
    uint64_t bytes;
};
// All zero: no audio was added.
struct stream_audio_counts stream_receiver_audio(const struct stream_receiver *r);
// Call it about once a second: reports to the sender, and fills in `out`.
void stream_receiver_second(struct stream_receiver *r, struct video_receiver_stats *out,
                            usec_t now);

DECLS_END
#endif
