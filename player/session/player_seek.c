// SPDX-License-Identifier: GPL-2.0-or-later
// Going to another place of a file. What is held plays on until the server has answered; its answer
// tells which frame stands at the place, and that frame is shown as soon as it is decoded.
#include <math.h>

#include "common/base/log.h"
#include "player/session/player_state.h"

#define PAUSE_HELD USEC_PER_SEC // of media, before a server pauses
#define EARLY      3.0          // seconds: the sound may be longer than the pictures
#define BROUGHT    1.0          // likewise
#define TOLERANCE  0.5          // seconds that a server may begin away from the place asked for

static bool is_file(const struct player *p)
{
    return p->described && p->sdp.duration >= 0 && p->presenter && !p->goddard;
}

static double seconds_of(const struct player *p, int64_t number)
{
    return (double)number / fps_value(p->sdp.ladder.source_fps);
}

double player_position(const struct player *p)
{
    const struct player_place *place = &p->place;
    if (!place->known || !is_file(p))
        return NAN;
    double at = fmax(0, place->seconds + seconds_of(p, place->shown - place->number));
    return p->sdp.duration > 0 ? fmod(at, p->sdp.duration) : at; // a file may begin again
}

bool player_seek_is_early(const struct player *p)
{
    const struct player_place *place = &p->place;
    if (!place->known || !is_file(p))
        return false;
    double brought = seconds_of(p, presenter_arrived(p->presenter) - place->number);
    return brought > BROUGHT && place->seconds + brought < p->sdp.duration - EARLY;
}

double player_seek_base(const struct player *p)
{
    return p->place.seek ? p->place.to : player_position(p);
}

void player_seek_to(struct player *p, double seconds, usec_t now)
{
    if (!p->playing_since || !is_file(p))
        return;
    if (isnan(seconds)) { // a step, of a server that is not weir-send
        player_toast(p, "The server does not tell the place in the file");
        return;
    }
    double last = fmax(0, p->sdp.duration - seconds_of(p, 1));
    p->place.to = fmin(fmax(seconds, 0), last);
    p->place.seek = SEEK_ASKED;
    p->place.asked = now;
    if (p->outage.open) // the next connection begins there
        p->own.start = (usec_t)(p->place.to * 1e6);
    else
        client_seek(p->client, p->place.to, now);
}

void player_seek_again(struct player *p, usec_t now)
{
    struct player_place *place = &p->place;
    if (place->seek != SEEK_ASKED)
        return;
    if (place->known && fabs(place->seconds - place->to) < TOLERANCE)
        place->seek = SEEK_NONE;
    else // PLAY was asked for already
        client_seek(p->client, place->to, now);
}

// To the client a seek is the end of a pause; to the viewer it is not.
void player_seek_refused(struct player *p, usec_t now)
{
    p->place.seek = SEEK_NONE;
    if (p->presenter && presenter_paused(p->presenter))
        client_pause(p->client, now);
    else
        client_resume(p->client, now);
}

static bool is_there(const struct player *p, const struct rtsp_client_place *place)
{
    return place->first >= 0 && fabs(place->seconds - p->place.to) < TOLERANCE;
}

// After a pause a stream that others watch goes on with what is now.
static bool has_left_out(const struct player *p, const struct rtsp_client_place *place)
{
    int64_t arrived = presenter_arrived(p->presenter);
    return arrived >= 0 && seconds_of(p, place->first - arrived) > TOLERANCE;
}

void player_seek_placed(struct player *p, const struct rtsp_client_place *place, usec_t now)
{
    bool sought = place->sought;
    if (!is_file(p) || isnan(place->seconds) || place->show < 0 ||
        (sought && !is_there(p, place))) {
        if (sought && !sdp_is_foreign(&p->sdp))
            log_warn("the server does not go there: others watch the same");
        if (sought)
            player_seek_refused(p, now);
        p->place.seek = SEEK_NONE;
        return;
    }
    if (sought || !p->place.known)
        p->place.shown = place->show;
    p->place.known = true;
    p->place.number = place->show;
    p->place.seconds = place->seconds;
    if (!sought && place->show == place->first && !has_left_out(p, place))
        return;
    timer_set(p->bye, USEC_NEVER);
    const struct qoe_freeze_entry *freeze =
        sought ? qoe_on_seek(p->qoe, place->show, now) : qoe_on_rebuffer(p->qoe, now);
    trace_freeze(p->events, freeze, now);
    presenter_seek(p->presenter, place->first, place->show, sought && place->ahead, now);
    if (!sought)
        return;
    p->place.seek = SEEK_PLACED;
}

// After a seek within a pause the server pauses as well, once there is something to go on with.
void player_seek_tick(struct player *p, usec_t now)
{
    if (p->place.held && presenter_paused(p->presenter)) {
        if (presenter_held(p->presenter) < PAUSE_HELD)
            return;
        client_pause(p->client, now);
    }
    p->place.held = false;
}

void player_seek_shown(struct player *p, int64_t number, usec_t shown_at, usec_t now)
{
    struct player_place *place = &p->place;
    if (!place->known || (place->seek == SEEK_PLACED && number < place->number))
        return;
    place->shown = number;
    if (place->seek != SEEK_PLACED)
        return;
    place->seek = SEEK_NONE;
    usec_t wait = shown_at - place->asked;
    qoe_on_seek_shown(p->qoe, wait);
    trace_seek(p->events, place->to, wait, now);
    log_debug("at %.3f s after %.0f ms", place->to, usec_to_msec(wait));
    place->held = presenter_paused(p->presenter); // it showed this one frame
}
