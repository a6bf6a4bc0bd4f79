// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "player/session/player_state.h"
#include "player/ui/model/window_title.h"

enum {
    TICKS_A_SECOND = 4,
    CONNECTING_TICKS = 2,
    LEAST_CHANGE_MS = 10,   // of the sender's share
    CONNECTING_WIDTH = 640, // of the window that tells of it
    CONNECTING_HEIGHT = 360,
};
#define TICK             (USEC_PER_SEC / TICKS_A_SECOND)
#define UNDECODABLE_TIME (10 * USEC_PER_SEC)
#define QUIET_TIME       (3 * USEC_PER_SEC) // without any packet: worth a warning

// " (p 0.0012, X 1.2e+06)"
static void controller_text(const struct transport_variable *variables, char *out, size_t cap)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < TRANSPORT_VARIABLES && variables[i].name[0]; i++)
        used += (size_t)snprintf(out + used, cap - used, "%s%s %.4g", used ? ", " : " (",
                                 variables[i].name, variables[i].value);
    if (used)
        snprintf(out + used, cap - used, ")");
}

static void show_status(struct player *p)
{
    char text[512];
    char figures[TRANSPORT_VARIABLES * 48];
    controller_text(p->path.variable, figures, sizeof(figures));
    if (!p->described) {
        // Not at once: most servers answer before a window would be there.
        if (p->ticks++ == CONNECTING_TICKS)
            p->display->ops->expect(p->display, CONNECTING_WIDTH, CONNECTING_HEIGHT);
        snprintf(text, sizeof(text), "weir-play: connecting to %.200s", p->options->url.host);
    } else if (p->presenter) {
        struct window_title status = {.ladder = &p->sdp.ladder,
                                      .level = presenter_level_shown(p->presenter),
                                      .transport = p->transport,
                                      .figures = figures,
                                      .held = presenter_held(p->presenter),
                                      .mode = presenter_mode(p->presenter),
                                      .paused = presenter_paused(p->presenter),
                                      .speed = presenter_speed(p->presenter),
                                      .connects = p->outage.open};
        window_title_text(&status, text, sizeof(text));
    } else {
        snprintf(text, sizeof(text), "weir-play: no pictures, %s", p->transport);
    }
    p->display->ops->set_status(p->display, text);
}

uint64_t player_media_packets(const struct player *p)
{
    uint64_t audio = p->audio ? p->audio_input.receiver.received : 0;
    return (p->input ? video_receiver_packets(p->input) : 0) + audio;
}

bool player_shows_nothing(const struct player *p, usec_t now)
{
    return p->presenter && p->sdp.h264 && p->playing_since && now - p->playing_since > QUIET_TIME &&
           !presenter_paused(p->presenter) && !p->last_shown && !presenter_last_shown(p->presenter);
}

// A server may answer for ever and send nothing.
static void check_silence(struct player *p, usec_t now)
{
    bool due = p->playing && !(p->presenter && presenter_paused(p->presenter));
    usec_t silent = media_silence_look(&p->silence, player_media_packets(p), due, now);
    usec_t limit = client_silence_limit(p->client);
    if (silent < limit)
        return;
    if (!p->silence.heard)
        reconnect_idle(&p->reconnect);
    char why[160];
    snprintf(why, sizeof(why), "the server answers, but %s for %d s%s",
             p->datagram ? "no media comes" : "sends no media", (int)(limit / USEC_PER_SEC),
             p->datagram ? ": UDP may be blocked (try --transport minbuf)" : "");
    client_give_up(p->client, why, now);
}

static void check_progress(struct player *p, usec_t now)
{
    usec_t since = now - p->media_since;
    if (!video_receiver_packets(p->input) && since > QUIET_TIME && !p->warned_quiet) {
        p->warned_quiet = true;
        log_warn("no media comes%s",
                 p->datagram ? ": is it blocked on the way? --transport minbuf passes firewalls"
                             : "");
    }
    if (!p->presenter || presenter_decoded(p->presenter) || presenter_paused(p->presenter))
        return;
    // What is held back before the first picture is no sign of it.
    usec_t most = UNDECODABLE_TIME + presenter_waiting(p->presenter, now).goal;
    if (since > most && video_receiver_media_span(p->input) > most)
        player_end(p, QOE_ERROR, EXIT_UNDECODABLE,
                   "the stream cannot be decoded: no picture within 10 s of media", now);
}

// The sender's share of the budget, when it is another one by more than a tenth.
static void tell_sender(struct player *p, usec_t now)
{
    int ms = p->presenter ? (int)(presenter_sender_share(p->presenter) / USEC_PER_MSEC) : 0;
    int apart = abs(ms - p->sender_ms);
    if (!ms || apart < LEAST_CHANGE_MS || apart * 10 < p->sender_ms)
        return;
    p->sender_ms = ms;
    client_set_latency(p->client, ms, now);
    log_debug("frames may be %d ms old when they leave the sender", ms);
}

static void on_second(struct player *p, usec_t now)
{
    struct video_receiver_figures figures;
    video_receiver_second(p->input, &figures, now);
    player_audio_second(p, now);
    struct qoe_transport t = {
        .rtt = isnan(p->path.rtt_ms) ? (p->rtt ? usec_to_sec(p->rtt) : NAN) : p->path.rtt_ms / 1e3,
        .rate = figures.rate_bps,
        .loss = p->datagram ? figures.loss
                            : p->path.loss, // what TCP lost it sent again: only the sender knows
        .queue = figures.queue,
        .cwnd = p->path.cwnd_packets};
    p->last_second = t;
    qoe_on_transport(p->qoe, &t);
    trace_transport(p->events, &t, now);
    if (!isnan(p->path.allowed_bps))
        trace_controller(p->events, &p->path, now);
    tell_sender(p, now);
    check_progress(p, now);
    if (!p->over)
        check_silence(p, now);
}

void player_on_tick(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (p->over)
        return;
    p->next_tick += TICK;
    if (p->next_tick <= now)
        p->next_tick = now + TICK;
    timer_set(p->tick, p->next_tick);
    show_status(p);
    player_seek_tick(p, now);
    player_show_osd(p, now);
    if (p->playing_since && p->input && !p->outage.open && ++p->ticks % TICKS_A_SECOND == 0)
        on_second(p, now);
}

void player_start_ticks(struct player *p, usec_t now)
{
    p->next_tick = now + TICK;
    timer_set(p->tick, p->next_tick);
}
