// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/stream_sender.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/rate_meter.h"
#include "stream/send/audio_queue.h"
#include "stream/send/feedback_limit.h"
#include "stream/send/filler.h"
#include "stream/send/frame_packets.h"
#include "stream/send/level_switch.h"
#include "stream/send/media_stamps.h"
#include "stream/send/sent_audio.h"
#include "stream/send/size_watch.h"
#include "stream/send/stored_retransmit.h"

// Of what a viewer says of its playout: decoding, and waiting for the display.
#define SHOWING       (20 * USEC_PER_MSEC)
#define STORED_USEFUL (10 * USEC_PER_SEC)
#define HELD_USEFUL   (120 * USEC_PER_SEC)       // more than a viewer buffers of a film
#define FILM_WAIT     (24 * 3600 * USEC_PER_SEC) // a pause included
// The encoder takes the rate of a picture when it is captured.
#define BEFORE_CAPTURE (3 * USEC_PER_MSEC)

enum {
    MIN_KEPT = 128 << 10, // bytes of a viewer's video that can be sent again
    MAX_KEPT = 2 << 20,
    // Of films, which leave as fast as the network carries them; what is not kept any more is read
    // again, if it is stored.
    KEPT_HELD = 8 << 20,
    KEPT_PACKETS_HELD = 8192,
    RECENT = 64,         // frames whose departure is remembered
    MOVE_NACKS = 16384,  // packets after a move for which requests may be of before it
    BATCH = 64,          // max packets per call, so that a greedy sender does not block the loop
    PEAK_FACTOR_X2 = 5,  // video may leave at 2.5 times its mean rate, as key frames are far larger
                         // than the mean frame
    FRAGMENT_HEAD = 2,   // bytes: FU indicator and FU header (RFC 6184, 5.8)
    PACKET_HEADERS = 40, // bytes: RTP header with extensions, and the transport's framing
    LOWER_HEADERS = 40,  // bytes: of a packet that is not full, in a window of bytes (mtp_sender.h)
};
// What may leave at a max rate, of the media: its headers, and a part by which a queue that a key
// frame has made becomes shorter. Where nothing else controls the rate, that part is small.
static const double PACE = 1.25, PACE_UNCONTROLLED = 1.05;
static const double PACE_HEADERS = 100 * PACKET_HEADERS * 8; // bit/s: video and audio
#define AUDIO_PACKETS_PS 50                                  // of 20 ms each

struct stream_sender {
    struct stream_sender_config config;
    const struct stream_sender_ops *ops;
    struct media_feed *feed; // borrowed
    struct rng rng;          // draws the first numbers of the RTP streams
    struct packet_writer writer;
    struct scheduler scheduler;
    struct audio_queue audio;     // holds one reference to each struct coded_audio
    struct sent_audio sent_audio; // so does this; used if lost packets are repaired
    struct filler filler;
    struct stored_retransmit repairs; // used for stored media
    usec_t playout;                   // 0: the viewer did not tell it
    struct feedback_limit feedback;
    bool playing;
    bool answers; // what the viewer lacks is sent again: it plays, or it has what was stored ahead
    bool watching;
    bool rests; // a pause of a film that waits for this viewer: it still takes what is on its way
    bool holds_back; // the feed has `drained`, and the viewer set no latency: no frame is dropped
    struct size_watch sizes;
    bool hears;                // the sender watches the audio
    bool ending;               // the media has ended; waiting frames are still sent
    bool is_announced[TRACKS]; // on_begun was called
    usec_t wake_at;            // time at which there is more to send
    usec_t progress_at;        // last time at which a packet left, or nothing waited
    double delivered;          // bytes that the viewer had confirmed when that was last asked

    struct level_switch levels; // selects the frames
    struct media_stamps stamps; // their times on the wire
    int64_t key_number;         // of the newest key frame: no later frame depends on one before it

    // While `follows`, `adaptation` sets the level and the encoder's rate.
    bool follows;
    struct adaptation adaptation;
    usec_t follow_at; // just before the next picture is encoded; USEC_NEVER: after the next frame
    double made;      // bytes encoded for this viewer, packet headers included
    double padding;   // bytes by which their packets, and the audio's, were not full
    double overhead;  // bytes that those take of a window of bytes beside the media
    int steered;      // size whose encoder's rate this sender sets; -1: none
    double speed;     // pace of the media, as a multiple of real time
    double audio_bps;
    struct rate_limit limit; // of stream_sender_limit

    // Of relayed media:
    struct rate_meter headers;
    uint64_t lost;    // packets that were lost upstream
    uint64_t skipped; // of these, those whose sequence numbers were left out, or need not be

    uint64_t queue_dropped; // frames of which the transport's queue dropped a packet
    uint64_t queue_cut;     // of these, those whose rest the scheduler dropped, and counted

    // Packets of the scheduler's begun frame; the scheduler holds the frame's reference.
    struct frame_packets leaving;

    struct recent_frame {
        int64_t number;
        int size_id;
        usec_t at; // its first packet left
    } recent[RECENT];
    uint64_t recent_count;  // of all frames that began to leave
    bool has_moved;         // to another transport
    uint16_t moved_seq;     // of the first video packet on it
    uint64_t moved_packets; // of the video, that had left by then
};

static bool is_filler(const struct stream_sender *s)
{
    return s->feed->filler != FILLER_NONE;
}

static const struct level *level_now(const struct stream_sender *s)
{
    return &s->config.ladder->levels[s->levels.level];
}

// Returns true if `size_id` is sent now, itself or as a layer of its pictures.
static bool is_sent(const struct stream_sender *s, int size_id)
{
    int now = s->levels.size_id;
    return s->config.ladder->cumulative ? size_id <= now : size_id == now;
}

static int layers_of(const struct stream_sender *s, int size_id)
{
    return s->config.ladder->sizes[size_id].layers;
}

// Returns true if the viewer waits for what it lacks of the media, however late it comes.
static bool is_awaited(const struct stream_sender *s)
{
    return s->holds_back || s->feed->is_film;
}

// ---- Life

struct stream_sender *stream_sender_new(const struct stream_sender_config *config, usec_t now)
{
    struct stream_sender *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->config = *config;
    s->ops = config->ops;
    s->feed = config->feed;
    s->feed->reports_losses = config->reports_losses;
    s->holds_back = s->feed->ops->drained != NULL;
    s->rng = rng_seeded(config->seed);
    packet_writer_init(&s->writer, sdp_payload_type(config->codec), &s->rng);
    if (config->fragment_bytes)
        s->writer.max_payload = config->fragment_bytes + FRAGMENT_HEAD;
    struct frame_packets_config packets = {
        .codec = config->codec, .ladder = config->ladder, .plain = config->plain};
    frame_packets_init(&s->leaving, &packets);
    stored_retransmit_init(&s->repairs);
    sent_audio_init(&s->sent_audio, s->feed->ops->give_again != NULL);
    feedback_limit_init(&s->feedback, now);
    s->feedback.is_film = is_awaited(s);
    adaptation_init(&s->adaptation, config->ladder, config->level, config->start_bps,
                    config->keeps_size);
    if (s->feed->is_film)
        adaptation_keep_frames(&s->adaptation);
    s->filler.greedy = s->feed->filler == FILLER_GREEDY;
    size_watch_init(&s->sizes);
    media_stamps_init(&s->stamps, config->ladder->source_fps);
    s->steered = -1;
    s->speed = 1;
    s->wake_at = s->follow_at = USEC_NEVER;
    s->progress_at = now;
    return s;
}

