// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/upstream.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/session/remote_stream.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/seq.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/protocol/server_dialect.h"
#include "media/coded/relayed_frame.h"
#include "proxy/feed/group_verifier.h"
#include "proxy/policy/capture_line.h"
#include "proxy/store/film_recorder.h"
#include "server/policy/number_shift.h"

#define BYE_GRACE   (200 * USEC_PER_MSEC) // datagrams sent before the BYE may arrive after it
#define KEEP_LIVE   USEC_PER_SEC          // how long a missing packet is of use
#define KEEP_STORED (2 * USEC_PER_SEC)
static const char ORIGIN[] = "origin: ";

struct upstream {
    struct upstream_config config;
    struct url url;
    char via[1024];
    struct remote_stream *remote; // these are owned
    struct timer *bye;
    struct capture_line captured;
    struct clock_sync clock;
    struct sdp sdp;                       // of this session
    const struct server_dialect *dialect; // static
    bool playing;
    bool leaving; // it is being freed
    bool datagram;
    bool has_bye;                    // since it plays
    bool warned;                     // that the rate of the access cannot be reflected
    char *only;                      // owned
    struct film_recorder *recorder;  // owned; NULL: it is not stored
    struct group_verifier *verifier; // owned; NULL: what is stored is not verified
    bool asks_subtitles;             // the values that were requested are those, not the verifier's
    int asked_track;
    int subtitle_track; // of `subtitles`; 0: none yet
    struct subtitle_set subtitles;
    struct upstream_stats stats;
    double delay_sum; // us, of this second's frames
    int delay_count;
    struct shown_line shown_line; // of a third party's frames, as are these
    bool has_stamp;
    bool reorders; // a time stamp went back: there are B frames
    uint32_t last_stamp;
};

// ---- From the receivers

static struct rtsp_link *link_of(const struct upstream *u)
{
    return remote_stream_link(u->remote);
}

static struct rtsp_client *session(const struct upstream *u)
{
    return rtsp_link_client(link_of(u));
}

// Returns NULL before the description.
static struct video_receiver *video(const struct upstream *u)
{
    return remote_stream_media(u->remote) ? stream_receiver_video(remote_stream_media(u->remote))
                                          : NULL;
}

static usec_t media_of(const struct upstream *u, int64_t number)
{
    return number_shift_media(number, u->sdp.ladder.source_fps);
}

static void on_video_packet(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                            usec_t now)
{
    (void)ext_seq, (void)now;
    struct upstream *u = ctx;
    if (u->dialect->numbers_from_stamps)
        return;
    stream_receiver_relate(remote_stream_media(u->remote), p->timestamp, media_of(u, p->adu.frame),
                           arrived);
    if (p->has_capture)
        capture_line_stamped(&u->captured, media_of(u, p->adu.frame), p->capture_wall);
}

// The time stamps tell when a third party's B frames are shown.
static usec_t shown_after(struct upstream *u, const struct received_frame *f)
{
    bool is_foreign = u->dialect->numbers_from_stamps;
    if (!is_foreign && u->sdp.source != SDP_SOURCE_RELAYED)
        return 0;
    usec_t after = shown_line_after(&u->shown_line, f, u->sdp.ladder.source_fps);
    u->reorders |= !is_foreign || (u->has_stamp && (int32_t)(f->rtp_timestamp - u->last_stamp) < 0);
    u->has_stamp = true;
    u->last_stamp = f->rtp_timestamp;
    return u->reorders ? after : 0;
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct upstream *u = ctx;
    f->shown_after = shown_after(u, f);
    if (u->dialect->numbers_from_stamps)
        f->temporal_id = 0; // its stream is one level, of which B frames are a part
    if (u->dialect->numbers_from_stamps)
        stream_receiver_relate(remote_stream_media(u->remote), f->rtp_timestamp,
                               media_of(u, f->number) + f->shown_after, f->last_arrived);
    if (!f->capture_wall)
        f->capture_wall = capture_line_arrived(&u->captured, media_of(u, f->number),
                                               f->first_arrived + clock_wall() - clock_now());
    u->stats.frames++;
    if (u->recorder)
        film_recorder_frame(u->recorder, f);
    if (!u->dialect->numbers_from_stamps && u->clock.known) {
        usec_t wall = f->last_arrived + clock_wall() - clock_now() + u->clock.offset;
        u->delay_sum += (double)(wall - seq32_extend(wall, f->first_written_us));
        u->delay_count++;
    }
    u->config.ops->on_frame(u->config.ctx, f, now);
}

