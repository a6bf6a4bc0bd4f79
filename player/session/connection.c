// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/connection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/mtp/mtp_flow.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/raw_tcp.h"
#include "common/net/timer.h"
#include "common/wire/rtcp.h"
#include "player/policy/level_choice.h"
#include "player/policy/media_progress.h"
#include "player/policy/media_silence.h"
#include "player/receive/video_receiver.h"
#include "player/rtsp/client.h"
#include "player/session/goddard_session.h"
#include "player/session/stream_description.h"

#define BYE_GRACE (200 * USEC_PER_MSEC) // datagrams sent before the BYE may arrive after it
enum { MIN_SHARE_CHANGE_MS = 10 };      // of the sender's share of the latency

struct connection {
    struct connection_config config;
    struct client *client;           // these are owned; NULL: hung up
    struct video_receiver *input;    // NULL: not described yet
    struct presenter *presenter;     // NULL: not described yet, or packets without frames
    struct goddard_session *goddard; // NULL: not wanted
    struct timer *bye;
    struct sdp sdp;
    struct clock_sync clock;
    struct transport_info path; // as the sender reported last
    usec_t rtt;                 // 0: unknown
    int sender_ms;              // its share of the latency, as requested last; 0: not yet
    char transport[TRANSPORT_MAX_NAME];
    bool datagram;
    bool pairs; // of packets can be requested, to measure the path
    struct level_choice level;
    enum phase {
        CONNECTING, // up to the response to PLAY
        PLAYING,
        ENDED,     // no media follows: BYE came, or the server was lost. A seek may start it again
        ABANDONED, // ENDED for good: another connection follows
    } phase;
    bool stopped; // the viewing is over, or another connection is shown
    struct media_silence silence;
    struct media_progress progress;
    struct seek seek;
    char refusal[128]; // why the description cannot be played
};

// Returns true if media does not come from here: it has ended for good, or has not begun again.
static bool is_away(const struct connection *c)
{
    return c->phase == ABANDONED || (c->config.again && c->phase == CONNECTING);
}

static bool is_paused(const struct connection *c)
{
    return c->presenter && presenter_paused(c->presenter);
}

static uint64_t media_packets(const struct connection *c)
{
    uint64_t video = c->input ? video_receiver_packets(c->input) : 0;
    return video + audio_session_packets(c->config.audio);
}

static void set_ended(struct connection *c, enum phase phase)
{
    c->phase = phase;
    goddard_session_end(c->goddard);
}

// ---- From the network: packets and frames ----

static void on_client_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                             usec_t now)
{
    struct connection *c = ctx;
    if (c->stopped)
        return;
    // weir-send's audio comes among the video's packets.
    if (!server_dialect_of(&c->sdp)->audio_has_own_flow &&
        audio_session_packet(c->config.audio, rtcp, data, len, arrived))
        return;
    video_receiver_packet(c->input, rtcp, data, len, arrived, now);
}

static void on_audio_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                            usec_t now)
{
    struct connection *c = ctx;
    (void)now;
    if (!c->stopped)
        (void)audio_session_packet(c->config.audio, rtcp, data, len, arrived);
}

static void on_packet(void *ctx, const struct rtp_packet *packet, int64_t ext_seq, usec_t arrived,
                      usec_t now)
{
    struct connection *c = ctx;
    presenter_packet(c->presenter, packet, ext_seq, arrived);
    if (!server_dialect_of(&c->sdp)->numbers_from_stamps)
        audio_session_near(c->config.audio, packet->adu.frame);
    goddard_session_packet(c->goddard, packet, arrived, now);
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct connection *c = ctx;
    int64_t number = f->number;
    uint32_t stamp = f->rtp_timestamp;
    usec_t arrived = f->last_arrived;
    presenter_push(c->presenter, f, now);
    if (server_dialect_of(&c->sdp)->numbers_from_stamps && number >= 0 &&
        number < PLAYOUT_MAX_NUMBER)
        audio_session_frame(c->config.audio, stamp, presenter_media_time(c->presenter, number),
                            arrived);
    goddard_session_frame(c->goddard, number, presenter_held(c->presenter), now);
}

static void on_nacked(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    if (c->presenter)
        presenter_nacked(c->presenter, now);
}

static void on_report(void *ctx, uint64_t ntp, uint32_t timestamp)
{
    struct connection *c = ctx;
    audio_session_video_report(c->config.audio, ntp, timestamp);
}

