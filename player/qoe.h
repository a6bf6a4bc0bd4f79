// SPDX-License-Identifier: GPL-2.0-or-later
// What the viewer lived through, computed from events. Feed events as they happen, from one thread,
// in the order of time; read the report at any time. Definitions:
//   jitter        inter-arrival time of two frames next to each other in number among those
//   received, divided by the
//                 frames of the level lost between them plus one (Goddard, NOSSDAV 2005)
//   D200, D500    fraction of ADUs whose protocol latency is within 200, 500 ms (MIN_BUF TCP, 2002)
//   wall          first picture to end, the user's pauses left out
//   media         sum of the shown frames' intervals at their level
//   time_at[l]    time that a picture of level l stood on the screen (without pictures: between
//   frames received) throughput    bytes received, goodput: bytes of the frames shown (without
//   pictures: of whole frames); both over the time from the
//                 first packet to the last
//   loss event rate  loss events / packets expected (RFC 5348, 5)
//   PSNR          of the mean MSE over all pictures compared, not the mean of their PSNRs
// A figure that was not measured is NaN.
#ifndef WEIR_PLAYER_QOE_H
#define WEIR_PLAYER_QOE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/level.h"
#include "common/base/usec.h"
#include "player/av_offset.h"
#include "player/cause.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    QOE_MAX_TEXT = 256,
    QOE_MAX_LIST = 1024, // rebuffering events and level switches that are listed; further ones are
                         // counted only
};
#define QOE_UNKNOWN INT64_MIN // a duration that could not be measured

enum qoe_ended { QOE_END_OF_MEDIA, QOE_DURATION, QOE_INTERRUPTED, QOE_SERVER_LOST, QOE_ERROR };
const char *qoe_ended_text(enum qoe_ended ended); // "end-of-media" ...

struct qoe; // opaque

// `url`: as the user gave it; `started_wall`: wall clock at `now`, the start of the session. NULL:
// no memory.
struct qoe *qoe_new(const char *url, usec_t started_wall, usec_t now);
void qoe_free(struct qoe *q); // NULL is fine

// The control connection stands.
void qoe_on_connected(struct qoe *q, usec_t now);

struct qoe_setup {
    const char *transport;       // as negotiated, "minbuf:1,3"; copied
    const char *why;             // it was taken, of several; empty: there was no choice; copied
    const char *source;          // "test 1280x720@30"; copied
    const struct ladder *ladder; // copied
    bool frames;                 // false: packets alone; playback figures stay unmeasured
};
void qoe_on_setup(struct qoe *q, const struct qoe_setup *e, usec_t now);

// After a setup, when the connection had been lost, or was given up for another transport: what is
// counted since the start (frames, packets, frames left out by the sender) is counted from 0 again,
// on top of what there was.
void qoe_on_reconnect(struct qoe *q);

// Buffering is over (PLAYOUT_START). The first call counts as the end of initial buffering.
void qoe_on_start(struct qoe *q, usec_t now);

struct qoe_packet { // an RTP packet arrived
    size_t bytes;   // RTP header included
    usec_t latency; // protocol latency: the sender's write to our read; QOE_UNKNOWN
};
void qoe_on_packet(struct qoe *q, const struct qoe_packet *e, usec_t now);

struct qoe_frame { // a frame became whole
    int64_t number;
    int level; // playout_level_at; -1 unknown
    size_t bytes;
    usec_t latency;   // capture (or media write) to its last packet's arrival; QOE_UNKNOWN, as are
                      // the parts:
    usec_t encoder;   // capture to its first packet's write
    usec_t transport; // first write to last arrival
};
void qoe_on_frame(struct qoe *q, const struct qoe_frame *e,
                  usec_t now); // now = when the last packet arrived

struct qoe_shown { // a picture went on the screen
    int64_t number;
    int level;      // -1 unknown
    size_t bytes;   // of its frame
    usec_t latency; // capture to now; QOE_UNKNOWN, as are the parts:
    usec_t buffer;  // last arrival to hand-over for decoding
    usec_t decoder; // decoding took
    usec_t display; // decoded to shown
};
void qoe_on_shown(struct qoe *q, const struct qoe_shown *e, usec_t now);