static void set_media_rate(struct stream_sender *s, usec_t now)
{
    struct media_transport *t = s->writer.transport;
    if (!t->ops->on_media_rate)
        return;
    double bps = level_now(s)->bitrate_bps * s->speed;
    bps = s->feed->filler == FILLER_GREEDY ? bps : bps / 2 * PEAK_FACTOR_X2;
    t->ops->on_media_rate(t, bps < INT_MAX ? (int)bps : INT_MAX, now);
}

static void request_level(struct stream_sender *s)
{
    if (s->config.relays)
        s->feed->ops->set_level(s->feed, s->config.level, s->config.follows);
}

// Returns true if the media can adapt to the network: the transport reports arrivals, and the media
// has an encoder, here or at its origin, or comes at several rates.
static bool can_follow(const struct stream_sender *s)
{
    const struct media_feed *f = s->feed;
    bool can = s->config.relays ? f->is_encoded : f->ops->set_bitrate || f->has_rates;
    return can && s->writer.transport->measures;
}

static bool is_stored(const struct stream_sender *s)
{
    return s->feed->ops->give_again != NULL;
}

// Returns true if the viewer has media that it shows later: it may still request packets of that
// when nothing is sent any more.
static bool is_ahead(const struct stream_sender *s)
{
    return is_stored(s) || is_awaited(s);
}

// Returns how long a frame may wait here. A film is late rather than in part, unless the viewer set
// a latency and its encoder cannot follow the network.
static usec_t max_wait(const struct stream_sender *s)
{
    bool waits = s->feed->is_film && (s->holds_back || s->config.follows);
    return waits ? FILM_WAIT : s->config.latency;
}

// Returns how long after its capture a frame is of use to the viewer. Stored media waits at the
// viewer for longer than any loss takes to repair, unless the viewer says otherwise.
static usec_t useful(const struct stream_sender *s)
{
    if (s->playout)
        return usec_max(0, s->playout - SHOWING);
    return is_awaited(s) ? HELD_USEFUL : is_stored(s) ? STORED_USEFUL : s->config.latency;
}

// Keeps about a second of video, to be sent again.
static size_t kept_bytes(const struct stream_sender *s)
{
    double bytes = 0;
    if (is_awaited(s))
        return KEPT_HELD;
    for (int i = 0; i < s->config.ladder->level_count; i++)
        bytes = fmax(bytes, s->config.ladder->levels[i].bitrate_bps / 8.0);
    return (size_t)fmax(MIN_KEPT, fmin(bytes, MAX_KEPT));
}

static int set_repair(struct stream_sender *s, enum repair_mode mode, bool is_known)
{
    struct packet_writer_repair repair = {.mode = is_filler(s) ? REPAIR_MODE_OFF : mode,
                                          .is_known = is_known,
                                          .kept_bytes = kept_bytes(s),
                                          .kept_packets = is_awaited(s) ? KEPT_PACKETS_HELD : 0,
                                          .repairs_all = is_awaited(s),
                                          .useful = useful(s)};
    return packet_writer_set_repair(&s->writer, &repair, &s->rng);
}

static enum repair_mode repair_mode_now(const struct stream_sender *s)
{
    return s->writer.repair ? repair_sender_policy(s->writer.repair)->mode : REPAIR_MODE_OFF;
}

int stream_sender_set_repair(struct stream_sender *s, enum repair_mode mode)
{
    assert(s->writer.rtp[TRACK_VIDEO].packets == 0);
    int err = set_repair(s, mode, true);
    return err ? err : (int)repair_mode_now(s);
}

// ---- What the transport's own queue drops

static bool is_depended_on(const struct stream_sender *s, int size_id, int temporal_id);
static bool frame_is_depended_on(const struct stream_sender *s, int size_id, int64_t number);
static void mend(struct stream_sender *s, int size_id, int64_t number);

static bool on_leaves(void *ctx, uint8_t *rtp, size_t len)
{
    return packet_writer_leaves(&((struct stream_sender *)ctx)->writer, rtp, len);
}

// A frame that lacks a packet is of no use to the viewer: the scheduler drops what depends on it,
// and the encoder's later frames become independent of it, at once.
static void on_dropped(void *ctx, const uint8_t *rtp, size_t len)
{
    struct stream_sender *s = ctx;
    enum media_track track;
    uint16_t seq;
    if (!packet_writer_dropped(&s->writer, rtp, len, &track, &seq) || track != TRACK_VIDEO)
        return;
    int64_t number = rtp_sender_frame_of(&s->writer.rtp[track], seq);
    int size_id = number < 0 || !s->config.ladder->cumulative
                      ? s->levels.size_id
                      : rtp_sender_size_of(&s->writer.rtp[track], seq);
    bool is_leaving = seq == s->writer.rtp[track].next_seq; // `send` was called with it
    if (is_leaving && s->leaving.frame) {
        number = s->leaving.frame->number;
        size_id = s->leaving.frame->size_id;
    }
    if (number < 0 || !scheduler_broke(&s->scheduler, number, size_id))
        return;
    s->queue_dropped++;
    if (s->watching && number >= s->key_number && frame_is_depended_on(s, size_id, number))
        mend(s, size_id, number);
}

static const struct media_queue_events QUEUE_EVENTS = {.leaves = on_leaves, .dropped = on_dropped};

int stream_sender_attach(struct stream_sender *s, struct media_transport *transport, usec_t now)
{
    assert(!s->writer.transport);
    int err = packet_writer_attach(&s->writer, transport);
    if (err)
        return err;
    if (transport->drops) {
        transport->queue = &QUEUE_EVENTS;
        transport->queue_ctx = s;
    }
    s->writer.has_gaps = s->config.relays;
    err = set_repair(s, REPAIR_MODE_RESEND, false);
    if (err)
        return err;
    s->follows = s->config.follows && can_follow(s);
    s->writer.reports_often = s->follows;
    level_switch_init(&s->levels, s->config.ladder,
                      s->follows && !s->config.relays ? adaptation_level(&s->adaptation)
                                                      : s->config.level,
                      s->feed->reorders);
    s->levels.relays = s->config.relays;
    s->levels.keeps_size = s->config.keeps_size;
    request_level(s);
    struct scheduler_config scheduler = {.mode = s->config.queue,
                                         .bound = max_wait(s),
                                         .limit_bytes = s->config.queue_bytes,
                                         .layers = layers_of(s, s->levels.size_id),
                                         .cumulative = s->config.ladder->cumulative,
                                         .reliable = transport->reliable};
    err = scheduler_init(&s->scheduler, &scheduler);
    if (err)
        return err;
    set_media_rate(s, now);
    return 0;
}

void stream_sender_add_audio(struct stream_sender *s, double bps)
{
    (void)packet_writer_add_audio(&s->writer, &s->rng); // without memory, drops count as losses
    s->audio_bps = bps;
    adaptation_set_beside(&s->adaptation, bps);
}

void stream_sender_add_video(struct stream_sender *s)
{
    s->config.audio_only = false;
}

// ---- Watched sizes