static void on_bye(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    if (c->phase == ABANDONED)
        return;
    audio_session_end(c->config.audio);
    timer_set(c->bye, c->datagram ? now + BYE_GRACE : now);
    if (c->phase == PLAYING)
        set_ended(c, ENDED);
}

static void on_bye_time(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    if (c->stopped || c->phase == ABANDONED)
        return;
    int64_t arrived = c->presenter ? presenter_arrived(c->presenter) : -1;
    // Live media has no end of its own: its BYE means that the server ended.
    bool early = c->sdp.duration < 0 || seek_is_early(&c->seek, arrived);
    if (early && c->config.ops->on_lost(c->config.ctx, "the server has ended", now)) {
        c->phase = ABANDONED; // whatever its client, which lives on, is still answered
        return;
    }
    if (c->presenter)
        presenter_end(c->presenter, now);
    else
        c->config.ops->on_drained(c->config.ctx, now);
}

static int64_t ecn_marked(void *ctx)
{
    const struct connection *c = ctx;
    return c->client ? client_ecn_marked(c->client) : -1;
}

static void send_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    struct connection *c = ctx;
    if (c->client)
        client_send_rtcp(c->client, false, data, len);
}

// ---- From the presenter ----

static void ask_key(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    video_receiver_send_pli(c->input, now);
}

static void on_level_arrived(void *ctx, int level, usec_t now)
{
    struct connection *c = ctx;
    struct level_switch s;
    if (!level_choice_arrived(&c->level, level, &s))
        return;
    struct qoe_switch e = {.from = s.from, .to = s.to, .why = s.reason};
    qoe_on_switch(c->config.qoe, &e, now);
    trace_level(c->config.events, &e, now);
}

static void on_empty(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    goddard_session_empty(c->goddard, now);
}

static void on_started(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    c->config.ops->on_started(c->config.ctx, now);
}

static void on_clock(void *ctx, bool playing, const struct media_clock *clock)
{
    struct connection *c = ctx;
    audio_session_clock(c->config.audio, playing, clock);
}

static void on_picture(void *ctx, const struct play_frame *f, usec_t pts)
{
    struct connection *c = ctx;
    audio_session_picture(c->config.audio, f, pts);
}

static void on_drained(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    c->config.ops->on_drained(c->config.ctx, now);
}

void connection_done(struct connection *c, struct play_frame *f, usec_t now)
{
    if (f->session != c->config.number) { // of an earlier connection
        play_frame_free(f);
        return;
    }
    usec_t wait;
    if (f->fate == FATE_SHOWN &&
        seek_shown(&c->seek, f->number, f->shown_at, is_paused(c), &wait)) {
        qoe_on_seek_shown(c->config.qoe, wait);
        trace_seek(c->config.events, c->seek.to, wait, now);
        log_debug("seek to %.3f s took %.0f ms", c->seek.to, usec_to_msec(wait));
    }
    presenter_done(c->presenter, f, now);
}

// ---- The stream is described: its receiver, presenter and policy ----

static bool open_input(struct connection *c)
{
    uint64_t random = 0;
    if (!random_fill(&random, sizeof(random)))
        random = (uint64_t)clock_wall();
    struct video_receiver_config config = {.sdp = &c->sdp,
                                           .clock = &c->clock,
                                           .qoe = c->config.qoe,
                                           .events = c->config.events,
                                           .random = random,
                                           .send_rtcp = send_rtcp,
                                           .on_packet = on_packet,
                                           .on_frame = on_frame,
                                           .on_nacked = on_nacked,
                                           .on_bye = on_bye,
                                           .on_report = on_report,
                                           .ecn_marked = ecn_marked,
                                           .ctx = c};
    client_set_ssrc(c->client, (uint32_t)random); // the same in all our RTCP (RFC 3550, 5.1)
    audio_session_join(c->config.audio, &c->sdp, random);
    c->input = video_receiver_new(&config);
    return c->input;
}