static void on_nacked(void *ctx, usec_t now)
{
    struct upstream *u = ctx;
    u->config.ops->on_nacked(u->config.ctx, now);
}

static void on_bye(void *ctx, usec_t now)
{
    struct upstream *u = ctx;
    if (u->has_bye) // the origin repeats it
        return;
    u->has_bye = true;
    timer_set(u->bye, u->datagram ? now + BYE_GRACE : now);
}

static void on_bye_time(void *ctx, usec_t now)
{
    struct upstream *u = ctx;
    upstream_flush(u); // nothing more comes
    u->config.ops->on_bye(u->config.ctx, now);
}

static void on_audio_packet(void *ctx, const struct received_audio *a, usec_t now)
{
    struct upstream *u = ctx;
    if (u->recorder)
        film_recorder_audio(u->recorder, a->position, a->data, a->bytes);
    struct received_audio known = *a;
    if (!known.capture_wall)
        known.capture_wall = capture_line_at(&u->captured, audio_usec(a->position));
    u->config.ops->on_audio(u->config.ctx, &known, now);
}

static bool ask_values(void *ctx, const char *body, usec_t now)
{
    struct upstream *u = ctx;
    return u->playing && !u->asks_subtitles && rtsp_client_ask_values(session(u), body, now);
}

// ---- The description

static bool has_same_ladder(const struct sdp *a, const struct sdp *b)
{
    const struct ladder *x = &a->ladder, *y = &b->ladder;
    if (a->codec != b->codec || x->size_count != y->size_count ||
        x->level_count != y->level_count || x->source_fps.num != y->source_fps.num ||
        x->source_fps.den != y->source_fps.den || (a->duration < 0) != (b->duration < 0))
        return false;
    bool same = true;
    for (int i = 0; i < x->size_count; i++)
        same &= x->sizes[i].width == y->sizes[i].width &&
                x->sizes[i].height == y->sizes[i].height &&
                x->sizes[i].layers == y->sizes[i].layers;
    for (int i = 0; i < x->level_count; i++)
        same &= x->levels[i].size_id == y->levels[i].size_id &&
                x->levels[i].temporal_id == y->levels[i].temporal_id;
    return same;
}

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct upstream *u = ctx;
    *why = "the origin now describes another stream";
    // Another file's frames must not join those that were described.
    if (!has_same_ladder(sdp, u->config.sdp) ||
        strcmp(sdp->validator, u->config.sdp->validator) != 0)
        return false;
    if (u->config.film && !u->recorder) {
        struct group_verifier_config verifier = {
            .loop = u->config.loop, .film = u->config.film, .ask = ask_values, .ctx = u};
        u->recorder = film_recorder_new(u->config.film);
        u->verifier = u->recorder ? group_verifier_new(&verifier) : NULL;
        store_film_validated(u->config.film, now);
    }
    u->sdp = *sdp;
    u->dialect = server_dialect_of(&u->sdp);
    if (clock_is_ours(sdp->clock))
        clock_sync_shared(&u->clock);
    static const struct stream_receiver_ops ops = {.video = {.on_packet = on_video_packet,
                                                             .on_frame = on_frame,
                                                             .on_nacked = on_nacked,
                                                             .on_bye = on_bye},
                                                   .on_audio = on_audio_packet};
    struct stream_receiver_config media = {
        .video = {.sdp = &u->sdp, .clock = &u->clock}, .ops = &ops, .ctx = u};
    *why = "out of memory";
    return remote_stream_describe(u->remote, &media);
}

// ---- From the session

