// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/random.h"
#include "media/picture/geometry.h"
#include "player/session/player_state.h"

#define BYE_GRACE (200 * USEC_PER_MSEC) // media that was sent before the BYE may come after it

// ---- From the network ----

static void on_packet(void *ctx, const struct rtp_packet *packet, int64_t ext_seq, usec_t arrived,
                      usec_t now)
{
    struct player *p = ctx;
    presenter_packet(p->presenter, packet, ext_seq, arrived);
    if (!sdp_is_foreign(&p->sdp))
        player_audio_near(p, packet->adu.frame);
    player_goddard_packet(p, packet, arrived, now);
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct player *p = ctx;
    int64_t number = f->number;
    uint32_t stamp = f->rtp_timestamp;
    usec_t arrived = f->last_arrived;
    presenter_push(p->presenter, f, now);
    if (sdp_is_foreign(&p->sdp))
        player_audio_frame(p, number, stamp, arrived);
    player_goddard_whole(p, number, now);
}

static void on_nacked(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (p->presenter)
        presenter_nacked(p->presenter, now);
}

static void on_report(void *ctx, uint64_t ntp, uint32_t timestamp)
{
    struct player *p = ctx;
    av_sync_report(&p->audio_input.sync, false, ntp, timestamp);
}

static void on_bye(void *ctx, usec_t now)
{
    struct player *p = ctx;
    player_audio_end(p);
    timer_set(p->bye, p->datagram ? now + BYE_GRACE : now);
    p->playing = false;
}

static void on_media_end(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (player_drained(p, now))
        return;
    // Unless there was a reason before.
    player_end(p, QOE_END_OF_MEDIA, EXIT_ENDED, NULL, now);
}

void player_on_bye_time(void *ctx, usec_t now)
{
    struct player *p = ctx;
    // Live media has no end but that of its server.
    bool early = p->sdp.duration < 0 || player_seek_is_early(p);
    if (early && player_lost(p, "the server has ended", now))
        return;
    if (p->presenter)
        presenter_end(p->presenter, now);
    else
        on_media_end(p, now);
}

// ---- To the network ----

static void send_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    struct player *p = ctx;
    client_send_rtcp(p->client, false, data, len);
}

static void on_picture(void *ctx, const struct play_frame *f, usec_t pts)
{
    player_audio_picture(ctx, f, pts);
}

static void ask_key(void *ctx, usec_t now)
{
    struct player *p = ctx;
    video_receiver_send_pli(p->input, now);
}

// ---- To the screen and back ----

void player_report_frame(void *ctx, struct play_frame *f)
{
    struct player *p = ctx;
    if (!mailbox_post(p->done, f))
        play_frame_free(f); // cannot be: the mailbox holds all frames that there may be
}

void player_on_shown(void *ctx, struct play_frame *f)
{
    struct player *p = ctx;
    if (p->measure && f->fate == FATE_SHOWN)
        picture_compare_push(p->measure, f->picture, f->shown_at);
    player_report_frame(p, f);
}

void player_on_done(void *ctx, void *item, usec_t now)
{
    struct player *p = ctx;
    struct play_frame *f = item;
    if (f->session != p->frames_session) {
        play_frame_free(f);
        return;
    }
    if (f->fate == FATE_SHOWN)
        player_seek_shown(p, f->number, f->shown_at, now);
    presenter_done(p->presenter, f, now);
}

// The measuring thread's.
static bool post_measured(void *ctx, const struct measured *m)
{
    struct player *p = ctx;
    struct measured *copy = malloc(sizeof(*copy));
    if (!copy)
        return false;
    *copy = *m;
    if (mailbox_post(p->measured, copy))
        return true;
    free(copy);
    return false;
}

void player_on_measured(void *ctx, void *item, usec_t now)
{
    struct player *p = ctx;
    const struct measured *m = item;
    if (m->shown == m->number)
        qoe_on_picture(p->qoe, m->mse_y, m->ssim_y);
    if (p->options->picture_events)
        trace_picture(p->events, m->number, m->shown, m->ssim_y, now);
    free(item);
}

