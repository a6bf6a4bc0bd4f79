// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_pace.h"

#define LATELY (2 * USEC_PER_SEC)

void camera_pace_begin(struct camera_pace *p, usec_t now)
{
    p->picture = p->key = now;
    p->has_picture = p->has_packets = p->lacks_key = false;
}

void camera_pace_packet(struct camera_pace *p, usec_t now)
{
    if (!p->has_packets)
        p->first = now;
    p->has_packets = p->lacks_key = true;
    p->packet = now;
}

void camera_pace_picture(struct camera_pace *p, bool key, usec_t now)
{
    if (p->has_picture) {
        p->longest = usec_max(p->longest, now - p->picture);
        p->intervals += p->intervals < CAMERA_PACE_KNOWN;
    }
    p->picture = p->packet = now;
    p->has_picture = true;
    p->has_packets = false;
    if (key) {
        p->key = now;
        p->lacks_key = false;
    }
}

bool camera_pace_is_lost(const struct camera_pace *p, usec_t now)
{
    usec_t limit = p->has_picture ? CAMERA_PACE_MAX : 0;
    if (p->has_packets)
        return now - p->first >= CAMERA_PACE_MIN;
    if (p->intervals == CAMERA_PACE_KNOWN)
        limit = usec_min(3 * p->longest, CAMERA_PACE_MAX);
    return now - p->picture >= usec_max(limit, CAMERA_PACE_MIN);
}

bool camera_pace_says_no_key(struct camera_pace *p, usec_t now)
{
    bool comes = now - p->packet < LATELY; // a silent camera lacks more than key frames
    if (p->is_said || !p->lacks_key || !comes || now - p->key < CAMERA_PACE_MIN)
        return false;
    p->is_said = true;
    return true;
}
