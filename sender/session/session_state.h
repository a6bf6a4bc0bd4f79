// SPDX-License-Identifier: GPL-2.0-or-later
// What the files session*.c share; nobody else includes it. session.c: life; session_level.c: which
// frames, at which level; session_send.c: their packets; session_sound.c: the sound's;
// session_feedback.c: what the viewer says.
#ifndef WEIR_SENDER_SESSION_SESSION_STATE_H
#define WEIR_SENDER_SESSION_SESSION_STATE_H

#include "common/base/rng.h"
#include "common/net/timer.h"
#include "common/protocol/rtp_sender.h"
#include "media/rtp/packetiser.h"
#include "sender/feed/stored_feed.h"
#include "sender/feed/synthetic_feed.h"
#include "sender/session/session.h"
#include "stream/adapt/adaptation.h"
#include "stream/send/audio_queue.h"
#include "stream/send/feedback_limit.h"
#include "stream/send/retransmit_buffer.h"
#include "stream/send/scheduler.h"
#include "stream/send/stored_retransmit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SESSION_PACKET_HEADERS = 40 }; // of RTP with its extensions, and what frames it

struct session_audio {
    bool is_set_up;
    bool is_heard; // the engine counts it
    struct rtp_sender rtp;
    struct audio_queue queue; // of struct coded_audio, a reference each
};

struct session {
    struct frame_sink sink; // first: the stream sees this of it
    struct session_config config;
    struct rng rng;              // of its RTP streams' first numbers
    int number;                  // among those that are there (figures.h)
    struct transport *transport; // owned
    struct timer *timer;         // owned: the next batch
    struct synthetic_feed *feed; // owned; NULL: other media
    struct stored_feed *stored;  // owned; NULL: other media
    struct rtp_sender rtp;
    struct session_audio audio;
    uint16_t flow_number; // of the next packet, of either
    struct scheduler scheduler;
    struct retransmit_buffer *resend; // owned; NULL: lost packets are not sent again
    struct stored_retransmit repairs; // of stored media
    struct feedback_limit feedback;
    char cname[64];
    bool playing;
    bool watching;    // the engine counts it: for size_id, and for wanted_size if that is another
    bool ending;      // the source ended: what waits still leaves
    int level;        // wanted now
    int sent_level;   // of size_id; differs from `level` until its key frame comes
    int size_id;      // sent now
    int wanted_size;  // of `level`; differs from size_id until its key frame comes
    int top;          // the highest temporal layer sent now
    int64_t from;     // frames before are not sent: they are of a place that was left
    int resumable;    // of a file: the size that the viewer has all of up to here; -1 none
    bool waiting_key; // nothing of size_id decodes for this viewer yet
    int64_t newest;   // number of the newest frame of size_id that came
    uint64_t uncoded; // frames of the level that the encoder left out, being too slow
    bool follows;     // the network: `adaptation` says level and encoder's rate
    struct adaptation adaptation;
    double made;      // bytes for this viewer, with the headers of their packets
    int steered;      // the size whose encoder's rate is this session's; -1 none
    uint64_t thinned; // frames left out to be within the rate at once
    double speed;     // that the media comes at
    usec_t latency;
    usec_t last_progress; // a packet left, or there was nothing to send
    usec_t begun_at;      // when PLAY came
    int64_t filler;       // packets made
    usec_t due_at;        // steady: when the next one is written
    bool has_packet;      // `payload` waits to be sent
    struct rtp_payload payload;
    struct packetiser packets; // over the frame that leaves
    // The scheduler's begun frame, which holds the reference; NULL = none.
    const struct coded_frame *leaving;
    int leaving_level;
};

static inline bool session_is_filler(const struct session *s)
{
    return stream_is_filler(s->config.stream);
}

static inline bool session_is_greedy(const struct session *s)
{
    return s->config.stream->kind == SDP_SOURCE_GREEDY;
}

static inline const struct ladder *session_ladder(const struct session *s)
{
    return &s->config.stream->ladder;
}

static inline const struct level *session_level_now(const struct session *s)
{
    return &session_ladder(s)->levels[s->level];
}

// ---- session.c

void session_send_report(struct session *s, bool bye, usec_t now);
void session_stop_playing(struct session *s);
void session_report_track(struct session *s, enum transport_track track, bool bye, usec_t now);

// ---- session_level.c

void session_set_media_rate(struct session *s, usec_t now);
// Does a later frame lean on one of this layer? None does on the top layer, unless it is the only
// one.
bool session_is_leaned_on(const struct session *s, int size_id, int temporal_id);
// Frees what the scheduler gave up, and has the encoder make later frames independent of it.
void session_reap(struct session *s);
// The transport has a rate of its own, and the media an encoder.
bool session_can_follow(const struct session *s);
void session_watch_size(struct session *s, int size_id, int change);
void session_unwatch(struct session *s);
// Gives a frame again that the viewer lacks.
void session_on_again(struct session *s, struct coded_frame *f, usec_t now);

// ---- session_sound.c

void session_hear(struct session *s, bool hear);
void session_clear_audio(struct session *s);
void session_on_frame(struct session *s, struct coded_frame *f, usec_t now);
void session_on_audio(struct session *s, struct coded_audio *c, usec_t now);
bool session_audio_waits(struct session *s, usec_t now); // what is too late was given up
int session_send_audio(struct session *s, usec_t now);   // as session_send_packet, of what waits

// ---- session_send.c

struct session_packet {
    enum transport_track track;
    struct rtp_packet *rtp; // what it has of its own
    const struct rtp_payload *payload;
    int64_t number;  // of its frame; -1: none
    usec_t captured; // of media that is sent again when it gets lost; 0: it is not
    usec_t pts;
    usec_t capture_wall;
};

// Hands it to the transport. 0, ERR_AGAIN, ERR_CLOSED.
int session_send_packet(struct session *s, const struct session_packet *p, usec_t now);
// What the transport kept back leaves; it leans on the payloads until then.
void session_flush(struct session *s, usec_t now);

// Sends while the transport has room. It is not asked for room that nothing needs: it would take
// the session for one that it holds back.
void session_pump(struct session *s, usec_t now);
// At the end of the media a session goes back to Ready (RFC 2326, A.2): PLAY begins again.
void session_tell_end(struct session *s, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