static usec_t keep_of(const struct upstream *u)
{
    return u->sdp.duration < 0 ? KEEP_LIVE : KEEP_STORED;
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    struct upstream *u = ctx;
    struct remote_repair repair = {.audio = u->sdp.nack, .keep = keep_of(u)};
    u->datagram = setup->datagram;
    u->stats.rtt = setup->rtt;
    snprintf(u->stats.transport, sizeof(u->stats.transport), "%s", setup->transport);
    if (remote_stream_set_up(u->remote, setup, &repair, now) != 0)
        log_warn("lost packets of the backbone are not repaired: out of memory");
}

// Live media moves to another path of the session.
static void on_moved(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    on_setup(ctx, setup, now);
    log_info("media of the origin comes over %s from now on: %s", setup->transport, setup->why);
}

static void on_audio(void *ctx)
{
    const struct upstream *u = ctx;
    if (stream_receiver_add_audio(remote_stream_media(u->remote)) != 0)
        log_warn("lost audio of the backbone is not repaired: out of memory");
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    const struct upstream *u = ctx;
    *out = (struct rtsp_client_start){.level = u->config.level,
                                      .start = (usec_t)(u->config.start * 1e6)};
}

static void on_ready(void *ctx, usec_t now)
{
    struct upstream *u = ctx;
    rtsp_client_begin(session(u), u->config.level, u->config.speed, now);
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    struct upstream *u = ctx;
    u->playing = true;
    u->has_bye = false;
    capture_line_begin(&u->captured); // it continues elsewhere
    timer_set(u->bye, USEC_NEVER);
    if (u->recorder)
        film_recorder_place(u->recorder, place->seconds, place->scale, place->first, place->show);
    const struct film_table *known;
    if (u->config.film && store_film_table(u->config.film, &known) == ERR_AGAIN)
        rtsp_link_ask_film_table(link_of(u), &u->sdp, now);
    u->config.ops->on_playing(u->config.ctx, place, now);
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    struct upstream *u = ctx;
    double rtt_ms = a->params.transport.rtt_ms;
    u->stats.rtt = isnan(rtt_ms) ? a->rtt : (usec_t)(rtt_ms * 1e3);
    stream_receiver_set_path(remote_stream_media(u->remote), u->stats.rtt, keep_of(u), now);
    u->stats.skipped = a->params.skipped;
    if (a->params.has_clock)
        (void)clock_sync_sample(&u->clock, a->asked_wall, a->params.sender_wall, a->received_wall);
    u->config.ops->on_clock(u->config.ctx, now);
}

// An empty body: the origin refused, or there are none.
static void take_subtitles(struct upstream *u, struct text body)
{
    if (u->subtitle_track != u->asked_track)
        u->subtitles.head[0] = '\0';
    u->subtitle_track = u->asked_track;
    subtitle_set_decode(body, &u->subtitles);
}

static void on_values(void *ctx, struct text body, usec_t now)
{
    struct upstream *u = ctx;
    if (u->asks_subtitles) {
        u->asks_subtitles = false;
        take_subtitles(u, body);
    } else if (u->verifier)
        group_verifier_take(u->verifier, body, now);
}

static void on_film_table(void *ctx, struct film_table *table, usec_t now)
{
    struct upstream *u = ctx;
    if (u->config.film)
        store_film_set_table(u->config.film, table);
    else
        u->config.ops->on_film_table(u->config.ctx, table, now);
}

static void on_level(void *ctx, int level, bool accepted, usec_t now)
{
    (void)ctx, (void)now;
    if (!accepted)
        log_warn("the origin refused level %d", level);
}

static void on_pause_refused(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
    log_warn("the origin refused to pause");
}

static void on_seek_refused(void *ctx, usec_t now)
{
    struct upstream *u = ctx;
    u->config.ops->on_seek_refused(u->config.ctx, now);
}

// An origin that is a proxy has said whose words they are.
static const char *words_of_origin(const char *text)
{
    for (const char *inner; (inner = strstr(text, ORIGIN)) != NULL;)
        text = inner + strlen(ORIGIN);
    return text;
}

