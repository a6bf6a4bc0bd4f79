// SPDX-License-Identifier: GPL-2.0-or-later
// The sending core: one viewer's stream, from coded frames to packets. It chooses the level
// (adaptation.h), which frames leave (scheduler.h), cuts them into RTP packets (packetiser.h),
// sends again what got lost (retransmit_buffer.h, stored_retransmit.h), and asks the media for
// sizes, rates and key frames. weir-send, the simulator and the tests all build this object.
//
//   In:  the viewer's requests (play, pause, level ...), frames and audio packets of the sizes that
//        are watched, what the viewer reports (NACK, PLI), "the transport has room", the time.
//   Out: packets, to a media_transport; requests to the media, to a media_feed; notices to the
//        owner, through stream_sender_ops; all inside the call that caused them.
//
// After each call that is not const, the owner sets its timer to stream_sender_next_timeout.
//
// Pure.
#ifndef WEIR_STREAM_SEND_STREAM_SENDER_H
#define WEIR_STREAM_SEND_STREAM_SENDER_H

#include "common/base/level.h"
#include "common/protocol/media_transport.h"
#include "common/protocol/rtp_sender.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "stream/adapt/adaptation.h"
#include "stream/send/media_feed.h"
#include "stream/send/scheduler.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stream_sender; // opaque

// `ctx` is that of the configuration. The functions do not call the sender.
struct stream_sender_ops {
    usec_t (*wall)(void *ctx, usec_t now); // the wall clock at this instant, since 1970
    // Of two tracks: the first packet of this one has left.
    void (*on_begun)(void *ctx, enum media_track track, usec_t now);
    // The media has ended and all of it has left. It plays no longer.
    void (*on_end)(void *ctx, usec_t now);
    void (*on_closed)(void *ctx, usec_t now); // the transport answered ERR_CLOSED
};

struct stream_sender_config {
    const struct ladder *ladder; // borrowed
    struct media_feed *feed;     // borrowed; used until stream_sender_free
    uint8_t payload_type;        // of the video
    uint64_t seed;               // of the RTP streams' first numbers
    int level;                   // that is sent; while it follows the network, the highest one
    bool follows;                // the network: adaptation.h
    bool keeps_size;             // all levels that are sent have the size of `level`
    double start_bps;            // bit/s that a path of this kind takes at first
    bool audio_only;
    usec_t latency;                      // how long a frame may wait for the transport
    const struct stream_sender_ops *ops; // static
    void *ctx;                           // borrowed
};

// stream_sender_attach follows. NULL: no memory.
struct stream_sender *stream_sender_new(const struct stream_sender_config *config, usec_t now);
// Stops. The transport may be gone. NULL is fine.
void stream_sender_free(struct stream_sender *s);
// The transport that takes the packets, borrowed; once. 0, or ERR_NO_MEMORY.
int stream_sender_attach(struct stream_sender *s, struct media_transport *transport, usec_t now);
// The audio, too, of so many bit/s; or the video, where it was the audio alone. While it does not
// play.
void stream_sender_add_audio(struct stream_sender *s, double bps);
void stream_sender_add_video(struct stream_sender *s);

void stream_sender_play(struct stream_sender *s, usec_t now);
// A frame that has begun to leave still leaves whole; what waits behind it is dropped.
void stream_sender_pause(struct stream_sender *s);
void stream_sender_stop(struct stream_sender *s); // drops all waiting frames
// The media has gone to another place: frames before `from` are not sent any more.
void stream_sender_go_to(struct stream_sender *s, int64_t from);

int stream_sender_set_level(struct stream_sender *s, int level, usec_t now); // 0, ERR_RANGE
void stream_sender_set_follows(struct stream_sender *s, bool follows, usec_t now);
void stream_sender_set_latency(struct stream_sender *s, usec_t latency);
// The media comes at so many times its own pace.
void stream_sender_set_speed(struct stream_sender *s, double speed, usec_t now);

// Frames and audio are borrowed: the sender takes a reference to those it keeps.
void stream_sender_frame(struct stream_sender *s, struct coded_frame *f, usec_t now);
void stream_sender_frame_again(struct stream_sender *s, struct coded_frame *f, usec_t now);
void stream_sender_audio(struct stream_sender *s, struct coded_audio *c, usec_t now);
void stream_sender_end(struct stream_sender *s,
                       usec_t now); // of the media; what waits still leaves
// One item of RTCP from the viewer: NACK and PLI of the video are looked at (feedback_limit.h).
void stream_sender_feedback(struct stream_sender *s, const struct rtcp_item *item, usec_t now);
// Sends while the transport has room; called when it may have room again.
void stream_sender_pump(struct stream_sender *s, usec_t now);
usec_t stream_sender_next_timeout(const struct stream_sender *s);
void stream_sender_on_timeout(struct stream_sender *s, usec_t now);
// For how long packets have waited and none has left; 0: there was nothing to send. About once a
// second.
usec_t stream_sender_blocked(struct stream_sender *s, usec_t now);

bool stream_sender_is_playing(const struct stream_sender *s);
bool stream_sender_is_idle(const struct stream_sender *s); // no frame and no audio waits
bool stream_sender_has_audio(const struct stream_sender *s);
bool stream_sender_has_video(const struct stream_sender *s); // or filler, which stands for it
int stream_sender_level(const struct stream_sender *s); // the current level, or the one awaited
int stream_sender_size(const struct stream_sender *s);  // that is sent
// Numbers and counts of a track.
const struct rtp_sender *stream_sender_rtp(const struct stream_sender *s, enum media_track track);

struct stream_sender_stats {
    int level, size_id;
    uint64_t skipped;          // frames of its levels that encoder or scheduler left out
    uint64_t thinned;          // frames left out to be within the rate at once
    uint64_t feedback_dropped; // PLIs and entries of NACKs, beyond the limit
    uint64_t audio_dropped;    // packets, past their deadline
    int waiting_frames;
    size_t waiting_bytes;
    usec_t waiting; // the oldest
    struct scheduler_counters frames;
    bool follows; // the network
    struct adaptation_stats adaptation;
};

void stream_sender_read(const struct stream_sender *s, struct stream_sender_stats *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
