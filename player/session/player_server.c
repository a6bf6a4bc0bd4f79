// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/scan.h"
#include "common/base/utf8.h"
#include "common/mtp/mtp_flow.h"
#include "common/net/clock.h"
#include "common/net/raw_tcp.h"
#include "player/session/player_state.h"

enum { SOURCE_TEXT = 128, LIST_COLUMN = 4096 };

static void on_connected(void *ctx, usec_t now)
{
    struct player *p = ctx;
    qoe_on_connected(p->qoe, now);
}

static void tell_clock(struct player *p)
{
    struct qoe_clock c = {.shared = p->clock.shared, .offset_error = p->clock.least_rtt / 2};
    qoe_on_clock(p->qoe, &c);
}

// Writes why the stream cannot be played to p->why; false when it can.
static bool cannot_play(struct player *p)
{
    const struct sdp *s = &p->sdp;
    *p->why = '\0'; // of an attempt before
    if (p->display->list_only)
        snprintf(p->why, sizeof(p->why),
                 "there is no display here: set DISPLAY, or play with --headless");
    else if (!sdp_is_foreign(s) &&
             (s->ext.adu == 0 || (sdp_has_frames(s) && !s->ladder.level_count)))
        snprintf(p->why, sizeof(p->why), "no levels, or no frame numbers on the packets");
    else if (sdp_is_foreign(s) && (p->own.level > 0 || p->options->adapt == ADAPT_GODDARD))
        snprintf(p->why, sizeof(p->why),
                 "this server is not weir-send: there are no levels to choose from");
    else if (p->options->adapt == ADAPT_GODDARD && !sdp_has_frames(s))
        snprintf(p->why, sizeof(p->why), "--adapt goddard wants a stream of frames");
    else if (s->ladder.level_count && p->own.level >= s->ladder.level_count)
        snprintf(p->why, sizeof(p->why), "the stream has no level %d: there are 0 to %d",
                 p->own.level, s->ladder.level_count - 1);
    return *p->why;
}

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct player *p = ctx;
    bool again = p->outage.open;
    if (again)
        player_drop_frames(p, now);
    p->sdp = *sdp;
    *why = p->why;
    int top = p->sdp.ladder.level_count - 1;
    if (again && p->own.level > top) // the server came back with fewer
        p->own.level = top;
    if (cannot_play(p))
        return false;
    p->described = true;
    if (!again || p->level > top)
        p->level = p->own.level >= 0 ? p->own.level : top;
    if (p->options->adapt == ADAPT_GODDARD && !again)
        p->level = -1; // not chosen yet: the first that comes is told
    p->wanted_level = p->level;
    if (clock_is_ours(p->sdp.clock)) {
        clock_sync_shared(&p->clock);
        tell_clock(p);
    }
    *why = "out of memory or threads";
    return (p->options->adapt != ADAPT_GODDARD || player_goddard_open(p)) && player_open_frames(p);
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    (void)ctx;
    (void)now;
    struct scan all = list.at ? text_scan(list) : (struct scan){0};
    for (struct scan rest; scan_line(&all, &rest);) {
        while (!scan_end(&rest)) { // columns
            char column[LIST_COLUMN];
            char clean[LIST_COLUMN];
            text_copy(text_of_scan(scan_until(&rest, '\t')), column, sizeof(column));
            utf8_copy(column, clean, sizeof(clean));
            printf("%s%s", clean, scan_end(&rest) ? "" : "\t");
        }
        putchar('\n');
    }
    fflush(stdout);
}

// As it is given to weir-send, as far as it is known: "test 1280x720@30".
static void source_text(const struct sdp *s, char out[SOURCE_TEXT])
{
    static const char *const kinds[] = {
        [SDP_SOURCE_UNKNOWN] = "unknown",
        [SDP_SOURCE_TEST] = "test",
        [SDP_SOURCE_FILE] = "file",
        [SDP_SOURCE_GREEDY] = "synthetic:greedy",
        [SDP_SOURCE_STEADY] = "synthetic:steady",
        [SDP_SOURCE_GODDARD] = "synthetic:goddard",
        [SDP_SOURCE_LAYERS] = "synthetic:layers",
        [SDP_SOURCE_CAMERA] = "camera",
        [SDP_SOURCE_SCREEN] = "screen",
    };
    const struct ladder *l = &s->ladder;
    if (l->source_width > 0 && l->source_fps.den > 0)
        snprintf(out, SOURCE_TEXT, "%s %dx%d@%.4g", kinds[s->source], l->source_width,
                 l->source_height, fps_value(l->source_fps));
    else
        snprintf(out, SOURCE_TEXT, "%s", kinds[s->source]);
}