void qoe_on_lost(struct qoe *q, int64_t number);
void qoe_on_late(struct qoe *q, int64_t number);
void qoe_on_skipped(struct qoe *q, int64_t number); // whole, and left out to catch up
void qoe_on_undecodable(struct qoe *q,
                        int64_t number); // whole and in time, but what it rests on was not
void qoe_on_sender_skipped(struct qoe *q,
                           uint64_t total); // frames that the sender says it left out, so far

// The account of frames so far; each replaces the last.
void qoe_on_frames(struct qoe *q, const struct frame_totals *e);

// Of PLAYOUT_STALL_BEGIN and _END. The end's cause is the one that counts.
void qoe_on_stall_begin(struct qoe *q, enum stall_cause cause, usec_t at);
void qoe_on_stall_end(struct qoe *q, enum stall_cause cause, usec_t at);
// Playing goes on at this speed; 1 until told otherwise.
void qoe_on_speed(struct qoe *q, double speed, usec_t now);
void qoe_on_skip(struct qoe *q); // to a later frame, to catch up
struct qoe_budget {
    usec_t target; // capture to shown
    usec_t sender; // the age at which a frame may leave there
    usec_t buffer; // that the playout buffer adds to the best arrival
};
void qoe_on_budget(struct qoe *q, const struct qoe_budget *e); // each replaces the last
void qoe_on_pause(struct qoe *q, bool paused, usec_t now);
// The viewer went to another place of the media; and so long after asking, a picture of it stood on
// the screen. The time between is no stall.
void qoe_on_seek(struct qoe *q, usec_t now);
void qoe_on_seek_shown(struct qoe *q, usec_t wait);

struct qoe_switch {
    int from; // -1: the first
    int to;
    const char *why; // "user", "network", or of goddard_reason_name: "capacity" "no-capacity"
                     // "loss" "rebuffer" "upscale" "probe"; static
};
void qoe_on_switch(struct qoe *q, const struct qoe_switch *e, usec_t now);

struct qoe_transport { // once a second; NaN = unknown
    double rtt;        // seconds
    double rate;       // bit/s arriving, or allowed
    double loss;       // fraction of packets over the last second
    double queue;      // seconds: one-way delay above the least seen
    double cwnd;       // packets
};
void qoe_on_transport(struct qoe *q, const struct qoe_transport *e, usec_t now);
void qoe_on_capacity(struct qoe *q, double bps, usec_t now);

struct qoe_receiver { // counts since the start; each snapshot replaces the last
    uint64_t expected;
    uint64_t lost;
    uint64_t reordered;
    uint64_t loss_events;
    int64_t ecn_marked; // -1: not known on this transport
};
void qoe_on_receiver(struct qoe *q, const struct qoe_receiver *e);

void qoe_on_picture(struct qoe *q, double mse_y,
                    double ssim_y); // one picture compared with its source
// So many shown pictures were to be compared, and were not: too busy.
void qoe_on_pictures_skipped(struct qoe *q, uint64_t total);

struct qoe_clock {
    bool shared;         // one machine's clock at both ends
    usec_t offset_error; // otherwise: bound of the estimate's error
};
void qoe_on_clock(struct qoe *q, const struct qoe_clock *e);

struct qoe_cpu {
    double user;    // seconds
    double system;  // seconds
    double max_rss; // bytes
};
void qoe_on_cpu(struct qoe *q, const struct qoe_cpu *e);

struct qoe_audio { // of the whole viewing
    double packets;
    double lost;
    double late; // packets
    double bytes;
    double heard;     // seconds
    double concealed; // ms
    double underruns;
    double jumps;                    // to another place of the media
    double spliced;                  // periods left out or played twice, to stay with the pictures
    bool by_tone;                    // the offset is of beeps and flashes, else by their times
    struct av_offset_figures offset; // ms; positive: sound late
};
void qoe_on_audio(struct qoe *q, const struct qoe_audio *e);

