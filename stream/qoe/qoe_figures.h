// SPDX-License-Identifier: GPL-2.0-or-later
// The quality of experience report: the schema weir.qoe/1 field by field. Definitions:
//   jitter           frame_jitter.h
//   D200, D500       fraction of ADUs whose protocol latency is at most 200 or 500 ms (MIN_BUF TCP,
//                    2002)
//   wall             time from the first picture to the end, without the user's pauses
//   media            sum of the shown frames' intervals at their level
//   time_at[l]       time for which a picture of level l was on the screen (without pictures:
//                    between received frames)
//   throughput       bytes received, and
//   goodput          bytes of the frames shown (without pictures: of whole frames); both over the
//                    time from the first packet to the last
//   loss event rate loss events / packets expected (RFC 5348, 5) PSNR computed from the mean MSE
//   over all compared pictures; not the mean of their PSNRs
// A figure that was not measured is NaN.
#ifndef WEIR_STREAM_QOE_QOE_FIGURES_H
#define WEIR_STREAM_QOE_QOE_FIGURES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "stream/outcome/cause.h"
#include "stream/qoe/av_offset.h"

DECLS_BEGIN

enum {
    QOE_MAX_TEXT = 256,  // bytes of a text from outside, its terminating zero included
    QOE_MAX_LIST = 1024, // stalls, freezes and level switches that are listed; all are counted
};

// What the viewer controls, but seeks, which have a group of their own.
enum qoe_control { QOE_CONTROL_SCALE, QOE_CONTROLS };
enum qoe_ended {
    QOE_END_OF_MEDIA,
    QOE_DURATION,
    QOE_QUIT,        // by the viewer
    QOE_INTERRUPTED, // by a signal
    QOE_SERVER_LOST,
    QOE_ERROR
};
const char *qoe_ended_text(enum qoe_ended ended); // "end-of-media" ...

struct qoe_audio { // audio figures of the whole viewing
    double packets;
    double lost;     // by the path
    double repaired; // of these, sent again
    double late;     // packets
    double bytes;
    double heard;     // seconds
    double concealed; // ms
    double underruns;
    double jumps;                    // restarts at another position of the media
    double spliced;                  // periods removed or played twice to follow the video
    bool by_tone;                    // the offset was measured with beeps and flashes; else from
                                     // playout times
    struct av_offset_figures offset; // ms; positive: audio is late
};

struct qoe_quantiles { // ms; a value that was not measured is NaN
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

struct qoe_stalls {
    double count;
    double total;
    double ratio; // of `wall`
    struct qoe_stall_sum by_cause[STALL_CAUSES];
    int listed;
    const struct qoe_stall_entry *events;
};

struct qoe_freeze_entry {
    double at;       // time of the last picture before the freeze, in seconds since the start of
                     // the session
    double duration; // seconds
    enum freeze_cause cause;
};

struct qoe_freezes { // freeze_account.h
    double count;
    double total;
    double ratio; // of `wall`
    double longest;
    struct qoe_stall_sum by_cause[FREEZE_CAUSES];
    int listed;
    const struct qoe_freeze_entry *events;
};

struct qoe_switch_entry {
    double at;
    int from;
    int to;
    const char *why; // static
};

struct qoe_channel_entry {
    double at;  // seconds since the start of the session
    int number; // of the channel, from 1
    char url[QOE_MAX_TEXT];
    double wait;     // ms to its first picture; NaN: there was none
    char error[128]; // why it was not opened; empty: it was, or the viewer chose another before
};

enum { QOE_MAX_TRANSPORTS = 32 };
struct qoe_carried {
    char name[48];   // of a transport, with its parameters
    char why[80];    // the media moved to it; empty: it began there
    double from, to; // seconds since the start of the session
};

// Units: seconds, ms (latencies), bit/s, bytes. Counts are doubles, too, so that they can be NaN.
// The pointers are valid as long as the qoe; the next event changes the data behind them.
struct qoe_json {
    bool has_ended; // false: the session continues, and `ended` has no meaning
    enum qoe_ended ended;
    const char *error; // NULL = none
    struct {
        const char *url;
        const char *transport; // empty = not known yet
        const char *why;       // reason for choosing this transport; empty = there was no choice
        const char *source;
        const char *via; // empty: no proxy
        int transport_count;
        struct qoe_carried transports[QOE_MAX_TRANSPORTS]; // that carried media, in this order
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
            double mean; // weighted by duration
            double min;
            double max;
        } speed;
        double skips;
        double frame_rate;
        double encoded_frame_rate;
    } playback;
    struct qoe_stalls rebuffering;
    struct qoe_freezes freezes;
    struct {
        double count;
        struct qoe_quantiles wait;
    } seeks;
    struct { // that the viewer chose after the first
        double count;
        struct qoe_quantiles wait; // from the request to the first picture
        int listed;
        const struct qoe_channel_entry *list;
    } channels;
    struct {
        double count;
        struct qoe_quantiles wait;
    } controls[QOE_CONTROLS];
    struct {
        double expected;
        double shown;
        double by_cause[FRAME_CAUSES]; // of expected - shown
        double by_root[FRAME_CAUSES];  // of expected - shown; CAUSE_DEPENDENCY is always 0
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
        double pictures;   // that left playout; 0: the ladder is not cumulative
        double mean;       // valid layers of a picture; 0 for one that is not shown
        double changes;    // from one shown picture to the next, of the number of its valid layers
        double goodput;    // bit/s of valid layers, and
        double throughput; // bit/s of whole layers, both over the time from first to last packet
    } layers;
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
            struct qoe_quantiles backbone, proxy, access; // of `transport`, behind a proxy
            struct qoe_quantiles buffer;
            struct qoe_quantiles decoder;
            struct qoe_quantiles display;
        } parts;
        bool has_budget;
        struct {
            const char *mode;             // static; NULL: not known
            double target;                // ms, like the other fields of `budget`
            struct qoe_quantiles targets; // of the session
            double sender;
            double buffer;
            double spent_encoder; // mean over the frames shown; `parts` has the other parts
            double spent_transport;
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
        double second_path_bytes;
        double rtt_mean; // ms
        double rtt_p95;  // ms
        double capacity_estimate;
    } network;
    struct {                // the policy of a film's levels
        double decisions;   // 0: there was none, or it is not the player's
        const char *policy; // the last decision: as in struct qoe_decision
        const char *why;
        double level;
        double buffer;   // s
        double target;   // s
        double estimate; // bit/s
        double error;
    } film;
    struct {
        bool is_known; // false: nothing could get lost, or the rest was not repaired
        double resent;
        double duplicated;
        double fec_packets;
        double fec_recovered;
        double invalidations;
        double overhead; // bytes of repair / bytes of media
    } repair;
    struct {
        double compared; // 0: pictures were not measured
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

// Returns a / b; NaN if b <= 0.
static inline double qoe_ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

DECLS_END
#endif