static void watch_sizes(struct stream_sender *s)
{
    struct size_watch_change changes[SIZE_WATCH_CHANGES];
    unsigned sizes = 1u << s->levels.size_id | 1u << s->levels.wanted_size;
    if (s->config.ladder->cumulative)
        sizes = (2u << s->levels.wanted_size) - 1;
    int count = size_watch_set(&s->sizes, s->watching ? sizes : 0, changes);
    // The sizes are needed for their video, or for audio that arrives with them.
    bool is_needed = !s->config.audio_only || !s->feed->ops->watch_audio;
    if (!s->feed->ops->watch || !is_needed)
        return;
    for (int i = 0; i < count; i++)
        s->feed->ops->watch(s->feed, changes[i].size_id, changes[i].viewers);
}

// The viewer lacks a frame of a size that passes: another size may be sent from now on.
static void leave_passed(struct stream_sender *s)
{
    watch_sizes(s);
    scheduler_set_layers(&s->scheduler, layers_of(s, s->levels.size_id));
}

// The viewer lacks a frame on which others depend.
static void mend(struct stream_sender *s, int size_id, int64_t number)
{
    if (ladder_size_passes(s->config.ladder, size_id)) {
        if (size_id != s->levels.size_id)
            return;
        level_switch_lack(&s->levels);
        if (s->levels.size_id != size_id) // else the scheduler would forget what it dropped
            leave_passed(s);
    } else if (s->feed->ops->repair) {
        s->feed->ops->repair(s->feed, size_id, number);
    }
}

static void watch_audio(struct stream_sender *s, bool hears)
{
    if (!s->writer.has_audio || hears == s->hears)
        return;
    s->hears = hears;
    if (s->feed->ops->watch_audio)
        s->feed->ops->watch_audio(s->feed, hears ? 1 : -1);
}

// This sender sets the encoder's rate of `size_id` from now on, and of no other size; -1: of none.
static void steer(struct stream_sender *s, int size_id, int bitrate_bps)
{
    if (s->steered >= 0 && s->steered != size_id)
        s->feed->ops->set_bitrate(s->feed, s->steered, 0);
    if (size_id >= 0)
        s->feed->ops->set_bitrate(s->feed, size_id, bitrate_bps);
    s->steered = size_id;
}

static void unwatch(struct stream_sender *s)
{
    if (!s->watching)
        return;
    s->watching = false;
    watch_audio(s, false);
    steer(s, -1, 0);
    rate_estimator_restart(&s->adaptation.rate);
    watch_sizes(s);
}

static void serve_level(struct stream_sender *s, int level, usec_t now)
{
    if (level == s->levels.level)
        return;
    level_switch_set(&s->levels, level);
    set_media_rate(s, now);
    watch_sizes(s);
}

static bool is_only_viewer(const struct stream_sender *s)
{
    return !s->feed->ops->is_alone || s->feed->ops->is_alone(s->feed);
}

// Returns true if no other viewer shares the encoders. A cumulative ladder has many levels, between
// which a switch costs little: the rates stay.
static bool is_alone(const struct stream_sender *s)
{
    return !s->config.ladder->cumulative && is_only_viewer(s);
}

static void serve_adapted(struct stream_sender *s, usec_t now)
{
    serve_level(s, adaptation_level(&s->adaptation), now);
    if (s->adaptation.encoder_bps && s->watching)
        steer(s, s->levels.wanted_size, s->adaptation.encoder_bps);
    else
        steer(s, -1, 0);
}

// Returns true if the max rate steers the encoder, as the transport measures nothing.
static bool steers_unmeasured(const struct stream_sender *s)
{
    return !s->config.relays && !s->follows && s->config.follows && s->feed->ops->set_bitrate;
}

// Serves the level that the network and the max rate leave. The encoder follows the max rate also
// where the transport measures none: its viewer does, and grows its estimate (REMB) in steps that
// are smaller than the ladder's.
static void serve_chosen(struct stream_sender *s, usec_t now)
{
    if (s->config.relays)
        return;
    if (steers_unmeasured(s)) {
        adaptation_keep_limit(&s->adaptation, is_alone(s));
        serve_adapted(s, now);
        return;
    }
    int within = adaptation_level_within(&s->adaptation, s->speed);
    serve_level(s, s->follows ? adaptation_level(&s->adaptation) : within, now);
}

// `media_bps`: of the media, without headers; `rtp_bps`: at which packets may leave. 0: no limit.
static void limit_to(struct stream_sender *s, double media_bps, double rtp_bps, usec_t now)
{
    struct media_transport *t = s->writer.transport;
    if (t->ops->set_max_rate)
        t->ops->set_max_rate(t, rtp_bps, now);
    adaptation_set_limit(&s->adaptation, media_bps);
}

// Divides the limit by the packets that the viewer's highest level has: those of a lower one, which
// may be fewer, would lead back up to it.
static void keep_limit(struct stream_sender *s, usec_t now)
{
    const struct ladder *ladder = s->config.ladder;
    if (!(s->limit.bps > 0))
        return;
    double frames_ps = level_frame_rate(ladder, s->config.level) * s->speed;
    if (ladder->cumulative)
        frames_ps *= ladder->levels[s->config.level].size_id + 1;
    const struct rtp_packet shape = {0};
    struct rate_limit_flow flow = {.frames_ps = s->config.audio_only ? 0 : frames_ps,
                                   .payload_bytes =
                                       (double)packet_writer_payload_room(&s->writer, &shape),
                                   .audio_bps = s->audio_bps,
                                   .audio_ps = s->writer.has_audio ? AUDIO_PACKETS_PS : 0};
    struct rate_limit_share share = rate_limit_divide(&s->limit, &flow);
    limit_to(s, share.media_bps, share.rtp_bps, now);
}

int stream_sender_set_level(struct stream_sender *s, int level, usec_t now)
{
    if (!ladder_has_level(s->config.ladder, level))
        return ERR_RANGE;
    s->config.level = level;
    request_level(s);
    adaptation_set_cap(&s->adaptation, level);
    keep_limit(s, now);
    serve_chosen(s, now);
    return 0;
}

void stream_sender_set_follows(struct stream_sender *s, bool follows, usec_t now)
{
    s->config.follows = follows;
    scheduler_set_bound(&s->scheduler, max_wait(s));
    request_level(s);
    s->follows = s->writer.reports_often = follows && can_follow(s);
    if (s->follows || s->config.relays)
        return;
    steer(s, -1, 0);
    serve_chosen(s, now);
}

void stream_sender_set_max_rate(struct stream_sender *s, double bps, usec_t now)
{
    double pace = s->writer.transport->responsive ? PACE : PACE_UNCONTROLLED;
    s->limit.bps = 0;
    limit_to(s, bps, bps > 0 ? pace * bps + PACE_HEADERS : 0, now);
    serve_chosen(s, now);
    set_media_rate(s, now); // a transport without rate control paces at it
}

void stream_sender_limit(struct stream_sender *s, const struct rate_limit *limit, usec_t now)
{
    s->limit = *limit;
    if (limit->bps > 0)
        keep_limit(s, now);
    else
        limit_to(s, 0, 0, now);
    serve_chosen(s, now);
    set_media_rate(s, now);
}

void stream_sender_confirm(struct stream_sender *s, usec_t now)
{
    if (steers_unmeasured(s))
        serve_chosen(s, now);
}

void stream_sender_set_latency(struct stream_sender *s, usec_t latency)
{
    s->config.latency = latency;
    s->holds_back = false;
    s->writer.useful = useful(s);
    scheduler_set_bound(&s->scheduler, max_wait(s));
}

void stream_sender_set_playout(struct stream_sender *s, usec_t playout)
{
    s->playout = playout;
    s->writer.useful = useful(s);
}

