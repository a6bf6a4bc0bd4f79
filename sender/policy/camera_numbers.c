// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_numbers.h"

void camera_numbers_init(struct camera_numbers *n)
{
    *n = (struct camera_numbers){.fps = {25, 1}, .last = -1};
    camera_numbers_begin(n);
}

void camera_numbers_begin(struct camera_numbers *n)
{
    for (int i = 0; i < CAMERA_NUMBERS_KNOWN; i++)
        n->newest[i].from = -1;
}

void camera_numbers_set_rate(struct camera_numbers *n, struct fps fps)
{
    n->fps = fps;
    n->has_rate = true;
}

// Returns the number of the next frame. An orphan's is after the one that it lacks.
static int64_t next(struct camera_numbers *n, usec_t media, bool is_orphan)
{
    int64_t due = n->has_rate ? (int64_t)(usec_to_sec(media) * fps_value(n->fps) + 0.5) : 0;
    int64_t lowest = n->last + 1 + is_orphan;
    n->last = due > lowest ? due : lowest;
    return n->last;
}

static usec_t time_of(const struct camera_numbers *n, int64_t number)
{
    return usec_of_frames(number, n->fps.num, n->fps.den);
}

void camera_numbers_give(struct camera_numbers *n, struct received_frame *f, usec_t media,
                         bool reorders)
{
    int64_t needs = -1;
    for (int i = 0; i < CAMERA_NUMBERS_KNOWN && f->depends_on >= 0 && needs < 0; i++)
        if (n->newest[i].from == f->depends_on)
            needs = n->newest[i].to;
    bool is_orphan = f->depends_on >= 0 && needs < 0;
    int64_t number = next(n, media, is_orphan);
    n->newest[n->at].from = f->number;
    n->newest[n->at].to = number;
    n->at = (n->at + 1) % CAMERA_NUMBERS_KNOWN;
    f->number = number;
    f->depends_on = f->key ? -1 : is_orphan ? number - 1 : needs;
    f->shown_after = reorders || !n->has_rate ? media - time_of(n, number) : 0;
}

// Returns the index of the frame that had the number; -1: none.
static int find(const int64_t *numbers, int count, int64_t number)
{
    int i = count - 1;
    while (i >= 0 && numbers[i] != number)
        i--;
    return i;
}

void camera_numbers_settle(struct camera_numbers *n, struct frame_group *early, bool reorders)
{
    int64_t before[FRAME_GROUP_FRAMES];
    n->last = -1;
    for (int i = 0; i < early->count; i++) {
        struct coded_frame *f = early->frames[i];
        int needs = find(before, i, f->depends_on);
        bool is_orphan = f->depends_on >= 0 && needs < 0;
        before[i] = f->number;
        f->number = next(n, f->pts, is_orphan); // which is its media time so far
        if (f->depends_on >= 0)
            f->depends_on = is_orphan ? f->number - 1 : early->frames[needs]->number;
        f->shown_after = reorders ? f->pts - time_of(n, f->number) : 0;
        f->pts = time_of(n, f->number) + f->shown_after;
    }
    for (int i = 0; i < CAMERA_NUMBERS_KNOWN; i++) {
        int at = find(before, early->count, n->newest[i].to);
        if (at < 0)
            n->newest[i].from = -1;
        else
            n->newest[i].to = early->frames[at]->number;
    }
}
