// SPDX-License-Identifier: GPL-2.0-or-later
// One session with an origin, for one viewer: the viewing end of RTSP (rtsp_link.h) and of its
// media (video_receiver.h, audio_receiver.h). Whole frames and audio packets come out. It ends with
// the connection; what follows then is its owner's choice. Loop thread only.
#ifndef WEIR_PROXY_FEED_UPSTREAM_H
#define WEIR_PROXY_FEED_UPSTREAM_H

#include <uv.h>

#include "client/receive/audio_receiver.h"
#include "client/receive/video_receiver.h"
#include "common/base/decls.h"
#include "common/protocol/rtsp_client.h"
#include "proxy/policy/origin_url.h"
#include "proxy/store/store.h"
#include "stream/send/media_feed.h"

DECLS_BEGIN

struct upstream; // opaque

// All are required, but for one. They must not free the upstream.
struct upstream_ops {
    void (*on_playing)(void *ctx, const struct rtsp_client_place *place, usec_t now);
    void (*on_seek_refused)(void *ctx, usec_t now);
    void (*on_frame)(void *ctx, struct received_frame *f, usec_t now); // takes over the frame
    // Capture times are the origin's; a third party's are on this machine's wall clock, from the
    // arrival of its fastest frames. That of audio is 0 (unknown) before the first frame comes.
    void (*on_audio)(void *ctx, const struct received_audio *a, usec_t now);
    void (*on_nacked)(void *ctx, usec_t now); // lost packets were requested
    void (*on_clock)(void *ctx, usec_t now);  // upstream_wall_ahead may have changed
    void (*on_bye)(void *ctx, usec_t now);    // the origin ended the media
    // The result of upstream_ask_film_table: the table, which the callee owns from now on; NULL:
    // the origin has none. NULL: never asked.
    void (*on_film_table)(void *ctx, struct film_table *table, usec_t now);
    // The last call. `why`: its status is the origin's if that refused, else 500, 502 or 504.
    void (*on_end)(void *ctx, const struct media_refusal *why, usec_t now);
};

#define DESCRIPTION_FRESH (2 * USEC_PER_SEC)

struct upstream_config {
    uv_loop_t *loop; // these pointers are borrowed
    const struct url *url;
    const struct sdp *sdp; // the stream's description: the origin's must still have its ladder
    bool is_described;     // within DESCRIPTION_FRESH: the origin need not describe it again
    const struct transport_list *transports;
    const struct origin_rules *rules; // where the origin may redirect to
    const char *via;
    bool has_audio; // the viewers may hear it
    bool follows;   // the origin adapts the level to the backbone
    int level;      // at the start
    int latency_ms; // at the start: how long a frame may wait at the origin; 0: any time
    double start;   // position in seconds; 0 for live media
    double speed;
    const char *only; // copied: rtsp_client.h; NULL: all frames
    // What comes is stored there, if the origin still has its validator, and verified
    // (group_verifier.h); NULL: it is not stored.
    struct store_film *film;
    const struct upstream_ops *ops; // static
    void *ctx;                      // borrowed
};

struct upstream *upstream_new(const struct upstream_config *config, usec_t now); // NULL: no memory
// Ends the session, if it stands. NULL is fine. Not inside a callback.
void upstream_free(struct upstream *u, usec_t now);

// See the functions of the same names in rtsp_client.h; after on_playing.
void upstream_pause(struct upstream *u, usec_t now);
void upstream_resume(struct upstream *u, usec_t now);
void upstream_scale(struct upstream *u, double seconds, double scale, usec_t now);
void upstream_set_speed(struct upstream *u, double speed, usec_t now);
void upstream_set_level(struct upstream *u, int level, usec_t now);
// The origin adapts the level to the backbone, or no longer. Before on_playing it is what
// upstream_config.follows said.
void upstream_set_follows(struct upstream *u, bool follows, usec_t now);
void upstream_request_key(struct upstream *u, usec_t now);
// The origin sends at most `bps` bit/s; 0: no limit. Of third parties it is requested by TMMBR, if
// their description has `ccm tmmbr`; else it has no effect (logged).
void upstream_limit(struct upstream *u, double bps, usec_t now);
// The next `packets` packets are reported to the origin as marked (ECN CE).
void upstream_mark(struct upstream *u, int packets);
// Returns true if the origin has refused to name digests: what comes cannot be verified.
bool upstream_cannot_verify(const struct upstream *u);
// Writes the cues of the origin's last response about r->track that are shown in the SUBTITLE_AHEAD
// after r->from, and the head if r->head, and requests those for the next call. Returns the cues'
// number.
int upstream_subtitles(struct upstream *u, const struct subtitle_request *r,
                       struct subtitle_set *out, usec_t now);
// Call it once, after on_playing. Of a film that is stored, the store is given the table anyway,
// and on_film_table is not called.
void upstream_ask_film_table(struct upstream *u, usec_t now);
// What came is in the store, as far as it goes.
void upstream_flush(struct upstream *u);
bool upstream_is_datagram(const struct upstream *u); // its media may be lost
// Stops or continues reading what the origin sends. Of datagrams, what exceeds 64 KB meanwhile is
// lost.
void upstream_hold(struct upstream *u, bool hold, usec_t now);
// How long a frame may wait at the origin, and how long after its capture the viewer shows it, ms.
void upstream_set_latency(struct upstream *u, int ms, usec_t now);
void upstream_set_playout(struct upstream *u, int ms, usec_t now);
// Call it about once a second: reports to the origin.
void upstream_second(struct upstream *u, usec_t now);

struct upstream_stats {
    char transport[TRANSPORT_MAX_NAME];
    usec_t rtt;      // 0: unknown
    double rate_bps; // of the last second; NaN: unknown
    double loss;     // fraction of the last second's packets; NaN: none was expected
    double
        delay_ms;   // mean of the last second's frames, from the origin's first write; NaN: unknown
    double skipped; // frames that the origin left out; NaN: unknown
    uint64_t packets;
    uint64_t frames;
};
void upstream_read(const struct upstream *u, struct upstream_stats *out);
// The origin's wall clock minus this machine's. Returns false if it is not known.
bool upstream_wall_ahead(const struct upstream *u, usec_t *out);

// Why a session with an origin ended: its status as media_refusal says. `status`: that of the
// response; 0: none.
void upstream_refusal(enum rtsp_client_end end, int status, const char *text,
                      struct media_refusal *out);

// An origin did not return within `away`. `why`: what was seen of it last.
struct media_refusal upstream_lost(usec_t away, const char *why);

DECLS_END
#endif