void stream_sender_set_speed(struct stream_sender *s, double speed, usec_t now)
{
    s->speed = speed;
    keep_limit(s, now);
    serve_chosen(s, now);
    set_media_rate(s, now);
}

// Returns what repair took of the last second's bytes, 0 .. 1.
static double repair_share(const struct stream_sender *s, usec_t now)
{
    return s->writer.repair ? repair_stats_recent_share(repair_sender_stats(s->writer.repair), now)
                            : 0;
}

// Returns what the transport carries beside the media. A proxy knows the headers only from what
// comes; an encoder responds to what they take of its rate.
static double overhead_bps(const struct stream_sender *s, usec_t now)
{
    struct rate_meter headers = s->headers;
    double bps = headers.total ? rate_meter_bps(&headers, now) : 0;
    if (s->writer.repair)
        bps += repair_stats_recent_bps(repair_sender_stats(s->writer.repair), now);
    return isnan(bps) ? 0 : bps;
}

// Bytes that wait for the transport. If it counts packets, the last one of each frame is half full.
static double queued_bytes(const struct stream_sender *s, bool counts_packets)
{
    double padding = counts_packets ? (double)s->writer.transport->max_packet / 2 : 0;
    return (double)s->scheduler.bytes - (double)s->leaving.sent +
           (double)s->scheduler.count * padding;
}

// Adapts level and rate to the network; called about twice a frame. Repair is part of what the
// transport carries, beside the video, which gets the rest.
static void follow(struct stream_sender *s, usec_t now)
{
    struct media_transport *t = s->writer.transport;
    struct transport_info info;
    t->ops->info(t, &info, now);
    if (isnan(info.delivered_bytes))
        return;
    // A rate controller counts bytes, a window packets or bytes.
    bool is_window = !t->responsive && !isnan(info.window_bps);
    bool counts_packets = is_window && !info.counts_bytes;
    // A smoothed RTT lags behind the queue. The kernel's RTT, sampled at each ACK, lags little.
    // What waits on the way back is no queue of this media, and is left out where it is known.
    double rtt_ms = isnan(info.latest_rtt_ms) ? info.rtt_ms : info.latest_rtt_ms;
    rtt_ms = isnan(info.forward_rtt_ms) ? rtt_ms : info.forward_rtt_ms;
    double allowed_bps = t->responsive ? info.allowed_bps : info.window_bps;
    struct rate_estimator_sample sample = {
        .delivered = info.delivered_bytes,
        .made = s->made,
        .unsent = isnan(info.unsent_bytes) ? 0 : info.unsent_bytes,
        .flight = info.flight_bytes,
        .queued = queued_bytes(s, counts_packets),
        .padding = counts_packets ? s->padding
                   : is_window    ? s->overhead
                                  : 0,
        .is_window = is_window,
        // The kernel's TCP reports no rate that it allows, and reduces an unused window.
        .is_kept = is_window && !isnan(info.allowed_bps),
        // A byte stream puts several small frames into a packet.
        .packets_ps =
            t->reliable || info.counts_bytes ? NAN : allowed_bps / 8 / (double)t->max_packet,
        .allowed_bps = allowed_bps,
        .leads = info.leads,
        .rtt = isnan(rtt_ms) ? 0 : (usec_t)(rtt_ms * USEC_PER_MSEC),
        .waiting = scheduler_waiting(&s->scheduler, now),
    };
    if (s->writer.repair)
        sample.made += (double)repair_sender_stats(s->writer.repair)->repair_bytes;
    if (s->writer.repair || s->config.relays)
        adaptation_set_beside(&s->adaptation, s->audio_bps + overhead_bps(s, now));
    // The origin of relayed media chooses level and rate: it is told the target.
    if (adaptation_update(&s->adaptation, &sample, is_alone(s), now) && !s->config.relays)
        serve_adapted(s, now);
}

// ---- Selection of frames

// Returns true if later frames depend on a frame of this layer. None depends on the top layer,
// unless it is the only one.
static bool is_depended_on(const struct stream_sender *s, int size_id, int temporal_id)
{
    int layers = layers_of(s, size_id);
    return layers == 1 || temporal_id < layers - 1;
}

// Frees the frames that the scheduler dropped, and makes the encoder's later frames independent of
// them.
static void reap(struct stream_sender *s)
{
    struct scheduler_frame f;
    enum drop_cause cause;
    while (scheduler_dropped(&s->scheduler, &f, &cause)) {
        struct coded_frame *frame = f.data;
        if (frame == s->leaving.frame) { // its unsent packets are dropped, too
            frame_packets_forget(&s->leaving);
            s->queue_cut += cause == DROP_BROKEN;
        }
        if (s->watching && cause != DROP_FLUSHED && cause != DROP_BROKEN &&
            is_depended_on(s, frame->size_id, f.temporal_id))
            mend(s, frame->size_id, f.number);
        coded_frame_unref(frame);
    }
}

static void clear_audio(struct stream_sender *s)
{
    struct coded_audio *c;
    while ((c = audio_queue_take(&s->audio)))
        coded_audio_unref(c);
    while (!(is_ahead(s) && s->answers) && (c = sent_audio_remove(&s->sent_audio)))
        coded_audio_unref(c);
}

// Drops the waiting frames, except a frame that has begun to leave.
static void flush_waiting(struct stream_sender *s)
{
    scheduler_flush(&s->scheduler, 0);
    reap(s);
    clear_audio(s);
}

static usec_t frame_interval(const struct stream_sender *s, int size_id)
{
    struct fps fps = s->config.ladder->sizes[size_id].fps;
    return usec_max(1, (usec_t)((double)usec_of_frames(1, fps.num, fps.den) / s->speed));
}

static void plan_repair(struct stream_sender *s, const struct coded_frame *f, usec_t now)
{
    struct repair_planner_frame frame = {.captured = f->captured,
                                         .useful = s->writer.useful,
                                         .interval = frame_interval(s, f->size_id),
                                         .bps = level_now(s)->bitrate_bps * s->speed};
    packet_writer_plan(&s->writer, &frame, now);
}

static void send_frame(struct stream_sender *s, struct coded_frame *f, usec_t now)
{
    if (f->key)
        s->key_number = f->number;
    plan_repair(s, f, now);
    size_t packets = f->bytes / s->writer.transport->max_packet + 1;
    s->made += (double)(f->bytes + packets * PACKET_HEADERS);
    if (s->config.relays)
        rate_meter_add(&s->headers, packets * PACKET_HEADERS, now);
    s->padding += (double)(packets * s->writer.transport->max_packet - f->bytes);
    s->overhead += (double)(packets * PACKET_HEADERS + LOWER_HEADERS); // one packet is not full
    struct scheduler_frame entry = {
        .number = f->number,
        .depends_on = f->depends_on,
        .temporal_id = f->temporal_id,
        .captured = f->captured,
        .bytes = f->bytes,
        .level = s->levels.sent_level,
        .lost = s->lost,
        .size_id = f->size_id,
        .on_lower = f->on_lower,
        .past = s->feed->gives_past,
        .data = coded_frame_ref(f),
    };
    scheduler_push(&s->scheduler, &entry, now);
    reap(s);
    stream_sender_pump(s, now);
}

static void request_key(struct stream_sender *s, usec_t now)
{
    const struct media_feed_ops *feed = s->feed->ops;
    if (!feed->request_key || !feedback_limit_pli(&s->feedback, now))
        return;
    if (ladder_size_passes(s->config.ladder, s->levels.size_id))
        mend(s, s->levels.size_id, -1);
    else
        feed->request_key(s->feed, s->levels.size_id, now);
}

