// SPDX-License-Identifier: GPL-2.0-or-later
// Which requests of the viewer a client sends next: level, latency, playout, max rate, adapt,
// audio track, speed, pause, position and scale. While a request of a kind has no response, only
// the viewer's last choice of that kind is kept, so that keys pressed behind a stalled network do
// not pile up.
#ifndef WEIR_PROTOCOL_PLAYBACK_REQUESTS_H
#define WEIR_PROTOCOL_PLAYBACK_REQUESTS_H

#include "common/base/decls.h"
#include "common/protocol/pending_requests.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

struct playback_requests {
    bool names_speed;  // PLAY has a Speed header
    bool awaits_level; // the first PLAY has an X-Weir-Await header
    bool live;
    bool knows_now;  // as the server's dialect says
    double duration; // seconds; -1: live
    int level;       // to request; -1: none
    int64_t again;   // to request: from which frame on the film is sent again; -1: none
    int again_level;
    int latency_ms;    // to request; -1: none
    int playout_ms;    // to tell; -1: nothing
    int max_bps;       // to request; 0: no limit; -1: nothing
    const char *adapt; // to request, static; NULL: nothing
    int audio_track;   // to request, from 1; 0: none
    bool moves;        // to request: media moves beside the connection
    double speed;      // the viewer's choice
    double requested_speed;
    bool pause; // the viewer's choice
    bool requested_pause;
    double position;     // to request, seconds; of live media before the present; NaN: none
    bool in_past;        // live media: the server sends its past, as it last said
    double scale;        // the viewer's choice; requested together with `position`
    double served_scale; // as the server last said
};

struct playback_request {
    enum request_kind kind;
    char headers[112]; // each line ends with CRLF; may be empty
    char body[32];     // empty: none
    int level;         // REQUEST_LEVEL
    bool sought;       // REQUEST_PLAY: it requests another position
    bool paused;       // REQUEST_PLAY: the server was paused before it
};

void playback_requests_init(struct playback_requests *p, bool names_speed);
void playback_requests_describe(struct playback_requests *p, const struct sdp *sdp);

// The next request to send, given those that have no response. Returns false if there is none now.
// The caller changes `level`, `latency_ms`, `playout_ms`, `max_bps`, `adapt`, `audio_track`,
// `speed`, `pause`, `position` and `scale`, and then calls this until it returns false; it calls it
// again after each response.
bool playback_requests_next(struct playback_requests *p, const struct pending_requests *pending,
                            struct playback_request *out);
// The first PLAY, from `start` (seconds) of stored media. Negative: so long before the present of
// live media.
void playback_requests_start(struct playback_requests *p, double start,
                             struct playback_request *out);
// The server refused the position and keeps its state from before that PLAY.
void playback_requests_seek_refused(struct playback_requests *p, bool paused);
// The server plays at this scale, which may differ from the requested one.
void playback_requests_scaled(struct playback_requests *p, double scale);

// Requests outside this order.
void playback_requests_level(int level, struct playback_request *out);
void playback_requests_latency(int ms, struct playback_request *out);
void playback_requests_audio_track(int track, struct playback_request *out);

DECLS_END
#endif