static bool open_presenter(struct connection *c)
{
    struct presenter_config config = {.loop = c->config.loop,
                                      .options = c->config.options,
                                      .sdp = &c->sdp,
                                      .clock = &c->clock,
                                      .qoe = c->config.qoe,
                                      .events = c->config.events,
                                      .show = c->config.show,
                                      .level = c->config.again ? -1 : c->level.level,
                                      .session = c->config.number,
                                      .on_done = c->config.on_done,
                                      .done_ctx = c->config.done_ctx,
                                      .ask_key = ask_key,
                                      .on_level = on_level_arrived,
                                      .on_empty = on_empty,
                                      .on_started = on_started,
                                      .on_clock = on_clock,
                                      .on_picture = on_picture,
                                      .on_ended = on_drained,
                                      .ctx = c};
    c->presenter = presenter_new(&config);
    return c->presenter;
}

static bool choose_level(void *ctx, int level, const char *reason)
{
    struct connection *c = ctx;
    bool other = level != c->level.requested;
    if (other)
        level_choice_request(&c->level, level, reason);
    return other;
}

static bool open_goddard(struct connection *c)
{
    struct goddard_session_config config = {.loop = c->config.loop,
                                            .client = c->client,
                                            .ladder = &c->sdp.ladder,
                                            .params = &c->config.options->goddard,
                                            .qoe = c->config.qoe,
                                            .events = c->config.events,
                                            .choose_level = choose_level,
                                            .ctx = c};
    c->goddard = goddard_session_new(&config);
    return c->goddard;
}

static bool open_media(struct connection *c)
{
    bool goddard = c->config.options->adapt == ADAPT_GODDARD;
    if ((goddard && !open_goddard(c)) || !open_input(c))
        return false;
    if (!sdp_has_frames(&c->sdp))
        return true;
    return (!c->sdp.h264 || comparison_open(c->config.comparison, &c->sdp)) && open_presenter(c);
}

static void report_clock(struct connection *c)
{
    struct qoe_clock e = {.shared = c->clock.shared, .offset_error = c->clock.least_rtt / 2};
    qoe_on_clock(c->config.qoe, &e);
}

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct connection *c = ctx;
    struct play_options *o = c->config.options;
    c->config.ops->on_described(c->config.ctx, now);
    c->sdp = *sdp;
    if (c->config.again && o->level >= c->sdp.ladder.level_count)
        o->level = c->sdp.ladder.level_count - 1;
    *why = stream_description_refuse(&c->sdp, o, !c->config.display->list_only, c->refusal,
                                     sizeof(c->refusal));
    if (*why)
        return false;
    struct level_start start = {.top = c->sdp.ladder.level_count - 1,
                                .wanted = o->level,
                                .policy = o->adapt == ADAPT_GODDARD,
                                .again = c->config.again,
                                .before = c->config.level};
    level_choice_begin(&c->level, &start);
    if (clock_is_ours(c->sdp.clock)) {
        clock_sync_shared(&c->clock);
        report_clock(c);
    }
    *why = "out of memory or threads";
    if (!open_media(c))
        return false;
    bool movable = c->sdp.duration >= 0 && c->presenter && !c->goddard;
    seek_init(&c->seek, movable, fps_value(c->sdp.ladder.source_fps), c->sdp.duration);
    return true;
}

// ---- From the client: the session ----

static void on_connected(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    qoe_on_connected(c->config.qoe, now);
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    (void)ctx;
    (void)now;
    stream_description_print_list(list);
}

// Logs if a transport was preferred that this program may not use.
static void report_raw_missing(const struct connection *c)
{
    const struct transport_list *list = &c->config.options->transports;
    const struct transport_kind *taken, *kind;
    const char *params;
    if (c->config.raw || !server_dialect_of(&c->sdp)->knows_weir_transports ||
        transport_find(c->transport, &taken, &params) != 0)
        return;
    for (int i = 0; i < list->count && transport_find(list->names[i], &kind, &params) == 0; i++) {
        if (kind == taken)
            return;
        if (kind->needs_raw) {
            log_warn("transport %s is not possible: " RAW_TCP_REMEDY, list->names[i]);
            return;
        }
    }
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    struct connection *c = ctx;
    const struct play_options *o = c->config.options;
    snprintf(c->transport, sizeof(c->transport), "%s", setup->transport);
    c->datagram = setup->datagram;
    c->pairs = setup->pairs;
    c->rtt = setup->rtt;
    char source[STREAM_DESCRIPTION_TEXT];
    stream_description_source(&c->sdp, source);
    struct qoe_setup e = {.transport = c->transport,
                          .why = setup->why,
                          .source = source,
                          .ladder = &c->sdp.ladder,
                          .frames = sdp_has_frames(&c->sdp)};
    qoe_on_setup(c->config.qoe, &e, now);
    if (c->config.again) {
        qoe_on_reconnect(c->config.qoe);
    } else {
        if (*c->sdp.other_audio && !o->no_audio)
            log_warn("audio codec %s is not supported (only Opus); playing without audio",
                     c->sdp.other_audio);
        report_raw_missing(c);
    }
    const struct ladder *l = &c->sdp.ladder;
    if (c->sdp.h264) // other servers report the size with the first picture only
        c->config.display->ops->expect(c->config.display,
                                       l->source_width > 0 ? l->source_width : 640,
                                       l->source_height > 0 ? l->source_height : 360);
    trace_connected(c->config.events, o->url.text, c->transport, setup->why, now);
    if (c->presenter)
        trace_mode(c->config.events, "buffering", now);
    log_info("playing %s by %s%s%s", source, c->transport, *setup->why ? ": " : "", setup->why);
}