// Returns true if what the media hands over is for this viewer. What comes while a film rests was
// on its way at the pause, unless another viewer has it run on.
static bool is_taking(const struct stream_sender *s)
{
    return s->watching || (s->rests && is_only_viewer(s));
}

void stream_sender_frame(struct stream_sender *s, struct coded_frame *f, usec_t now)
{
    if (!is_taking(s) || is_filler(s) || s->config.audio_only)
        return;
    if (s->config.relays && !ladder_has_level(s->config.ladder, f->level))
        return;
    int level = s->levels.level, size_id = s->levels.size_id;
    switch (level_switch_take(&s->levels, f)) {
    case LEVEL_OTHER:
        return;
    case LEVEL_LACKS_KEY:
        if (s->levels.size_id != size_id)
            leave_passed(s);
        if (s->config.relays && f->temporal_id == 0)
            request_key(s, now);
        // The requested key frame may have arrived before the position that is awaited: request
        // another.
        if (s->levels.from > 0 && f->temporal_id == 0 && s->feed->ops->begin)
            s->feed->ops->begin(s->feed, s->levels.size_id, s->levels.from);
        return;
    case LEVEL_SWITCHED:
        watch_sizes(s);
        if (!s->config.relays) // an origin sends no frame of the previous size twice
            scheduler_flush(&s->scheduler, f->number);
        reap(s);
        scheduler_set_layers(&s->scheduler, layers_of(s, s->levels.size_id));
        break;
    case LEVEL_TAKEN:
        break;
    }
    if (s->levels.level != level)
        set_media_rate(s, now);
    if (s->config.ladder->cumulative)
        scheduler_set_sizes(&s->scheduler, s->levels.size_id + 1);
    if (s->follows && !f->on_lower) {
        follow(s, now);
        // A proxy encodes nothing: it needs no second reading before a queue begins to grow.
        s->follow_at = s->config.relays && adaptation_is_calm(&s->adaptation)
                           ? USEC_NEVER
                           : f->captured + frame_interval(s, f->size_id) - BEFORE_CAPTURE;
    }
    if (level_switch_sends(&s->levels, f, s->follows ? s->adaptation.top : LEVEL_MAX_LAYERS))
        send_frame(s, f, now);
}

void stream_sender_frame_again(struct stream_sender *s, struct coded_frame *f, usec_t now)
{
    if (s->watching && is_sent(s, f->size_id) && f->temporal_id <= s->levels.top)
        send_frame(s, f, now);
}

bool stream_sender_has_waiting(const struct stream_sender *s)
{
    return scheduler_first_waiting(&s->scheduler) || s->audio.count >= AUDIO_QUEUE_PACKETS / 2;
}

void stream_sender_lost(struct stream_sender *s, int packets)
{
    assert(s->config.relays && packets >= 0);
    s->lost += (uint64_t)packets;
}

void stream_sender_audio(struct stream_sender *s, struct coded_audio *c, usec_t now)
{
    if (!s->hears && !(s->rests && s->writer.has_audio && is_taking(s)))
        return;
    s->made += (double)(c->bytes + PACKET_HEADERS);
    if (!s->writer.transport->reliable) // else it shares packets
        s->padding += (double)s->writer.transport->max_packet - (double)c->bytes;
    s->overhead += PACKET_HEADERS + LOWER_HEADERS;
    if (s->config.relays)
        rate_meter_add(&s->headers, PACKET_HEADERS, now);
    coded_audio_unref(audio_queue_push(&s->audio, coded_audio_ref(c), usec_max(c->captured, now)));
    stream_sender_pump(s, now);
}

// ---- The viewer's requests

// Media begins, or continues elsewhere.
static void begin(struct stream_sender *s)
{
    packet_writer_begin(&s->writer);
    s->is_announced[TRACK_VIDEO] = s->is_announced[TRACK_AUDIO] = false;
}

void stream_sender_play(struct stream_sender *s, usec_t now)
{
    s->answers = true;
    if (!s->playing) {
        s->playing = true;
        if (s->feed->ops->play)
            s->feed->ops->play(s->feed, true);
        s->progress_at = now;
        filler_begin(&s->filler, now);
        if (is_filler(s))
            s->wake_at = now;
    }
    if (s->watching)
        return;
    bool rested = s->rests;
    s->rests = false;
    if (rested) // what waited through the pause leaves
        s->wake_at = now;
    if (rested && s->ending) // nothing follows that
        return;
    s->watching = true;
    s->ending = false;
    begin(s);
    level_switch_begin(&s->levels);
    scheduler_set_layers(&s->scheduler, layers_of(s, s->levels.size_id));
    if (is_stored(s))
        scheduler_begin(&s->scheduler);
    watch_sizes(s);
    watch_audio(s, true);
}

static void stop_playing(struct stream_sender *s)
{
    if (s->playing && s->feed->ops->play)
        s->feed->ops->play(s->feed, false);
    s->playing = s->ending = false;
    s->answers &= is_ahead(s);
    unwatch(s);
}

void stream_sender_stop(struct stream_sender *s)
{
    stop_playing(s);
    s->answers = s->rests = false;
    scheduler_clear(&s->scheduler);
    reap(s);
    clear_audio(s);
}

void stream_sender_pause(struct stream_sender *s)
{
    if (!s->playing)
        return;
    bool rests = s->feed->is_film && s->feed->stands_still && is_only_viewer(s);
    bool ending = s->ending && rests;
    stop_playing(s);
    if (rests) { // nothing is lost by the pause
        s->rests = true;
        s->ending = ending;
        level_switch_pause(&s->levels, true);
        return;
    }
    const struct scheduler_frame *first = scheduler_first_waiting(&s->scheduler);
    const struct coded_frame *frame = first ? first->data : NULL;
    if (frame && s->feed->ops->rewind)
        s->feed->ops->rewind(s->feed, frame->number + frame->reorder);
    // An encoder without another viewer stops during the pause.
    level_switch_pause(&s->levels, s->feed->ops->rewind || (!frame && s->feed->stands_still));
    flush_waiting(s);
}

void stream_sender_go_to(struct stream_sender *s, int64_t from, bool any)
{
    level_switch_go_to(&s->levels, from, any);
    s->rests = false;
    begin(s);
    if (s->config.ladder->passes)
        leave_passed(s);
    else
        watch_sizes(s);
    flush_waiting(s);
    if (is_stored(s))
        scheduler_begin(&s->scheduler);
    if (s->feed->ops->begin)
        s->feed->ops->begin(s->feed, s->levels.size_id, from);
}

int stream_sender_send_again(struct stream_sender *s, int64_t from, int level, usec_t now)
{
    if (!s->watching || !s->feed->ops->again)
        return ERR_UNSUPPORTED;
    if (!ladder_has_level(s->config.ladder, level) || !s->feed->ops->again(s->feed, from))
        return ERR_RANGE;
    scheduler_flush(&s->scheduler, from);
    reap(s);
    (void)stream_sender_set_level(s, level, now);
    level_switch_go_to(&s->levels, from, false); // nothing of the size before is sent again
    leave_passed(s);
    return 0;
}

void stream_sender_set_scale(struct stream_sender *s, double pace, int64_t from)
{
    media_stamps_set(&s->stamps, pace, from);
}

