// SPDX-License-Identifier: GPL-2.0-or-later
// The sending core: one viewer's stream, from coded frames to packets. It chooses the level
// (adaptation.h), selects the frames to send (scheduler.h), cuts them into RTP packets
// (packetiser.h), repairs losses (repair_sender.h, stored_retransmit.h), and requests sizes, rates
// and key frames from the media. weir-send, the simulator and the tests all build this object.
//
//   In:  the viewer's requests (play, pause, level ...), frames and audio packets of the watched
//        sizes, the viewer's feedback (NACK, PLI), "the transport has room", the time.
//   Out: packets, to a media_transport; requests to the media, to a media_feed; notices to the
//        owner, through stream_sender_ops; all inside the call that caused them.
//
// After each call that is not const, the owner sets its timer to stream_sender_next_timeout.
//
// Pure.
#ifndef WEIR_STREAM_SEND_STREAM_SENDER_H
#define WEIR_STREAM_SEND_STREAM_SENDER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/protocol/media_transport.h"
#include "common/protocol/rtp_sender.h"
#include "common/repair/repair_policy.h"
#include "common/repair/repair_stats.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "stream/adapt/adaptation.h"
#include "stream/send/media_feed.h"
#include "stream/send/rate_limit.h"
#include "stream/send/scheduler.h"

DECLS_BEGIN

struct stream_sender; // opaque

enum { STREAM_SENDER_MAX_GAP = 1000 };

// `ctx`: see stream_sender_config. These functions must not call the sender.
struct stream_sender_ops {
    usec_t (*wall)(void *ctx, usec_t now); // the wall clock at this instant, since 1970
    // The first audio packet, or whole frame, has left since the media began or continued
    // elsewhere.
    void (*on_begun)(void *ctx, enum media_track track, usec_t now);
    // The media has ended and its last packet has left. The sender no longer plays.
    void (*on_end)(void *ctx, usec_t now);
    void (*on_closed)(void *ctx, usec_t now); // the transport returned ERR_CLOSED
};

struct stream_sender_config {
    const struct ladder *ladder; // borrowed
    struct media_feed *feed;     // borrowed; used until stream_sender_free
    enum sdp_codec codec;        // of the video
    bool plain;          // VP9 of the smallest size only, in packets that say nothing of layers
    uint64_t seed;       // seed of the RTP streams' random first numbers
    int level;           // level to send; if `follows`, the highest level
    bool follows;        // the level adapts to the network (adaptation.h)
    bool keeps_size;     // adaptation keeps the size of `level`
    double start_bps;    // initial rate for a path of this kind, bit/s
    bool reports_losses; // the viewer requests what it lacks (NACK, PLI)
    bool audio_only;
    // The frames come from an origin, which selects them: all are sent. The feed has `set_level`,
    // and `level` and `follows` are requests to it.
    bool relays;
    usec_t latency; // longest time that a frame may wait for the transport; not in SCHEDULER_FIFO
    enum scheduler_mode queue; // which waiting frames are dropped
    size_t queue_bytes;        // max bytes that wait; 0: SCHEDULER_LIMIT_BYTES
    size_t fragment_bytes;     // max bytes of a frame in a packet; 0: what the path allows
    const struct stream_sender_ops *ops; // static
    void *ctx;                           // borrowed
};

// Call stream_sender_attach next. NULL: no memory.
struct stream_sender *stream_sender_new(const struct stream_sender_config *config, usec_t now);
// Stops sending and frees. The transport may have been destroyed already. NULL is allowed.
void stream_sender_free(struct stream_sender *s);
// Sets the transport, borrowed. Call it once. Returns 0, or ERR_NO_MEMORY.
int stream_sender_attach(struct stream_sender *s, struct media_transport *transport, usec_t now);
// How lost packets of the video are repaired, as negotiated with a viewer that knows flow numbers
// and parity packets. Call it after stream_sender_attach and before the first packet. Without it,
// packets are sent again unless the viewer's reports would confuse a packet and its copy. Returns
// the mode in force, REPAIR_MODE_OFF if the media or the transport has no use for it; or
// ERR_NO_MEMORY.
int stream_sender_set_repair(struct stream_sender *s, enum repair_mode mode);
// Media continues on another transport, of the same viewer: numbers, time stamps, level and rate go
// on, and packets of both transports are in flight for a while.
struct sender_move {
    struct media_transport *transport; // borrowed, from now on in place of the one before
    enum repair_mode repair;           // that was negotiated for it
    // What left from then on may be lost: the frames that wait are dropped, and the media goes on
    // with frames that depend on none of these. USEC_NEVER: all arrives, as requests for it show
    // nothing.
    usec_t lost_since;
};
// Returns true if no frame has left in part. Only then a move may leave `lost_since` out.
bool stream_sender_may_move(const struct stream_sender *s);
// The number that the next packet has in a flow whose viewer reports (RTP header extension 3).
uint16_t stream_sender_next_flow_number(const struct stream_sender *s);
// The caller then sends what waits (stream_sender_pump). Returns 0, or ERR_NO_MEMORY: lost packets
// are not repaired.
int stream_sender_move(struct stream_sender *s, const struct sender_move *move, usec_t now);
// Adds audio of `bps` bit/s to video, or video to audio. Call these only while the sender does not
// play, and after stream_sender_attach.
void stream_sender_add_audio(struct stream_sender *s, double bps);
void stream_sender_add_video(struct stream_sender *s);