// ---- What they go through ----

// Test pictures are drawn here once more, of sizes that weir-send gives them.
static bool draws_test(const struct player *p)
{
    const struct ladder *l = &p->sdp.ladder;
    struct geometry g = {l->source_width, l->source_height, l->source_fps};
    return p->sdp.source == SDP_SOURCE_TEST && geometry_is_good(&g);
}

static bool open_measure(struct player *p)
{
    const struct ladder *l = &p->sdp.ladder;
    if (p->measure)
        return true; // of a connection before
    if (p->options->contact_sheet && !(p->sheet = contact_sheet_new()))
        return false;
    bool compare = !p->options->no_picture;
    struct picture_compare_config config = {.sheet = p->sheet,
                                            .test = compare && !p->reference && draws_test(p),
                                            .width = l->source_width,
                                            .height = l->source_height,
                                            .fps = l->source_fps,
                                            .reference = p->reference,
                                            .fills = p->options->picture_events,
                                            .on_measured = post_measured,
                                            .ctx = p};
    if (!config.sheet && !config.test && !config.reference)
        return true;
    p->reference = NULL;
    p->measure = picture_compare_new(&config);
    return p->measure;
}

static void on_level(void *ctx, int level, usec_t now)
{
    struct player *p = ctx;
    struct qoe_switch e = {.from = p->level, .to = level, .why = "network"};
    if (level == p->level)
        return; // as before the connection was lost
    if (p->asked_why && level == p->wanted_level) {
        e.why = p->asked_why;
        p->asked_why = NULL;
    }
    qoe_on_switch(p->qoe, &e, now);
    trace_level(p->events, &e, now);
    p->level = level;
}

static bool open_presenter(struct player *p)
{
    struct presenter_config config = {.loop = &p->loop,
                                      .options = p->options,
                                      .sdp = &p->sdp,
                                      .clock = &p->clock,
                                      .qoe = p->qoe,
                                      .events = p->events,
                                      .show = p->show,
                                      .level = p->outage.open ? -1 : p->level,
                                      .session = p->frames_session,
                                      .on_done = player_report_frame,
                                      .done_ctx = p,
                                      .ask_key = ask_key,
                                      .on_level = on_level,
                                      .on_empty = player_goddard_empty,
                                      .on_started = player_on_started,
                                      .on_clock = player_audio_clock,
                                      .on_picture = on_picture,
                                      .on_ended = on_media_end,
                                      .ctx = p};
    p->presenter = presenter_new(&config);
    return p->presenter;
}

static int64_t ecn_marked(void *ctx)
{
    const struct player *p = ctx;
    return p->client ? client_ecn_marked(p->client) : -1;
}

static bool open_input(struct player *p)
{
    uint64_t random = 0;
    if (!random_fill(&random, sizeof(random)))
        random = (uint64_t)clock_wall();
    struct video_receiver_config config = {.sdp = &p->sdp,
                                           .clock = &p->clock,
                                           .qoe = p->qoe,
                                           .events = p->events,
                                           .random = random,
                                           .send_rtcp = send_rtcp,
                                           .on_packet = on_packet,
                                           .on_frame = on_frame,
                                           .on_nacked = on_nacked,
                                           .on_bye = on_bye,
                                           .on_report = on_report,
                                           .ecn_marked = ecn_marked,
                                           .ctx = p};
    client_set_ssrc(p->client, (uint32_t)random); // the same in all our RTCP (RFC 3550, 5.1)
    p->audio_random = random;
    p->input = video_receiver_new(&config);
    return p->input;
}

bool player_open_frames(struct player *p)
{
    if (!open_input(p))
        return false;
    if (!sdp_has_frames(&p->sdp))
        return true;
    return (!p->sdp.h264 || open_measure(p)) && open_presenter(p);
}