// A transport was taken that the user likes less than the one that this program may not use.
static void tell_raw_missing(const struct player *p)
{
    const struct transport_list *list = &p->own.transports;
    const struct transport_kind *taken, *kind;
    const char *params;
    if (p->raw || sdp_is_foreign(&p->sdp) || transport_find(p->transport, &taken, &params) != 0)
        return;
    for (int i = 0; i < list->count && transport_find(list->names[i], &kind, &params) == 0; i++) {
        if (kind == taken)
            return;
        if (kind->needs_raw) {
            log_warn("not %s: " RAW_TCP_REMEDY, list->names[i]);
            return;
        }
    }
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    struct player *p = ctx;
    snprintf(p->transport, sizeof(p->transport), "%s", setup->transport);
    p->datagram = setup->datagram;
    p->pairs = setup->pairs;
    p->rtt = setup->rtt;
    char source[SOURCE_TEXT];
    source_text(&p->sdp, source);
    struct qoe_setup e = {.transport = p->transport,
                          .why = setup->why,
                          .source = source,
                          .ladder = &p->sdp.ladder,
                          .frames = sdp_has_frames(&p->sdp)};
    qoe_on_setup(p->qoe, &e, now);
    if (p->outage.open)
        qoe_on_reconnect(p->qoe);
    else if (*p->sdp.other_audio && !p->options->no_audio)
        log_warn("the sound is left out: it is %s, and what can be heard is Opus",
                 p->sdp.other_audio);
    if (!p->outage.open)
        tell_raw_missing(p);
    const struct ladder *l = &p->sdp.ladder;
    if (p->sdp.h264) // of a foreign stream the size is seen with its first picture
        p->display->ops->expect(p->display, l->source_width > 0 ? l->source_width : 640,
                                l->source_height > 0 ? l->source_height : 360);
    trace_connected(p->events, p->options->url.text, p->transport, setup->why, now);
    if (p->presenter)
        trace_mode(p->events, "buffering", now);
    log_info("playing %s by %s%s%s", source, p->transport, *setup->why ? ": " : "", setup->why);
}

static void on_ready(void *ctx, usec_t now)
{
    player_goddard_ready(ctx, now);
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    struct player *p = ctx;
    bool again = p->outage.open;
    p->playing = true;
    p->media_since = now;
    media_silence_begin(&p->silence, player_media_packets(p), now);
    player_seek_placed(p, place, now);
    if (again)
        player_reconnected(p, now);
    if (p->playing_since)
        return;
    p->playing_since = now;
    p->ticks = 0;
    player_start_ticks(p, now);
    player_on_script(p, now);
    if (p->options->duration)
        timer_set(p->duration, now + p->options->duration);
}

static void on_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now)
{
    struct player *p = ctx;
    bool beside = !sdp_is_foreign(&p->sdp) && player_audio_packet(p, rtcp, data, len, arrived);
    if (!p->over && !beside)
        video_receiver_packet(p->input, rtcp, data, len, arrived, now);
}

static void on_audio_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                            usec_t now)
{
    struct player *p = ctx;
    (void)now;
    if (!p->over)
        (void)player_audio_packet(p, rtcp, data, len, arrived);
}

static void on_pair(void *ctx, const struct capacity_packet *packet, size_t bytes, usec_t arrived,
                    usec_t now)
{
    player_goddard_pair(ctx, packet, bytes, arrived, now);
}

static void on_pair_refused(void *ctx, usec_t now)
{
    log_warn("the server sends no packets to measure the path with");
    player_goddard_no_pair(ctx, now);
}

// A number below `end` among the figures of the sender; -1: none.
static int number_of(const struct transport_info *path, const char *name, int end)
{
    for (int i = 0; i < TRANSPORT_VARIABLES && path->variable[i].name[0]; i++) {
        double value = path->variable[i].value;
        if (strcmp(path->variable[i].name, name) == 0 && value >= 0 && value < end)
            return (int)value;
    }
    return -1;
}

static int mtp_mode_of(const struct transport_info *path)
{
    return number_of(path, "mode", MTP_RESEND + 1);
}