void stream_sender_play(struct stream_sender *s, usec_t now);
// A frame of which a packet has left is still sent to its end; the frames that wait behind it are
// dropped.
void stream_sender_pause(struct stream_sender *s);
void stream_sender_stop(struct stream_sender *s); // drops all waiting frames
// The media was moved to another position: frames before `from` are no longer sent. `any`: of
// level_switch_go_to.
void stream_sender_go_to(struct stream_sender *s, int64_t from, bool any);
// Frames from `from` on are shown `pace` times as fast as their numbers say (media_stamps.h).
void stream_sender_set_scale(struct stream_sender *s, double pace, int64_t from);

// Sends all video from frame `from` on again at this level, where a group of stored media begins
// that was begun: what waits of it is dropped. Audio is not sent again. 0; ERR_UNSUPPORTED: not in
// this state, or of this media; ERR_RANGE.
int stream_sender_send_again(struct stream_sender *s, int64_t from, int level, usec_t now);
int stream_sender_set_level(struct stream_sender *s, int level, usec_t now); // 0, ERR_RANGE
void stream_sender_set_follows(struct stream_sender *s, bool follows, usec_t now);
// Max rate of the media, bit/s, audio included, the packets' headers not: level and encoder follow
// it. The transport, if it can, paces somewhat above it. 0: none.
void stream_sender_set_max_rate(struct stream_sender *s, double bps, usec_t now);
// Limits all that is sent, headers included (rate_limit.h): the media as stream_sender_set_max_rate
// does, which it replaces; the transport, if it can, sends nothing beyond it.
void stream_sender_limit(struct stream_sender *s, const struct rate_limit *limit, usec_t now);
// Call it about once a second: other viewers may have come or gone. The encoder follows a max rate
// only while its viewer is alone.
void stream_sender_confirm(struct stream_sender *s, usec_t now);
void stream_sender_set_latency(struct stream_sender *s, usec_t latency);
// The viewer shows a frame about so long after its capture: until then lost packets are repaired.
// Without it: until the latency has passed.
void stream_sender_set_playout(struct stream_sender *s, usec_t playout);
// Sets the media's pace as a multiple of real time.
void stream_sender_set_speed(struct stream_sender *s, double speed, usec_t now);

// Frames and audio are borrowed: the sender takes a reference to those that it keeps.
void stream_sender_frame(struct stream_sender *s, struct coded_frame *f, usec_t now);
// Returns true if a frame waits of which no packet has left, or seconds of audio do.
bool stream_sender_has_waiting(const struct stream_sender *s);
void stream_sender_frame_again(struct stream_sender *s, struct coded_frame *f, usec_t now);
// Of relayed media: so many packets of video were lost upstream between the last frame and the
// next. Their sequence numbers are left out after the frames that wait now, so that the viewer
// counts the loss. Frames that this sender drops leave no such gap. At most STREAM_SENDER_MAX_GAP
// numbers are left out before one frame.
void stream_sender_lost(struct stream_sender *s, int packets);
void stream_sender_audio(struct stream_sender *s, struct coded_audio *c, usec_t now);
void stream_sender_end(struct stream_sender *s,
                       usec_t now); // the media ended; waiting frames are still sent
// Processes one RTCP item from the viewer: NACK and PLI of the video, within feedback_limit.h, and
// NACK of the audio, within sent_audio.h; other items are ignored.
void stream_sender_feedback(struct stream_sender *s, const struct rtcp_item *item, usec_t now);
// Sends while the transport has room. Call it when the transport may have room again.
void stream_sender_pump(struct stream_sender *s, usec_t now);
usec_t stream_sender_next_timeout(const struct stream_sender *s);
void stream_sender_on_timeout(struct stream_sender *s, usec_t now);
// How long packets have waited, here or in the transport, without one leaving; 0: there was nothing
// to send. Call it about once a second.
usec_t stream_sender_blocked(struct stream_sender *s, usec_t now);

bool stream_sender_is_playing(const struct stream_sender *s);
bool stream_sender_is_idle(const struct stream_sender *s); // neither frames nor audio wait
bool stream_sender_has_audio(const struct stream_sender *s);
bool stream_sender_has_video(const struct stream_sender *s); // true for filler, too
int stream_sender_level(const struct stream_sender *s);      // the requested level
int stream_sender_size(const struct stream_sender *s);       // the size that is sent now
// The number that the track's next packet has for the viewer.
uint16_t stream_sender_next_seq(const struct stream_sender *s, enum media_track track);
// Sequence numbers as written (packet_writer.h), and counters, of a track.
const struct rtp_sender *stream_sender_rtp(const struct stream_sender *s, enum media_track track);
// What the sender reports of both tracks are made of.
const struct rtp_instant *stream_sender_instant(const struct stream_sender *s);

struct stream_sender_stats {
    int level, size_id;
    // Frames of its levels that the encoder or the scheduler skipped, or the transport dropped.
    uint64_t skipped;
    uint64_t queue_dropped;    // frames of which the transport's own queue dropped a packet
    uint64_t thinned;          // frames not sent because their temporal layer exceeded the rate
    uint64_t feedback_dropped; // PLIs and NACK entries beyond the limit
    uint64_t audio_dropped;    // packets dropped after their deadline
    int waiting_frames;
    size_t waiting_bytes;
    usec_t waiting; // for how long the oldest frame has waited here
    struct scheduler_counters frames;
    enum repair_mode repair_mode;
    struct repair_stats repair; // all zero if the mode is REPAIR_MODE_OFF
    double repair_share;        // part of the bytes of the last second that was repair, 0 .. 1
    double wanted_bps;   // rate of the level that is requested, at its speed, and the audio's
    double overhead_bps; // of relayed media: headers and repair, in the last second
    bool follows;        // the level adapts to the network
    struct adaptation_stats adaptation;
};

void stream_sender_read(const struct stream_sender *s, struct stream_sender_stats *out, usec_t now);

DECLS_END
#endif