void upstream_refusal(enum rtsp_client_end end, int status, const char *text,
                      struct media_refusal *out)
{
    // A viewer has no credentials of the origin, and cannot follow its redirects.
    bool passes = status >= 400 && status != 401;
    out->status = end == RTSP_CLIENT_INTERNAL ? 500 : passes ? status : 502;
    snprintf(out->text, sizeof(out->text), "%s%s", ORIGIN, words_of_origin(text));
}

struct media_refusal upstream_lost(usec_t away, const char *why)
{
    struct media_refusal out = {.status = 502};
    snprintf(out.text, sizeof(out.text), "%sit was lost for %.0f s: %s", ORIGIN, usec_to_sec(away),
             words_of_origin(why));
    return out;
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    struct upstream *u = ctx;
    struct media_refusal why;
    if (u->leaving)
        return;
    upstream_refusal(end, rtsp_client_status(session(u)), text, &why);
    u->playing = false;
    u->config.ops->on_end(u->config.ctx, &why, now);
}

static const struct rtsp_link_ops link_ops = {.rtsp = {.on_described = on_described,
                                                       .on_setup = on_setup,
                                                       .on_moved = on_moved,
                                                       .on_audio = on_audio,
                                                       .on_start = on_start,
                                                       .on_ready = on_ready,
                                                       .on_playing = on_playing,
                                                       .on_answer = on_answer,
                                                       .on_values = on_values,
                                                       .on_level = on_level,
                                                       .on_pause_refused = on_pause_refused,
                                                       .on_seek_refused = on_seek_refused,
                                                       .on_end = on_end},
                                              .on_film_table = on_film_table};

// ---- Requests

static const char *adapt_of(bool follows)
{
    return follows ? "sender" : "none";
}

void upstream_pause(struct upstream *u, usec_t now)
{
    rtsp_client_pause(session(u), now);
}

void upstream_resume(struct upstream *u, usec_t now)
{
    rtsp_client_resume(session(u), now);
}

void upstream_scale(struct upstream *u, double seconds, double scale, usec_t now)
{
    rtsp_client_scale(session(u), seconds, scale, now);
}

void upstream_set_speed(struct upstream *u, double speed, usec_t now)
{
    rtsp_client_set_speed(session(u), speed, now);
}

void upstream_set_level(struct upstream *u, int level, usec_t now)
{
    if (u->dialect && u->dialect->knows_weir_parameters)
        rtsp_client_set_level(session(u), level, now);
}

void upstream_set_follows(struct upstream *u, bool follows, usec_t now)
{
    if (follows == u->config.follows)
        return;
    u->config.follows = follows;
    rtsp_client_set_adapt(session(u), adapt_of(follows), now);
}

void upstream_request_key(struct upstream *u, usec_t now)
{
    if (video(u))
        video_receiver_send_pli(video(u), now);
}

void upstream_limit(struct upstream *u, double bps, usec_t now)
{
    bps = fmin(bps, INT_MAX);
    bool knows = rtsp_client_set_max_rate(session(u), (int)bps, now) ||
                 (video(u) && video_receiver_limit(video(u), bps, now));
    if (!knows && !u->warned)
        log_warn("the origin knows neither max-rate nor TMMBR: what the access cannot carry is "
                 "dropped here");
    u->warned |= !knows;
}

void upstream_mark(struct upstream *u, int packets)
{
    bool can = rtsp_link_mark(link_of(u), packets);
    if (!can && !u->warned)
        log_warn("the transport of the backbone reports no marks: what the access cannot carry is "
                 "dropped here");
    u->warned |= !can;
}

int upstream_subtitles(struct upstream *u, const struct subtitle_request *r,
                       struct subtitle_set *out, usec_t now)
{
    char line[64], body[66];
    const struct subtitle_set *set = &u->subtitles;
    struct subtitle_request ask = *r;
    bool knows = u->subtitle_track == r->track;
    out->count = 0;
    snprintf(out->head, sizeof(out->head), "%s", knows && r->head ? set->head : "");
    for (int i = 0; i < set->count && knows; i++)
        if (set->cues[i].end > r->from && set->cues[i].begin <= r->from + SUBTITLE_AHEAD)
            out->cues[out->count++] = set->cues[i];
    ask.head = !knows || !*set->head;
    if (u->asks_subtitles || !u->playing || subtitle_request_encode(&ask, line, sizeof(line)) < 0)
        return out->count;
    snprintf(body, sizeof(body), "%s\r\n", line);
    u->asks_subtitles = rtsp_client_ask_values(session(u), body, now);
    u->asked_track = r->track;
    return out->count;
}

