// SPDX-License-Identifier: GPL-2.0-or-later
// What weir-send tells machines of itself, at one instant: the lines of --stats, the metrics and
// the status all say it from this. Plain values, so that another thread can read a copy.
#ifndef WEIR_SENDER_STATS_STATS_H
#define WEIR_SENDER_STATS_STATS_H

#include "common/base/level.h"
#include "common/protocol/transport_info.h"
#include "sender/stats/live_feed_stats.h"
#include "stream/adapt/adaptation.h"
#include "stream/send/scheduler.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STATS_SESSIONS = 64, // that are told of one by one; totals count all
    STATS_TRANSPORTS = 16,
    STATS_STREAMS = 32,    // that are open at once
    STATS_PATH = 3 * 1024, // bytes of a URL's path with NUL
};

struct session_stats {
    int number; // 1 .. STATS_SESSIONS, the least that was free when it began; 0: none was
    int stream; // the index of what it watches
    char id[20];
    char transport[TRANSPORT_MAX_NAME]; // with its parameters
    bool playing;
    int level;
    int size_id;
    int layers; // of that size
    uint64_t packets;
    uint64_t octets; // of payload
    uint64_t wrong_tokens;
    uint64_t feedback_dropped; // PLIs and entries of NACKs, beyond the limit
    uint64_t thinned;          // frames left out to be within the rate at once
    int waiting_frames;
    size_t waiting_bytes;
    double waiting_ms; // the oldest
    struct scheduler_counters frames;
    bool has_audio; // it asked for it
    uint64_t audio_packets;
    uint64_t audio_octets;
    uint64_t audio_dropped; // packets, past their deadline
    bool follows;           // the network
    struct adaptation_stats adaptation;
    struct transport_info info;
};

struct encoder_stats {
    int width, height;
    double fps;
    int bitrate_bps; // of its top level
    struct live_feed_size_stats stats;
};

// What is offered at one path.
struct stream_stats {
    char path[STATS_PATH]; // of its URL: RFC 3986, so ASCII
    char source[128];
    int open; // sessions
    int encoder_count;
    struct encoder_stats encoders[LADDER_MAX_SIZES];
    int audio_bps; // that is encoded; 0: none is
    struct live_feed_audio_stats audio;
};

// Of all sessions over one transport, also those that ended.
struct transport_stats {
    const char *name; // static
    int open;
    uint64_t sessions, packets, octets;
    uint64_t audio_packets, audio_octets;
};

struct total_stats {
    struct transport_stats transports[STATS_TRANSPORTS];
    struct scheduler_counters frames;
    uint64_t thinned;
    uint64_t audio_dropped;
    uint64_t overload; // pictures that all encoders left out
};

// What all streams of a server share: who has which number, and what is no more.
struct stats_book {
    bool taken[STATS_SESSIONS];
    struct total_stats ended;
};

struct process_stats {
    double user_seconds, system_seconds;
    double resident_bytes, most_resident_bytes; // NaN: not to be had
    int open_files, most_files;                 // -1: not to be had
};

struct stats {
    const char *version; // static
    char source[128];
    usec_t begun_wall; // when the program began, since 1970
    usec_t wall;       // now
    usec_t age;        // of the program
    int transport_count;
    struct total_stats total;
    int stream_count;
    struct stream_stats streams[STATS_STREAMS];
    int session_count;
    struct session_stats sessions[STATS_SESSIONS];
};

extern const char *const stats_causes[DROP_CAUSES]; // names

uint64_t stats_dropped_by_cause(const struct scheduler_counters *c, enum drop_cause cause);
uint64_t stats_dropped_by_layer(const struct scheduler_counters *c, int layer);
// The number of a session that begins.
int stats_begin(struct stats_book *book);
// It ends, over the transport of this index, having done this.
void stats_end(struct stats_book *book, int transport, const struct session_stats *s);
// Counts a session over the transport of this index in the totals.
void stats_add(struct total_stats *total, int transport, const struct session_stats *s);

#ifdef __cplusplus
}
#endif
#endif