static void on_audio(void *ctx)
{
    struct connection *c = ctx;
    audio_session_open(c->config.audio);
}

static void on_ready(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    struct goddard_path path = {.transport = c->transport, .pairs = c->pairs, .rtt = c->rtt};
    goddard_session_ready(c->goddard, &path, now);
}

// The server refused the seek. The client takes every seek for the end of a pause, so restore what
// the viewer sees: paused or playing.
static void stay(struct connection *c, usec_t now)
{
    seek_refused(&c->seek);
    if (is_paused(c))
        client_pause(c->client, now);
    else
        client_resume(c->client, now);
}

static void on_placed(struct connection *c, const struct rtsp_client_place *place, usec_t now)
{
    struct seek_place at = {.seconds = place->seconds,
                            .first = place->first,
                            .show = place->show,
                            .sought = place->sought};
    int64_t arrived = c->presenter ? presenter_arrived(c->presenter) : -1;
    switch (seek_placed(&c->seek, &at, arrived)) {
    case SEEK_NOT_PLACED:
        if (!place->sought)
            return;
        if (server_dialect_of(&c->sdp)->shares_files)
            log_warn("the server refused the seek: other viewers watch the same stream");
        stay(c, now);
        return;
    case SEEK_CONTINUES:
        return;
    case SEEK_JUMPS:
        timer_set(c->bye, USEC_NEVER);
        trace_freeze(c->config.events,
                     place->sought ? qoe_on_seek(c->config.qoe, place->show, now)
                                   : qoe_on_rebuffer(c->config.qoe, now),
                     now);
        presenter_seek(c->presenter, place->first, place->show, place->sought && place->ahead, now);
        return;
    }
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    struct connection *c = ctx;
    if (c->phase == ABANDONED)
        return;
    bool again = is_away(c);
    c->phase = PLAYING;
    media_progress_begin(&c->progress, now);
    media_silence_begin(&c->silence, media_packets(c), now);
    on_placed(c, place, now);
    c->config.ops->on_playing(c->config.ctx, now);
    if (again && seek_again(&c->seek))
        client_seek(c->client, c->seek.to, now);
}

static void on_pair(void *ctx, const struct capacity_packet *packet, size_t bytes, usec_t arrived,
                    usec_t now)
{
    struct connection *c = ctx;
    goddard_session_pair(c->goddard, packet, bytes, arrived, now);
}

static void on_pair_refused(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    log_warn("the server refused packet pairs: the capacity is not measured with them");
    goddard_session_no_pair(c->goddard, now);
}

// Returns the sender's variable `name` if it is a number from 0 to `end` - 1, else -1.
static int variable(const struct transport_info *path, const char *name, int end)
{
    for (int i = 0; i < TRANSPORT_VARIABLES && path->variable[i].name[0]; i++) {
        double value = path->variable[i].value;
        if (strcmp(path->variable[i].name, name) == 0 && value >= 0 && value < end)
            return (int)value;
    }
    return -1;
}