void upstream_ask_film_table(struct upstream *u, usec_t now)
{
    rtsp_link_ask_film_table(link_of(u), &u->sdp, now);
}

bool upstream_cannot_verify(const struct upstream *u)
{
    return u->verifier && group_verifier_is_refused(u->verifier);
}

void upstream_flush(struct upstream *u)
{
    if (u->recorder)
        film_recorder_flush(u->recorder);
}

bool upstream_is_datagram(const struct upstream *u)
{
    return u->datagram;
}

void upstream_hold(struct upstream *u, bool hold, usec_t now)
{
    rtsp_link_hold(link_of(u), hold, now);
}

void upstream_set_latency(struct upstream *u, int ms, usec_t now)
{
    if (u->dialect && u->dialect->knows_weir_parameters)
        rtsp_client_set_latency(session(u), ms, now);
}

void upstream_set_playout(struct upstream *u, int ms, usec_t now)
{
    if (u->dialect)
        rtsp_client_set_playout(session(u), ms, now);
}

void upstream_second(struct upstream *u, usec_t now)
{
    if (!u->playing)
        return;
    struct video_receiver_stats f;
    stream_receiver_second(remote_stream_media(u->remote), &f, now);
    u->stats.rate_bps = f.rate_bps;
    u->stats.loss = f.loss;
    u->stats.delay_ms = u->delay_count ? u->delay_sum / u->delay_count / 1000 : NAN;
    u->delay_sum = u->delay_count = 0;
}

void upstream_read(const struct upstream *u, struct upstream_stats *out)
{
    *out = u->stats;
    out->packets = video(u) ? video_receiver_packets(video(u)) : 0;
}

bool upstream_wall_ahead(const struct upstream *u, usec_t *out)
{
    *out = u->clock.offset;
    return u->clock.known;
}

// ---- Life

struct upstream *upstream_new(const struct upstream_config *config, usec_t now)
{
    struct upstream *u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    bool is_weir = server_dialect_of(config->sdp)->knows_weir_parameters;
    bool knows = config->is_described && is_weir && !strchr(config->url->text, '?');
    u->config = *config;
    u->url = *config->url;
    u->only = config->only ? strdup(config->only) : NULL;
    snprintf(u->via, sizeof(u->via), "%s", config->via);
    u->stats.rate_bps = u->stats.loss = u->stats.delay_ms = u->stats.skipped = NAN;
    struct rtsp_client_config rtsp = {.url = u->url,
                                      .transports = *config->transports,
                                      .adapt = adapt_of(config->follows),
                                      .only = u->only,
                                      .controls_speed = is_weir,
                                      .live_latency_ms = config->latency_ms,
                                      .stored_latency_ms = config->latency_ms,
                                      .has_audio = config->has_audio,
                                      .may_follow = origin_url_may_follow,
                                      .follow_ctx = config->rules,
                                      .via = u->via,
                                      .known = knows ? config->sdp : NULL};
    struct rtsp_link_config link = {.loop = config->loop,
                                    .rtsp = &rtsp,
                                    .cc = "",
                                    .repair = repair_mode_name(REPAIR_MODE_AUTO),
                                    .srtp = config->rules->srtp,
                                    .ops = &link_ops,
                                    .ctx = u};
    u->bye = timer_new(config->loop, on_bye_time, u);
    u->remote = u->bye ? remote_stream_new(&link, now) : NULL;
    if (u->remote)
        return u;
    upstream_free(u, now);
    return NULL;
}

void upstream_free(struct upstream *u, usec_t now)
{
    if (!u)
        return;
    u->leaving = true;
    remote_stream_free(u->remote, now);
    group_verifier_free(u->verifier);
    film_recorder_free(u->recorder);
    timer_free(u->bye);
    free(u->only);
    free(u);
}
