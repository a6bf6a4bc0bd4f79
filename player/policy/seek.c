// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/seek.h"

#include <math.h>

void seek_init(struct seek *s, bool possible, double frame_rate, double duration)
{
    *s = (struct seek){.possible = possible,
                       .frame_rate = frame_rate,
                       .duration = duration,
                       .scale = 1,
                       .wanted_scale = 1};
}

static double seconds_of(const struct seek *s, int64_t frames)
{
    return (double)frames / s->frame_rate;
}

double seek_position(const struct seek *s)
{
    if (!s->known || !s->possible)
        return NAN;
    double since = seconds_of(s, s->shown - s->number);
    double at = fmax(0, s->seconds + (s->scale < 0 ? -since : since));
    return s->duration > 0 ? fmod(at, s->duration) : at; // weir-send --loop starts again
}

double seek_base(const struct seek *s)
{
    return s->phase != SEEK_IDLE ? s->to : seek_position(s);
}

bool seek_is_early(const struct seek *s, int64_t arrived)
{
    if (!s->known || !s->possible || s->scale != 1)
        return false;
    double brought = seconds_of(s, arrived - s->number);
    return brought > SEEK_PROGRESS && s->seconds + brought < s->duration - SEEK_EARLY;
}

enum seek_request seek_to(struct seek *s, double seconds, usec_t now)
{
    if (!s->possible)
        return SEEK_IMPOSSIBLE;
    if (isnan(seconds))
        return SEEK_PLACE_UNKNOWN;
    double last = fmax(0, s->duration - seconds_of(s, 1));
    s->to = fmin(fmax(seconds, 0), last);
    s->phase = SEEK_REQUESTED;
    s->requested = now;
    s->scales = false;
    return SEEK_WANTED;
}

enum seek_request seek_scale(struct seek *s, double scale, usec_t now)
{
    enum seek_request answer = seek_to(s, seek_base(s), now);
    if (answer != SEEK_WANTED)
        return answer;
    s->wanted_scale = scale;
    s->scales = true;
    return answer;
}

double seek_scale_by(const struct seek *s, int steps)
{
    static const double scales[] = {-8, -4, -2, 1, 2, 4, 8};
    enum { LAST = sizeof(scales) / sizeof(scales[0]) - 1 };
    int at = 0;
    while (at < LAST && scales[at] < s->wanted_scale)
        at++;
    at += steps;
    return scales[at < 0 ? 0 : at > LAST ? LAST : at];
}

static void count_refusal(struct seek *s)
{
    s->scale_refusals += s->scales && s->phase == SEEK_REQUESTED && s->wanted_scale != 1;
}

// A server may refuse a seek if other viewers watch the same stream.
static bool is_there(const struct seek *s, const struct seek_place *place)
{
    // At another scale than 1 the server begins with a key frame.
    return place->first >= 0 &&
           (place->scale != 1 || fabs(place->seconds - s->to) < SEEK_TOLERANCE);
}

// After a pause a stream that others watch continues with the present.
static bool has_left_out(const struct seek *s, const struct seek_place *place, int64_t arrived)
{
    return arrived >= 0 && seconds_of(s, place->first - arrived) > SEEK_TOLERANCE;
}

enum seek_answer seek_placed(struct seek *s, const struct seek_place *place, int64_t arrived)
{
    bool sought = place->sought;
    // On a path that loses packets the media may come long before the response to the first PLAY.
    bool plays = !s->known && place->awaited > place->first;
    // Another speed: the frames before `first` still wait at the server, and come.
    if (s->possible && s->known && !sought && !place->paused)
        return SEEK_CONTINUES;
    if (!s->possible || isnan(place->seconds) || place->show < 0 ||
        (sought && !is_there(s, place))) {
        if (sought)
            count_refusal(s);
        s->phase = SEEK_IDLE;
        s->wanted_scale = s->scale;
        return SEEK_NOT_PLACED;
    }
    if (sought && place->scale != s->wanted_scale)
        count_refusal(s);
    if (sought || !s->known)
        s->shown = place->show;
    s->known = true;
    s->scale = place->scale;
    s->number = place->show;
    s->first = place->first;
    s->previewed = false;
    s->seconds = place->seconds;
    if (!sought && (plays || place->show == place->first) && !has_left_out(s, place, arrived))
        return SEEK_CONTINUES;
    if (sought)
        s->phase = SEEK_PLACED;
    return SEEK_JUMPS;
}

void seek_refused(struct seek *s)
{
    count_refusal(s);
    s->phase = SEEK_IDLE;
    s->wanted_scale = s->scale;
}

bool seek_again(struct seek *s)
{
    if (s->phase != SEEK_REQUESTED)
        return false;
    if (!s->known || !(fabs(s->seconds - s->to) < SEEK_TOLERANCE))
        return true; // PLAY was sent before the viewer's seek
    s->phase = SEEK_IDLE;
    return false;
}

bool seek_shown(struct seek *s, int64_t number, usec_t shown_at, bool paused, usec_t *wait)
{
    if (!s->known || (s->phase == SEEK_PLACED && number < s->first))
        return false; // a frame from before the seek
    s->shown = number;
    if (s->phase != SEEK_PLACED)
        return false;
    bool is_first = !s->previewed;
    s->previewed = true;
    if (number >= s->number) {
        s->phase = SEEK_IDLE;
        s->pause_due = paused;
    }
    *wait = shown_at - s->requested;
    return is_first;
}

void seek_step(struct seek *s)
{
    s->pause_due = true;
}

bool seek_must_pause(struct seek *s, bool paused, usec_t buffered)
{
    bool due = s->pause_due && paused;
    if (due && buffered < SEEK_PAUSE_BUFFER)
        return false;
    s->pause_due = false;
    return due;
}