static void report_mtp_mode(struct connection *c, const struct transport_info *path, usec_t now)
{
    int from = variable(&c->path, "mode", MTP_RESEND + 1);
    int to = variable(path, "mode", MTP_RESEND + 1);
    int why = variable(path, "why", MTP_WHYS);
    if (to < 0 || why < 0 || (from == to && why == variable(&c->path, "why", MTP_WHYS)))
        return;
    if (from < 0 && why == MTP_WHY_ASKED)
        return;
    const char *name = mtp_mode_name((enum mtp_mode)to);
    const char *reason = mtp_why_text((enum mtp_why)why);
    trace_transport_mode(c->config.events, from < 0 ? NULL : mtp_mode_name((enum mtp_mode)from),
                         name, reason, now);
    log_info("MTP's mode at the sender: %s (%s)", name, reason);
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    struct connection *c = ctx;
    report_mtp_mode(c, &a->params.transport, now);
    c->path = a->params.transport;
    if (!isnan(a->params.skipped))
        qoe_on_sender_skipped(c->config.qoe, (uint64_t)a->params.skipped);
    c->rtt = isnan(c->path.rtt_ms) ? a->rtt : (usec_t)(c->path.rtt_ms * 1e3);
    video_receiver_set_rtt(c->input, c->rtt);
    if (c->presenter)
        presenter_set_rtt(c->presenter, c->rtt);
    if (a->params.has_clock &&
        clock_sync_sample(&c->clock, a->asked_wall, a->params.sender_wall, a->received_wall))
        report_clock(c);
}

// An accepted level shows in the frames that come: on_level_arrived.
static void on_level(void *ctx, int level, bool accepted, usec_t now)
{
    struct connection *c = ctx;
    (void)now;
    if (accepted)
        return;
    log_warn("the server refused level %d", level);
    level_choice_refused(&c->level);
}

static void on_pause_refused(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
    log_warn("the server refused to pause: media that arrives during the pause is not shown");
}

static void on_seek_refused(void *ctx, usec_t now)
{
    stay(ctx, now);
}

static void on_client_end(void *ctx, enum rtsp_client_end why, const char *text, usec_t now)
{
    struct connection *c = ctx;
    const struct connection_ops *ops = c->config.ops;
    bool expected = c->phase == PLAYING || is_away(c); // else its BYE has ended the media before
    if (why == RTSP_CLIENT_LEFT) {
        ops->on_left(c->config.ctx, now);
        return;
    }
    if (c->phase == ABANDONED)
        return;
    if ((why == RTSP_CLIENT_LOST || why == RTSP_CLIENT_REFUSED) && expected &&
        ops->on_lost(c->config.ctx, text, now))
        return;
    switch (why) {
    case RTSP_CLIENT_REFUSED:
        ops->on_end(c->config.ctx, QOE_ERROR, EXIT_REFUSED, text, now);
        return;
    case RTSP_CLIENT_INTERNAL:
        ops->on_end(c->config.ctx, QOE_ERROR, EXIT_INTERNAL, text, now);
        return;
    case RTSP_CLIENT_LOST:
        if (c->phase == PLAYING)
            ops->on_gone(c->config.ctx, text, now);
        return;
    case RTSP_CLIENT_LISTED:
        ops->on_end(c->config.ctx, QOE_END_OF_MEDIA, EXIT_ENDED, NULL, now);
        return;
    case RTSP_CLIENT_LEFT:
        return;
    }
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    const struct play_options *o = ((const struct connection *)ctx)->config.options;
    *out = (struct rtsp_client_start){.level = o->level, .start = o->start};
}

static const struct client_ops client_ops = {.rtsp = {.on_connected = on_connected,
                                                      .on_described = on_described,
                                                      .on_list = on_list,
                                                      .on_setup = on_setup,
                                                      .on_audio = on_audio,
                                                      .on_start = on_start,
                                                      .on_ready = on_ready,
                                                      .on_playing = on_playing,
                                                      .on_answer = on_answer,
                                                      .on_pair_refused = on_pair_refused,
                                                      .on_level = on_level,
                                                      .on_pause_refused = on_pause_refused,
                                                      .on_seek_refused = on_seek_refused,
                                                      .on_end = on_client_end},
                                             .on_packet = on_client_packet,
                                             .on_audio_packet = on_audio_packet,
                                             .on_pair = on_pair};

// ---- Once in a while ----

// A server may answer every request and yet send nothing.
static void check_silence(struct connection *c, usec_t now)
{
    bool due = c->phase == PLAYING && !is_paused(c);
    usec_t silent = media_silence_look(&c->silence, media_packets(c), due, now);
    usec_t limit = client_silence_limit(c->client);
    if (silent < limit)
        return;
    if (!c->silence.heard)
        c->config.ops->on_idle(c->config.ctx);
    char reason[160];
    snprintf(reason, sizeof(reason), "the server answers, but %s for %d s%s",
             c->datagram ? "no media arrives" : "sends no media", (int)(limit / USEC_PER_SEC),
             c->datagram ? ": UDP may be blocked (try --transport minbuf)" : "");
    client_give_up(c->client, reason, now);
}

