// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_line.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sender/policy/camera_pair.h"

struct camera_line {
    usec_t origin;        // constant
    pthread_mutex_t lock; // guards the members below
    int references;
    bool has_wall[CAMERA_STREAMS]; // reports have named the camera's wall clock
    bool is_related;
    usec_t ahead; // is_related: that clock minus this machine's
};

struct camera_line *camera_line_new(usec_t origin)
{
    struct camera_line *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->origin = origin;
    l->references = 1;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

struct camera_line *camera_line_ref(struct camera_line *l)
{
    if (!l)
        return NULL;
    pthread_mutex_lock(&l->lock);
    l->references++;
    pthread_mutex_unlock(&l->lock);
    return l;
}

void camera_line_unref(struct camera_line *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    bool is_last = --l->references == 0;
    pthread_mutex_unlock(&l->lock);
    if (!is_last)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

usec_t camera_line_origin(const struct camera_line *l)
{
    return l ? l->origin : 0;
}

usec_t camera_line_capture(struct camera_line *l, int stream, const struct camera_time *t,
                           usec_t arrived)
{
    usec_t captured = t->by_arrival;
    pthread_mutex_lock(&l->lock);
    l->has_wall[stream] = t->has_wall;
    bool both = l->has_wall[CAMERA_MAIN] && l->has_wall[CAMERA_SUB];
    if (both && stream == CAMERA_MAIN) {
        captured = t->captured;
        l->ahead = t->wall - captured;
        l->is_related = true;
    } else if (both && l->is_related) {
        usec_t by_wall = t->wall - l->ahead;
        if (by_wall >= arrived - CAMERA_CLOCK_ASTRAY && by_wall <= arrived + CAMERA_CLOCK_ASTRAY)
            captured = usec_min(by_wall, arrived);
    }
    l->is_related &= l->has_wall[CAMERA_MAIN];
    pthread_mutex_unlock(&l->lock);
    return captured;
}