// ---- Moves

bool stream_sender_may_move(const struct stream_sender *s)
{
    return !s->leaving.frame || s->leaving.sent == 0;
}

uint16_t stream_sender_next_flow_number(const struct stream_sender *s)
{
    return s->writer.flow_number;
}

static void give_up_frame(struct stream_sender *s, int size_id, int64_t number)
{
    if (number >= s->key_number && frame_is_depended_on(s, size_id, number))
        mend(s, size_id, number);
}

// The viewer may lack what left since then, and gets none of what waits: later frames shall depend
// on none of it. The first ones go first, as the others depend on them.
static void give_up(struct stream_sender *s, usec_t since, usec_t now)
{
    struct scheduler_frame f;
    enum drop_cause cause;
    bool mends = ladder_size_passes(s->config.ladder, s->levels.size_id) || s->feed->ops->repair;
    uint64_t first = s->recent_count > RECENT ? s->recent_count - RECENT : 0;
    for (uint64_t i = first; i < s->recent_count && s->watching && mends; i++)
        if (s->recent[i % RECENT].at >= since)
            give_up_frame(s, s->recent[i % RECENT].size_id, s->recent[i % RECENT].number);
    frame_packets_forget(&s->leaving);
    scheduler_clear(&s->scheduler);
    const struct recent_frame *last =
        s->recent_count ? &s->recent[(s->recent_count - 1) % RECENT] : NULL;
    while (scheduler_dropped(&s->scheduler, &f, &cause)) {
        bool has_begun = last && last->number == f.number && last->size_id == f.size_id;
        if (s->watching && mends && !has_begun)
            give_up_frame(s, f.size_id, f.number);
        coded_frame_unref(f.data);
    }
    if (s->watching && !mends)
        request_key(s, now);
}

// The limits that are in force, on the transport that carries the media from now on.
static void limit_transport(struct stream_sender *s, usec_t now)
{
    double bps = s->adaptation.limit_bps;
    if (s->limit.bps > 0)
        keep_limit(s, now);
    else if (bps > 0)
        stream_sender_set_max_rate(s, bps, now);
    set_media_rate(s, now);
}

int stream_sender_move(struct stream_sender *s, const struct sender_move *move, usec_t now)
{
    struct coded_audio *c;
    assert(move->lost_since != USEC_NEVER || stream_sender_may_move(s));
    packet_writer_flush(&s->writer, now);
    if (move->lost_since != USEC_NEVER)
        give_up(s, move->lost_since, now);
    frame_packets_forget(&s->leaving); // it was cut for the transport before
    while ((c = sent_audio_remove(&s->sent_audio)))
        coded_audio_unref(c);
    int err = packet_writer_attach(&s->writer, move->transport);
    if (!err)
        err = set_repair(s, move->repair, move->repair != REPAIR_MODE_OFF);
    s->has_moved = true;
    s->moved_seq = s->writer.rtp[TRACK_VIDEO].next_seq;
    s->moved_packets = s->writer.rtp[TRACK_VIDEO].packets;
    scheduler_set_reliable(&s->scheduler, move->transport->reliable);
    s->follows = s->writer.reports_often = s->config.follows && can_follow(s);
    rate_estimator_restart(&s->adaptation.rate); // its measurements are of the other transport
    limit_transport(s, now);
    return err;
}

void stream_sender_free(struct stream_sender *s)
{
    if (!s)
        return;
    stream_sender_stop(s);
    scheduler_destroy(&s->scheduler);
    packet_writer_destroy(&s->writer);
    free(s);
}

// ---- Packets

// `whole`: the packet is the last of its frame. Players give a frame its time when it is complete;
// a report in its midst would be taken for the begin of the track.
static void on_sent(struct stream_sender *s, enum media_track track, bool whole, usec_t now)
{
    s->progress_at = now;
    if (!s->writer.has_audio || s->is_announced[track] || !s->writer.has_begun[track] || !whole)
        return;
    s->is_announced[track] = true;
    packet_writer_flush(&s->writer, now);
    s->ops->on_begun(s->config.ctx, track, now);
}

// Frames leave in the order in which they came, so each knows what was lost before it. A gap before
// the first packet would be none.
static void leave_gap(struct stream_sender *s, const struct scheduler_frame *f)
{
    uint64_t gap = f->lost - s->skipped;
    s->skipped = f->lost;
    if (s->writer.rtp[TRACK_VIDEO].packets)
        rtp_sender_skip(&s->writer.rtp[TRACK_VIDEO],
                        (uint16_t)(gap < STREAM_SENDER_MAX_GAP ? gap : STREAM_SENDER_MAX_GAP));
}

static int send_video(struct stream_sender *s, usec_t now)
{
    const struct scheduler_frame *next = scheduler_next(&s->scheduler, now);
    reap(s);
    if (!next)
        return ERR_NOT_FOUND;
    struct coded_frame *f = next->data;
    struct outgoing_packet p;
    leave_gap(s, next);
    frame_packets_of(&s->leaving, f, next->level, s->levels.size_id);
    frame_packets_next(&s->leaving, &s->writer, s->config.ladder->source_fps,
                       s->ops->wall(s->config.ctx, now), s->writer.repair, &p);
    p.pts = media_stamps_of(&s->stamps, f->number) + f->shown_after;
    p.is_depended_on = is_depended_on(s, f->size_id, f->temporal_id) ||
                       (is_sent(s, f->size_id) && f->size_id < s->levels.size_id);
    int err = packet_writer_send(&s->writer, &p, now);
    if (err)
        return err;
    if (s->leaving.sent == 0)
        s->recent[s->recent_count++ % RECENT] = (struct recent_frame){f->number, f->size_id, now};
    bool whole = frame_packets_sent(&s->leaving);
    on_sent(s, TRACK_VIDEO, whole, now);
    if (whole) {
        // the transport's batched packets borrow from the frame
        packet_writer_flush(&s->writer, now);
        scheduler_done(&s->scheduler);
        coded_frame_unref(f);
    }
    return 0;
}

// `again`: NULL: the packet leaves for the first time.
static int send_audio(struct stream_sender *s, struct coded_audio *c,
                      const struct sent_audio_packet *again, usec_t now)
{
    struct outgoing_packet p = {
        .track = TRACK_AUDIO,
        .rtp = {.has_adu = true,
                .adu = {.frame = (uint32_t)c->position,
                        .written_us = (uint32_t)s->ops->wall(s->config.ctx, now),
                        .key = true,
                        .first = true,
                        .last = true},
                .marker = c->marker,
                .capture_wall = c->capture_wall},
        .payload = {.body = c->data, .body_len = c->bytes},
        .number = -1,
        .pts = media_stamps_of_media(&s->stamps, audio_usec(c->position)),
        .captured = c->captured,
        .is_copy = again != NULL,
    };
    if (again)
        p.rtp.seq = again->seq;
    int err = packet_writer_send(&s->writer, &p, now);
    if (err)
        return err;
    if (!again)
        on_sent(s, TRACK_AUDIO, true, now);
    packet_writer_flush(&s->writer, now);
    if (again)
        sent_audio_copied(&s->sent_audio, now);
    else if (s->writer.repair)
        coded_audio_unref(
            sent_audio_add(&s->sent_audio, p.rtp.seq, audio_queue_take(&s->audio), now));
    else
        coded_audio_unref(audio_queue_take(&s->audio));
    return 0;
}

