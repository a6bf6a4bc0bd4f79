// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_follow.h"

#include <math.h>

#include "sender/policy/camera_rate.h"

static const double SLACK = 0.5; // seconds
static const double STEP = 1.05;
static const double IN_TIME = 1.5; // frames
enum { SLACK_FRAMES = 4, SLACK_REORDERED = 16 };

void camera_follow_init(struct camera_follow *f, struct fps fps, bool reorders, usec_t media)
{
    *f = (struct camera_follow){.fps = fps, .reorders = reorders, .newest = media};
}

// Returns the rate of the group that begins at a place of the ring; INFINITY: its pictures have one
// time.
static double group_rate(const struct camera_follow *f, int at)
{
    usec_t first = f->media[at % CAMERA_FOLLOW_PICTURES], last = first;
    for (int i = 1; i < CAMERA_FOLLOW_GROUP; i++) {
        usec_t media = f->media[(at + i) % CAMERA_FOLLOW_PICTURES];
        first = usec_min(first, media);
        last = usec_max(last, media);
    }
    return last > first ? (CAMERA_FOLLOW_GROUP - 1) / usec_to_sec(last - first) : INFINITY;
}

static double rate_of(const struct camera_follow *f)
{
    double rate = INFINITY;
    for (int i = 0; i < CAMERA_FOLLOW_PICTURES; i += CAMERA_FOLLOW_GROUP)
        rate = fmin(rate, group_rate(f, f->at + i)); // `at` is the oldest
    return rate;
}

enum camera_follow_verdict camera_follow_picture(struct camera_follow *f, usec_t media,
                                                 int64_t number, struct fps *faster)
{
    double fps = fps_value(f->fps);
    f->newest = usec_max(f->newest, media);
    double ahead = (double)number - usec_to_sec(f->newest) * fps;
    if (ahead <= IN_TIME)
        f->count = 0;
    f->media[f->at] = media;
    f->at = (f->at + 1) % CAMERA_FOLLOW_PICTURES;
    f->count += f->count < CAMERA_FOLLOW_PICTURES;
    double slack = SLACK * fps + (f->reorders ? SLACK_REORDERED : SLACK_FRAMES);
    if (ahead <= slack || f->count < CAMERA_FOLLOW_PICTURES)
        return CAMERA_FOLLOW_FITS;
    double rate = rate_of(f);
    if (rate <= fps)
        return CAMERA_FOLLOW_FITS; // a burst that is over
    if (fmax(rate, fps * STEP) > CAMERA_RATE_MAX)
        return CAMERA_FOLLOW_TOO_FAST;
    *faster = camera_rate_above(fmax(rate, fps * STEP));
    return CAMERA_FOLLOW_RISES;
}
