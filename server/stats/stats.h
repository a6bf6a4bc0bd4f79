// SPDX-License-Identifier: GPL-2.0-or-later
// A snapshot of weir-send's stats, from which the lines of --stats, the Prometheus metrics and the
// JSON status are written. Plain values, so that another thread can read a copy.
#ifndef WEIR_SERVER_STATS_STATS_H
#define WEIR_SERVER_STATS_STATS_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/protocol/relay_info.h"
#include "common/protocol/transport_info.h"
#include "common/repair/repair_stats.h"
#include "server/stats/live_feed_stats.h"
#include "stream/adapt/adaptation.h"
#include "stream/send/scheduler.h"

DECLS_BEGIN

enum {
    STATS_SESSIONS = 64, // max. sessions that are reported individually; totals count all
    STATS_TRANSPORTS = 16,
    STATS_STREAMS = 32,    // max. open streams
    STATS_PATH = 3 * 1024, // bytes of a URL's path, with NUL
};

struct session_stats {
    int number; // 1 .. STATS_SESSIONS, the smallest free number at its start; 0: none was free
    int stream; // index in struct stats' `streams`, of which the last one has the rest
    const char *path; // of its stream; valid for the call of session_stats_fn alone
    char id[20];
    char peer[80];                      // the viewer's address and port; empty: unknown
    usec_t age;                         // time since its start
    char transport[TRANSPORT_MAX_NAME]; // with its parameters
    bool playing;
    int level;
    int size_id;
    int layers; // temporal layers of that size
    uint64_t packets;
    uint64_t octets; // of payload
    uint64_t wrong_tokens;
    bool is_srtp;
    uint64_t srtp_replayed, srtp_forged; // datagrams that SRTP dropped
    uint64_t feedback_dropped;           // PLIs and NACK entries beyond the limit
    uint64_t thinned;                    // frames omitted to get within the rate at once
    int waiting_frames;
    size_t waiting_bytes;
    double waiting_ms; // for how long the oldest frame has waited here
    struct scheduler_counters frames;
    bool has_audio; // the viewer requested audio
    uint64_t audio_packets;
    uint64_t audio_octets;
    uint64_t audio_dropped; // packets dropped after their deadline
    bool follows;           // the level adapts to the network
    struct adaptation_stats adaptation;
    enum repair_mode repair_mode;
    struct repair_stats repair;      // of the video; all zero if the mode is REPAIR_MODE_OFF
    double repair_share;             // part of the bytes of the last second that was repair, 0 .. 1
    double wanted_bps, overhead_bps; // stream_sender.h
    struct transport_info info;
    bool relayed;            // the server is a proxy, which fills in `relay`
    struct relay_info relay; // of the way to the origin
};

struct encoder_stats {
    int width, height;
    double fps;
    int bitrate_bps; // of its top level
    struct live_feed_size_stats stats;
    bool passes; // the frames come coded from the source (level.h)
};

// Stats of the stream at one path.
struct stream_stats {
    char path[STATS_PATH]; // of its URL: RFC 3986, so ASCII
    char source[128];
    int open;        // number of sessions
    int level_count; // of its ladder
    int highest;     // level that viewers get: stream_set_highest
    int encoder_count;
    struct encoder_stats encoders[LADDER_MAX_SIZES];
    int audio_bps; // bitrate of the encoded audio; 0: no audio is encoded
    struct live_feed_audio_stats audio;
};

// Totals of all sessions over one transport, including ended ones.
struct transport_stats {
    const char *name; // static
    int open;         // number of current sessions
    uint64_t sessions, packets, octets;
    uint64_t audio_packets, audio_octets;
};

struct total_stats {
    struct transport_stats transports[STATS_TRANSPORTS];
    struct scheduler_counters frames;
    uint64_t thinned;
    uint64_t audio_dropped;
    uint64_t overload; // pictures that the encoders dropped
};

// Viewers of HLS and DASH.
struct http_stats {
    bool is_used;    // there is --http, or the RTSP port has had such a viewer
    int connections; // open now: a viewer, or a cache before viewers, has one or a few
    int waiting;     // of their requests: for media that does not exist yet
    uint64_t requests;
    uint64_t sent_bytes; // of bodies, of requests that were served to their end
};

// Shared by all streams of a server: the numbers of current sessions and the stats of ended ones.
struct stats_book {
    bool taken[STATS_SESSIONS]; // taken[i]: a session has the number i + 1
    struct total_stats ended;
    struct http_stats http; // at --http; written by the HTTP server's owner
    struct http_stats web;  // at the RTSP port
};

struct process_stats {
    double user_seconds, system_seconds;
    double resident_bytes, max_resident_bytes; // NaN: unknown
    int open_files, max_files;                 // -1: unknown
};

// What a proxy stores, and serves without the origin.
struct cache_stats {
    bool is_used;
    uint64_t hits;           // viewers that were served a stored film
    uint64_t saved_bytes;    // payload that was sent from the store
    uint64_t fetched_bytes;  // of video, to complete films
    double bytes, max_bytes; // of all files
    int films, objects;      // objects: complete ones, films in one size
    bool stopped;            // nothing can be written
};

// Where viewers find the server.
struct stats_place {
    char host[80];  // of the address it listens on; empty: of any of the machine
    int port;       // 0: unknown
    bool encrypted; // off the loopback, TLS is required
    bool keys;      // off the loopback, or everywhere, viewers need a key or a password
};

struct stats {
    const char *version; // static
    struct stats_place place;
    char source[128];
    usec_t begun_wall; // when the program began, since 1970
    usec_t wall;       // time of the snapshot, since 1970
    usec_t age;        // time since the program began
    int transport_count;
    struct total_stats total;
    struct cache_stats cache; // of a proxy
    struct http_stats http;
    int stream_count;
    struct stream_stats streams[STATS_STREAMS];
    int session_count;
    struct session_stats sessions[STATS_SESSIONS];
};

extern const char *const stats_causes[DROP_CAUSES]; // names of the causes

uint64_t stats_dropped_by_cause(const struct scheduler_counters *c, enum drop_cause cause);
uint64_t stats_dropped_by_layer(const struct scheduler_counters *c, int layer);
// Begins a session; returns its number, or 0 if none is free.
int stats_begin(struct stats_book *book);
// Ends a session over the transport with this index; `s`: its final stats.
void stats_end(struct stats_book *book, int transport, const struct session_stats *s);
// Returns the sums of both ports.
struct http_stats stats_http(const struct stats_book *book);
// Adds a session over the transport with this index to the totals.
void stats_add(struct total_stats *total, int transport, const struct session_stats *s);

DECLS_END
#endif