static int send_filler(struct stream_sender *s, usec_t now)
{
    size_t max_packet = s->writer.transport->max_packet;
    usec_t interval = filler_interval(&s->filler, max_packet, level_now(s)->bitrate_bps);
    filler_expire(&s->filler, interval, s->config.latency, now);
    struct outgoing_packet p;
    const struct rtp_packet shape = {.has_adu = true, .has_capture = true};
    size_t bytes = packet_writer_payload_room(&s->writer, &shape);
    filler_packet(&s->filler, bytes, s->ops->wall(s->config.ctx, now), &p, now);
    int err = packet_writer_send(&s->writer, &p, now);
    if (err)
        return err;
    on_sent(s, TRACK_VIDEO, true, now);
    filler_sent(&s->filler, interval);
    return 0;
}

static bool has_repair(struct stream_sender *s, usec_t now)
{
    return s->answers && packet_writer_has_repair(&s->writer, now);
}

// Drops audio past its deadline. Returns true if audio waits to be sent.
static bool has_audio(struct stream_sender *s, usec_t now)
{
    struct coded_audio *late;
    while ((late = audio_queue_expired(&s->audio, max_wait(s), now)))
        coded_audio_unref(late);
    return (s->audio.count > 0 && s->playing) || (s->sent_audio.due > 0 && s->answers);
}

static bool has_packets(struct stream_sender *s, usec_t now)
{
    if (has_repair(s, now) || has_audio(s, now))
        return true;
    if (is_filler(s))
        return s->playing && filler_is_due(&s->filler, now);
    return s->scheduler.count > 0 && (s->playing || s->leaving.frame);
}

// A file's media is sent ahead of its time. Its audio then leaves in the order of the media:
// seconds of audio before the first picture would keep a viewer behind a slow path waiting for it.
static bool waits_for_video(const struct stream_sender *s, usec_t now)
{
    const struct coded_audio *c = audio_queue_front(&s->audio);
    const struct scheduler_frame *f = scheduler_first(&s->scheduler);
    return c && c->captured > now && s->audio.count < AUDIO_QUEUE_PACKETS / 2 && f &&
           f->captured < c->captured;
}

// Repair goes first: it has the nearest deadlines, and of audio and video that of the audio. Audio
// goes next, from its capture time on: it is small, and a gap in it is heard at once.
static int send_next(struct stream_sender *s, usec_t now)
{
    bool hears = has_audio(s, now);
    const struct sent_audio_packet *again = hears ? sent_audio_next(&s->sent_audio) : NULL;
    if (again)
        return send_audio(s, again->data, again, now);
    if (has_repair(s, now))
        return packet_writer_send_repair(&s->writer, now);
    if (hears && !waits_for_video(s, now))
        return send_audio(s, audio_queue_front(&s->audio), NULL, now);
    int err = is_filler(s) ? send_filler(s, now) : send_video(s, now);
    if (err == ERR_NOT_FOUND && hears) // the video was dropped
        return send_audio(s, audio_queue_front(&s->audio), NULL, now);
    return err;
}

bool stream_sender_is_idle(const struct stream_sender *s)
{
    return s->scheduler.count == 0 && s->audio.count == 0;
}

// At the end of the media the session returns to Ready (RFC 2326, A.2); PLAY starts it again.
static void end_if_done(struct stream_sender *s, usec_t now)
{
    if (!s->ending || !stream_sender_is_idle(s))
        return;
    stop_playing(s);
    clear_audio(s);
    s->ops->on_end(s->config.ctx, now);
}

// Returns when a copy that waits for other packets to leave is due; one that is due already waits
// for the transport's room.
static usec_t next_copy(const struct stream_sender *s, usec_t now)
{
    usec_t due =
        s->answers && s->writer.repair ? repair_sender_next_timeout(s->writer.repair) : USEC_NEVER;
    return due > now ? due : USEC_NEVER;
}

// The transport is asked for room only if something waits; otherwise it would conclude that it
// limits the sender.
void stream_sender_pump(struct stream_sender *s, usec_t now)
{
    struct media_transport *t = s->writer.transport;
    int sent = 0;
    bool more = has_packets(s, now);
    while (more && sent < BATCH && t->ops->room(t, now)) {
        int err = send_next(s, now);
        if (err == ERR_NOT_FOUND)
            s->progress_at = now;
        if (err == ERR_CLOSED)
            s->ops->on_closed(s->config.ctx, now);
        more = !err && has_packets(s, now);
        sent += !err;
    }
    packet_writer_flush(&s->writer, now);
    s->wake_at = sent == BATCH                ? now
                 : is_filler(s) && s->playing ? filler_next(&s->filler, now)
                                              : next_copy(s, now);
    end_if_done(s, now);
    if (s->watching && s->feed->ops->drained && !stream_sender_has_waiting(s))
        s->feed->ops->drained(s->feed, now);
}

usec_t stream_sender_next_timeout(const struct stream_sender *s)
{
    return usec_min(s->wake_at, s->follow_at);
}

void stream_sender_on_timeout(struct stream_sender *s, usec_t now)
{
    if (now >= s->follow_at) {
        s->follow_at = USEC_NEVER;
        if (s->follows && s->watching)
            follow(s, now);
    }
    stream_sender_pump(s, now);
}

void stream_sender_end(struct stream_sender *s, usec_t now)
{
    if (s->rests) // it was on its way at the pause
        s->ending = true;
    if (!s->playing)
        return;
    // A viewer that still has to receive frames must not prevent the source from restarting for
    // others.
    unwatch(s);
    level_switch_pause(&s->levels, false);
    s->ending = true;
    end_if_done(s, now);
}

usec_t stream_sender_blocked(struct stream_sender *s, usec_t now)
{
    // An empty queue does not mean a stuck transport, unless it is empty because no frame could
    // leave and all were dropped, or because the source stopped sending to a viewer whose transport
    // holds what it accepted.
    struct media_transport *t = s->writer.transport;
    struct transport_info info;
    t->ops->info(t, &info, now);
    bool nothing = is_filler(s) ? !filler_is_due(&s->filler, now) : s->scheduler.count == 0;
    bool holds = info.unsent_bytes > 0 && info.delivered_bytes == s->delivered; // false with NaN
    if (nothing && !holds && t->ops->room(t, now))
        s->progress_at = now;
    s->delivered = info.delivered_bytes;
    return now - s->progress_at;
}

// ---- Feedback of the viewer

static bool frame_is_depended_on(const struct stream_sender *s, int size_id, int64_t number)
{
    const struct size_spec *size = &s->config.ladder->sizes[size_id];
    int64_t index = size_index_of_frame(size->fps, s->config.ladder->source_fps, number);
    return index >= 0 && is_depended_on(s, size_id, layer_temporal_id(index, size->layers));
}

// Returns true if nothing is to be done for the packet, though the viewer lacks it: it comes, or
// left before a move, which has dealt with what was lost.
static bool comes_anyway(const struct stream_sender *s, uint16_t seq)
{
    uint64_t since = s->writer.rtp[TRACK_VIDEO].packets - s->moved_packets;
    bool is_before = s->has_moved && since < MOVE_NACKS && (int16_t)(seq - s->moved_seq) < 0;
    return s->writer.transport->reliable || is_before;
}