static void note_mode(struct player *p, const struct transport_info *path, usec_t now)
{
    int from = mtp_mode_of(&p->path);
    int to = mtp_mode_of(path);
    int why = number_of(path, "why", MTP_WHYS);
    if (to < 0 || why < 0 || (from == to && why == number_of(&p->path, "why", MTP_WHYS)))
        return;
    if (from < 0 && why == MTP_WHY_ASKED)
        return;
    const char *name = mtp_mode_name((enum mtp_mode)to);
    const char *reason = mtp_why_text((enum mtp_why)why);
    trace_transport_mode(p->events, from < 0 ? NULL : mtp_mode_name((enum mtp_mode)from), name,
                         reason, now);
    log_info("MTP's mode at the sender: %s (%s)", name, reason);
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    struct player *p = ctx;
    note_mode(p, &a->params.transport, now);
    p->path = a->params.transport;
    if (!isnan(a->params.skipped))
        qoe_on_sender_skipped(p->qoe, (uint64_t)a->params.skipped);
    p->rtt = isnan(p->path.rtt_ms) ? a->rtt : (usec_t)(p->path.rtt_ms * 1e3);
    video_receiver_set_rtt(p->input, p->rtt);
    if (p->presenter)
        presenter_set_rtt(p->presenter, p->rtt);
    if (a->params.has_clock &&
        clock_sync_sample(&p->clock, a->asked_wall, a->params.sender_wall, a->received_wall))
        tell_clock(p);
}

// What is asked for shows in the frames that come (presenter_config.on_level).
static void on_level(void *ctx, int level, bool accepted, usec_t now)
{
    struct player *p = ctx;
    (void)now;
    if (accepted)
        return;
    log_warn("the server does not give level %d", level);
    p->wanted_level = p->level;
}

static void on_pause_refused(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
    log_warn("the server does not pause: what it sends meanwhile is left out");
}

static void on_seek_refused(void *ctx, usec_t now)
{
    player_seek_refused(ctx, now);
}

static void on_client_end(void *ctx, enum rtsp_client_end why, const char *text, usec_t now)
{
    struct player *p = ctx;
    bool ours = p->playing || p->outage.trying; // else it had said its BYE
    if ((why == RTSP_CLIENT_LOST || why == RTSP_CLIENT_REFUSED) && ours &&
        player_lost(p, text, now))
        return;
    switch (why) {
    case RTSP_CLIENT_REFUSED:
        player_end(p, QOE_ERROR, EXIT_REFUSED, text, now);
        return;
    case RTSP_CLIENT_INTERNAL:
        player_end(p, QOE_ERROR, EXIT_INTERNAL, text, now);
        return;
    case RTSP_CLIENT_LOST:
        if (!p->playing)
            return; // after its BYE the server may hang up
        // What is in the buffer is still worth watching.
        p->playing = false;
        player_give_reason(p, QOE_SERVER_LOST, EXIT_SERVER_LOST, text);
        player_audio_end(p);
        if (p->presenter && !presenter_paused(p->presenter))
            presenter_end(p->presenter, now);
        else
            player_stop(p, now);
        return;
    case RTSP_CLIENT_LISTED:
        player_end(p, QOE_END_OF_MEDIA, EXIT_ENDED, NULL, now);
        return;
    case RTSP_CLIENT_LEFT:
        if (p->leaving)
            uv_stop(&p->loop);
        else
            timer_set(p->retry, now); // by another transport
        return;
    }
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    const struct player *p = ctx;
    *out = (struct rtsp_client_start){.level = p->own.level, .start = p->own.start};
}

static const struct client_ops client_ops = {.rtsp = {.on_connected = on_connected,
                                                      .on_described = on_described,
                                                      .on_list = on_list,
                                                      .on_setup = on_setup,
                                                      .on_audio = player_audio_open,
                                                      .on_start = on_start,
                                                      .on_ready = on_ready,
                                                      .on_playing = on_playing,
                                                      .on_answer = on_answer,
                                                      .on_pair_refused = on_pair_refused,
                                                      .on_level = on_level,
                                                      .on_pause_refused = on_pause_refused,
                                                      .on_seek_refused = on_seek_refused,
                                                      .on_end = on_client_end},
                                             .on_packet = on_packet,
                                             .on_audio_packet = on_audio_packet,
                                             .on_pair = on_pair};

struct client *player_new_client(struct player *p, usec_t now)
{
    const struct play_options *o = &p->own;
    static const char *const adapt[] = {
        [ADAPT_DEFAULT] = NULL,
        [ADAPT_SENDER] = "sender",
        [ADAPT_NONE] = "none",
        [ADAPT_GODDARD] = "none",
    };
    struct rtsp_client_config config = {.url = o->url,
                                        .transports = o->transports,
                                        .adapt = adapt[o->adapt],
                                        .controls_speed = o->adapt == ADAPT_GODDARD,
                                        .live_latency_ms = play_options_latency_ms(o, true),
                                        .stored_latency_ms = play_options_latency_ms(o, false),
                                        .silence = o->timeout,
                                        .has_audio = !o->no_audio};
    struct client *c = client_new(&p->loop, &config, o->cc, &client_ops, p, now);
    if (c)
        client_lend_raw(c, p->raw);
    return c;
}