static void check_progress(struct connection *c, usec_t now)
{
    struct media_progress_facts f = {.packets = video_receiver_packets(c->input),
                                     .span = video_receiver_media_span(c->input)};
    if (c->presenter) {
        f.pictures = true;
        f.paused = presenter_paused(c->presenter);
        f.decoded = presenter_decoded(c->presenter);
        f.buffer_target = presenter_waiting(c->presenter, now).goal;
    }
    switch (media_progress_check(&c->progress, &f, now)) {
    case MEDIA_PROGRESS_FINE:
        return;
    case MEDIA_PROGRESS_NO_PACKET:
        log_warn("no media received for %d s%s", (int)(MEDIA_PROGRESS_QUIET / USEC_PER_SEC),
                 c->datagram ? "; UDP may be blocked: try --transport minbuf" : "");
        return;
    case MEDIA_PROGRESS_NO_PICTURE:
        c->config.ops->on_end(c->config.ctx, QOE_ERROR, EXIT_UNDECODABLE,
                              "the stream cannot be decoded: no picture within 10 s of media", now);
        return;
    }
}

// Requests the sender's share of the latency if it has changed by more than a tenth.
static void request_share(struct connection *c, usec_t now)
{
    int ms = c->presenter ? (int)(presenter_sender_share(c->presenter) / USEC_PER_MSEC) : 0;
    int change = abs(ms - c->sender_ms);
    if (!ms || change < MIN_SHARE_CHANGE_MS || change * 10 < c->sender_ms)
        return;
    c->sender_ms = ms;
    client_set_latency(c->client, ms, now);
    log_debug("requested of the sender: frames at most %d ms old when sent", ms);
}

void connection_second(struct connection *c, struct qoe_transport *out, usec_t now)
{
    struct video_receiver_figures figures;
    video_receiver_second(c->input, &figures, now);
    uint8_t report[RTCP_MAX_PACKET];
    size_t len = audio_session_second(c->config.audio, report, now);
    if (len)
        client_send_rtcp(c->client, true, report, len);
    const struct transport_info *path = &c->path;
    double rtt = c->rtt ? usec_to_sec(c->rtt) : NAN;
    *out = (struct qoe_transport){
        .rtt = isnan(path->rtt_ms) ? rtt : path->rtt_ms / 1e3,
        .rate = figures.rate_bps,
        // TCP hides loss from the player by retransmission: take the sender's number.
        .loss = c->datagram ? figures.loss : path->loss,
        .queue = figures.queue,
        .cwnd = path->cwnd_packets};
    qoe_on_transport(c->config.qoe, out);
    trace_transport(c->config.events, out, now);
    if (!isnan(path->allowed_bps))
        trace_controller(c->config.events, path, now);
    request_share(c, now);
    check_progress(c, now);
    if (!c->stopped)
        check_silence(c, now);
}

void connection_tick(struct connection *c, usec_t now)
{
    if (c->client && c->presenter &&
        seek_must_pause(&c->seek, is_paused(c), presenter_held(c->presenter)))
        client_pause(c->client, now);
}

// ---- The viewer ----

static bool may_set_level(const struct connection *c)
{
    return c->phase == PLAYING && !c->goddard && c->sdp.ladder.level_count > 0;
}

void connection_set_level(struct connection *c, int level, usec_t now)
{
    if (!may_set_level(c) || !ladder_has_level(&c->sdp.ladder, level))
        return;
    level_choice_request(&c->level, level, "user");
    c->config.options->level = level;
    client_set_level(c->client, level, now);
}

void connection_pause(struct connection *c, usec_t now)
{
    if (!c->presenter || is_paused(c))
        return;
    presenter_pause(c->presenter, now);
    goddard_session_pause(c->goddard, true, now);
    if (c->phase == PLAYING) // else all media was received, and the buffered rest is played
        client_pause(c->client, now);
}

void connection_resume(struct connection *c, usec_t now)
{
    if (!is_paused(c))
        return;
    presenter_resume(c->presenter, now);
    goddard_session_pause(c->goddard, false, now);
    if (c->phase == PLAYING)
        client_resume(c->client, now);
}