// The viewer reports missing live packets: sends them again, or makes the encoder stop referring to
// their frames. A viewer may name thousands of packets at once, so each frame is looked up only
// once.
static void on_missing(struct stream_sender *s, struct rtcp_nack nack, usec_t now)
{
    const struct rtp_sender *rtp = &s->writer.rtp[TRACK_VIDEO];
    bool layered = s->config.ladder->cumulative;
    int64_t last = -1;
    int last_size = -1;
    for (uint32_t named = 1 | (uint32_t)nack.blp << 1; named; named &= named - 1) {
        uint16_t wire = (uint16_t)(nack.pid + __builtin_ctz(named));
        uint16_t seq = packet_writer_written_seq(&s->writer, TRACK_VIDEO, wire);
        if (comes_anyway(s, seq))
            continue;
        struct repair_decision d = packet_writer_lost(&s->writer, seq, now);
        if (d.action == REPAIR_RESEND || d.action == REPAIR_AWAIT_FEC ||
            d.reason == REPAIR_UNDER_WAY)
            continue;
        int64_t number = rtp_sender_frame_of(rtp, seq);
        int size_id = layered ? rtp_sender_size_of(rtp, seq) : s->levels.size_id;
        if ((number != last || size_id != last_size) && number >= s->key_number &&
            frame_is_depended_on(s, size_id, number) && s->watching)
            mend(s, size_id, number);
        last = number;
        last_size = size_id;
    }
}

// A stored frame is sent again as a whole if its packets are not kept any more.
static void on_missing_stored(struct stream_sender *s, struct rtcp_nack nack, usec_t now)
{
    const struct rtp_sender *rtp = &s->writer.rtp[TRACK_VIDEO];
    for (uint32_t named = 1 | (uint32_t)nack.blp << 1; named; named &= named - 1) {
        uint16_t wire = (uint16_t)(nack.pid + __builtin_ctz(named));
        uint16_t seq = packet_writer_written_seq(&s->writer, TRACK_VIDEO, wire);
        struct repair_decision d = packet_writer_lost(&s->writer, seq, now);
        bool again = !s->writer.repair || d.reason == REPAIR_NOT_KEPT;
        int64_t number = again ? rtp_sender_frame_of(rtp, seq) : -1;
        if (number >= 0 && stored_retransmit_take(&s->repairs, number, seq, rtp->next_seq) &&
            !s->feed->ops->give_again(s->feed, s->levels.size_id, number, now))
            stored_retransmit_forget(&s->repairs, number);
    }
}

static void on_nack(struct stream_sender *s, const struct rtcp_item *item, usec_t now)
{
    uint64_t sent = s->writer.rtp[TRACK_VIDEO].packets;
    if (s->writer.repair && is_awaited(s)) // copies may get lost, too
        sent += repair_sender_stats(s->writer.repair)->resent;
    for (int i = 0; i < item->nack_count; i++) {
        int named = 1 + __builtin_popcount(item->nacks[i].blp);
        if (!feedback_limit_nack(&s->feedback, named, sent, now))
            continue;
        if (is_stored(s))
            on_missing_stored(s, item->nacks[i], now);
        else
            on_missing(s, item->nacks[i], now);
    }
    if (s->writer.repair)
        stream_sender_pump(s, now);
}

// The viewer reports missing audio packets: those that can arrive in time are sent again.
static void on_audio_nack(struct stream_sender *s, const struct rtcp_item *item, usec_t now)
{
    usec_t min_rtt = packet_writer_min_rtt(&s->writer);
    for (int i = 0; i < item->nack_count; i++) {
        uint32_t named = 1 | (uint32_t)item->nacks[i].blp << 1;
        for (; named; named &= named - 1) {
            uint16_t wire = (uint16_t)(item->nacks[i].pid + __builtin_ctz(named));
            uint16_t seq = packet_writer_written_seq(&s->writer, TRACK_AUDIO, wire);
            const struct coded_audio *c = sent_audio_find(&s->sent_audio, seq);
            if (c && now + min_rtt / 2 < c->captured + useful(s) + SHOWING)
                sent_audio_request(&s->sent_audio, seq, min_rtt, now);
        }
    }
    stream_sender_pump(s, now);
}

void stream_sender_feedback(struct stream_sender *s, const struct rtcp_item *item, usec_t now)
{
    if (item->kind == RTCP_IS_NACK && s->writer.has_audio &&
        item->media_ssrc == s->writer.rtp[TRACK_AUDIO].ssrc)
        on_audio_nack(s, item, now);
    bool unnamed = item->kind == RTCP_IS_PLI && item->media_ssrc == 0; // so does Janus
    if (item->media_ssrc != s->writer.rtp[TRACK_VIDEO].ssrc && !unnamed)
        return;
    const struct media_feed_ops *feed = s->feed->ops;
    bool repairs = s->writer.repair || feed->repair || feed->give_again;
    if (item->kind == RTCP_IS_NACK && repairs)
        on_nack(s, item, now);
    else if (item->kind == RTCP_IS_PLI && (s->watching || feed->give_again))
        request_key(s, now);
}

// ---- Reading

bool stream_sender_is_playing(const struct stream_sender *s)
{
    return s->playing;
}

bool stream_sender_has_audio(const struct stream_sender *s)
{
    return s->writer.has_audio;
}

bool stream_sender_has_video(const struct stream_sender *s)
{
    return !s->config.audio_only;
}

uint16_t stream_sender_next_seq(const struct stream_sender *s, enum media_track track)
{
    return packet_writer_next_wire_seq(&s->writer, track);
}

int stream_sender_level(const struct stream_sender *s)
{
    return s->levels.level;
}

int stream_sender_size(const struct stream_sender *s)
{
    return s->levels.size_id;
}

const struct rtp_instant *stream_sender_instant(const struct stream_sender *s)
{
    return &s->writer.instant;
}

const struct rtp_sender *stream_sender_rtp(const struct stream_sender *s, enum media_track track)
{
    return &s->writer.rtp[track];
}

static uint64_t skipped(const struct stream_sender *s)
{
    uint64_t count = s->levels.uncoded + s->levels.thinned + s->queue_dropped - s->queue_cut;
    for (int cause = 0; cause < DROP_CAUSES; cause++)
        for (int layer = 0; cause != DROP_FLUSHED && layer < SCHEDULER_MAX_LAYERS; layer++)
            count += s->scheduler.counters.dropped[cause][layer];
    return count;
}

void stream_sender_read(const struct stream_sender *s, struct stream_sender_stats *out, usec_t now)
{
    *out = (struct stream_sender_stats){
        .level = s->levels.level,
        .size_id = s->levels.size_id,
        .skipped = skipped(s),
        .thinned = s->levels.thinned,
        .queue_dropped = s->queue_dropped,
        .feedback_dropped = s->feedback.dropped,
        .audio_dropped = s->audio.dropped,
        .waiting_frames = s->scheduler.count,
        .waiting_bytes = s->scheduler.bytes,
        .waiting = scheduler_waiting(&s->scheduler, now),
        .frames = s->scheduler.counters,
        .repair_mode = repair_mode_now(s),
        .repair_share = repair_share(s, now),
        .wanted_bps =
            s->config.ladder->levels[s->config.level].bitrate_bps * s->speed + s->audio_bps,
        .overhead_bps = overhead_bps(s, now),
        .follows = s->follows,
        .adaptation = s->follows ? adaptation_read(&s->adaptation)
                                 : (struct adaptation_stats){NAN, NAN, NAN, NAN, NAN, NAN, -1, NAN},
    };
    if (s->writer.repair)
        out->repair = *repair_sender_stats(s->writer.repair);
}