// Once, last. `error`: text or NULL; copied. Later events are ignored; the report stands still.
void qoe_on_ended(struct qoe *q, enum qoe_ended ended, const char *error, usec_t now);

struct qoe_quantiles { // ms; what a figure does not have stays NaN
    double count;
    double mean;
    double stddev;
    double p50;
    double p95;
    double p99;
    double max;
};

struct qoe_stall_entry {
    double at;       // seconds since the start of the session
    double duration; // seconds
    enum stall_cause cause;
};

struct qoe_stall_sum {
    double count;
    double total; // seconds
};

struct qoe_switch_entry {
    double at;
    int from;
    int to;
    const char *why; // static
};

// The schema weir.qoe/1 field by field. Seconds, ms (latencies), bit/s, bytes; NaN = not measured.
// Counts are doubles too, so that they can be NaN.
struct qoe_report {
    bool has_ended; // false: the session goes on, `ended` says nothing
    enum qoe_ended ended;
    const char
        *error; // NULL = none; the pointers live as long as the qoe, and change with the next event
    struct {
        const char *url;
        const char *transport; // empty = not known yet
        const char *why;       // this transport; empty = there was no choice
        const char *source;
        usec_t started_wall;
        double duration;
        double reconnects;
    } session;
    struct {
        double connect;
        double initial_buffering;
        double time_to_first_frame;
    } startup;
    struct {
        double media;
        double wall;
        double frames_received;
        double frames_played;
        double frames_lost;
        double frames_late;
        double frames_undecodable;
        double frames_skipped;
        double frames_skipped_by_sender;
        struct {
            double mean; // over time
            double min;
            double max;
        } speed;
        double skips;
        double frame_rate;
        double encoded_frame_rate;
    } playback;
    struct {
        double count;
        double total;
        double ratio;
        struct qoe_stall_sum by_cause[STALL_CAUSES];
        int listed;
        const struct qoe_stall_entry *events;
    } rebuffering;
    struct {
        double count;
        struct qoe_quantiles wait;
    } seeks;
    struct {
        double expected;
        double shown;
        double by_cause[FRAME_CAUSES]; // of expected - shown
        double by_root[FRAME_CAUSES];  // likewise; CAUSE_DEPENDENCY has none
    } causes;
    struct qoe_quantiles jitter;
    struct {
        int count; // 0: no ladder
        double mean;
        double time_at[LADDER_MAX_LEVELS];
        double bitrates[LADDER_MAX_LEVELS];
        double switch_count;
        int listed;
        const struct qoe_switch_entry *switches;
    } levels;
    struct {
        struct qoe_quantiles protocol;
        double d200;
        double d500;
        double samples;
        struct qoe_quantiles frame;
        struct qoe_quantiles display;
        struct {
            struct qoe_quantiles encoder;
            struct qoe_quantiles transport;
            struct qoe_quantiles buffer;
            struct qoe_quantiles decoder;
            struct qoe_quantiles display;
        } parts;
        bool has_budget;
        struct {
            double target; // ms, as are these
            double sender;
            double buffer;
        } budget;
        bool has_clock;
        bool clock_shared;
        double offset_error; // ms
    } latency;
    struct {
        double bytes_received;
        double throughput;
        double goodput;
        double packets_received;
        double packets_lost;
        double loss_rate;
        double loss_event_rate;
        double packets_reordered;
        double ecn_marked;
        double rtt_mean; // ms
        double rtt_p95;  // ms
        double capacity_estimate;
    } network;
    struct {
        double compared; // 0: no picture figures
        double skipped;
        double psnr_y;
        double ssim;
    } picture;
    bool has_audio;
    struct qoe_audio audio;
    struct {
        double user;
        double system;
        double max_rss;
    } cpu;
};

// The report as of `now` (of the end, once ended).
void qoe_read(struct qoe *q, struct qoe_report *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