enum seek_request connection_seek(struct connection *c, double seconds, usec_t now)
{
    enum seek_request answer = seek_to(&c->seek, seconds, now);
    if (answer != SEEK_WANTED)
        return answer;
    if (is_away(c)) // the next connection begins there
        c->config.options->start = (usec_t)(c->seek.to * 1e6);
    else
        client_seek(c->client, c->seek.to, now);
    return answer;
}

double connection_seek_base(const struct connection *c)
{
    return seek_base(&c->seek);
}

struct connection_status connection_status(const struct connection *c)
{
    return (struct connection_status){.sdp = &c->sdp,
                                      .presenter = c->presenter,
                                      .path = &c->path,
                                      .transport = c->transport,
                                      .level = c->level.level,
                                      .requested_level = c->level.requested,
                                      .playing = c->phase == PLAYING,
                                      .may_set_level = may_set_level(c),
                                      .paused = is_paused(c),
                                      .position = seek_position(&c->seek),
                                      .packets = media_packets(c),
                                      .last_shown =
                                          c->presenter ? presenter_last_shown(c->presenter) : NULL};
}

// ---- The end ----

bool connection_end_media(struct connection *c, usec_t now)
{
    set_ended(c, ABANDONED);
    if (!c->presenter)
        return false;
    if (presenter_mode(c->presenter) == PLAYOUT_ENDED)
        return true;
    presenter_end(c->presenter, now);
    return false;
}

bool connection_drain(struct connection *c, usec_t now)
{
    set_ended(c, ENDED);
    audio_session_end(c->config.audio);
    if (!c->presenter || is_paused(c))
        return false;
    presenter_end(c->presenter, now);
    return true;
}

void connection_stop(struct connection *c, usec_t now)
{
    c->stopped = true;
    goddard_session_end(c->goddard);
    if (c->presenter)
        presenter_stop(c->presenter, now);
}

void connection_retire(struct connection *c, usec_t now)
{
    connection_stop(c, now);
    audio_session_leave(c->config.audio);
}

void connection_send_bye(struct connection *c, usec_t now)
{
    if (c->input)
        video_receiver_send_bye(c->input, now);
}

bool connection_leave(struct connection *c, usec_t now)
{
    return c->client && client_leave(c->client, now);
}

void connection_hang_up(struct connection *c)
{
    timer_set(c->bye, USEC_NEVER);
    if (c->input)
        video_receiver_tell(c->input); // while the client still knows the ECN marks
    client_free(c->client);
    c->client = NULL;
}

// ---- Life ----

static struct client *new_client(struct connection *c, usec_t now)
{
    static const char *const adapt[] = {
        [ADAPT_DEFAULT] = NULL,
        [ADAPT_SENDER] = "sender",
        [ADAPT_NONE] = "none",
        [ADAPT_GODDARD] = "none",
    };
    const struct play_options *o = c->config.options;
    struct rtsp_client_config config = {.url = o->url,
                                        .transports = o->transports,
                                        .adapt = adapt[o->adapt],
                                        .controls_speed = o->adapt == ADAPT_GODDARD,
                                        .live_latency_ms = play_options_latency_ms(o, true),
                                        .stored_latency_ms = play_options_latency_ms(o, false),
                                        .silence = o->timeout,
                                        .has_audio = !o->no_audio};
    return client_new(c->config.loop, &config, o->cc, &client_ops, c, now);
}

struct connection *connection_new(const struct connection_config *config, usec_t now)
{
    struct connection *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->config = *config;
    c->level.level = config->level;
    transport_info_clear(&c->path);
    if (config->again)
        snprintf(c->transport, sizeof(c->transport), "%s", config->transport);
    c->config.transport = NULL;
    c->bye = timer_new(config->loop, on_bye_time, c);
    if (c->bye)
        c->client = new_client(c, now);
    if (!c->client) {
        timer_free(c->bye);
        free(c);
        return NULL;
    }
    client_lend_raw(c->client, config->raw);
    return c;
}

void connection_free(struct connection *c)
{
    if (!c)
        return;
    goddard_session_free(c->goddard);
    client_free(c->client);
    render_queue_flush(c->config.show); // the decoder may wait there
    presenter_free(c->presenter);
    render_queue_flush(c->config.show);
    video_receiver_free(c->input);
    timer_free(c->bye);
    free(c);
}
