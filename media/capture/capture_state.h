// SPDX-License-Identifier: GPL-2.0-or-later
// What the two threads of a capture source share; for source_capture.c and capture_thread.c alone.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_STATE_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_STATE_H

#include <pthread.h>

#include "common/net/abandonable_thread.h"
#include "media/capture/capture_device.h"
#include "media/capture/policy/frame_grid.h"
#include "media/capture/policy/retry_policy.h"
#include "media/convert/convert.h"
#include "media/source/source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CAPTURE_RING = 4, CAPTURE_MAX_WHY = 512 };

struct captured {
    struct picture *picture; // one reference
    usec_t stamp;
};

struct source_capture {
    struct source base;
    struct capture_target target;
    struct abandonable_thread *thread; // owned; NULL: not started
    // The engine's thread:
    struct frame_grid ticks;
    struct picture *current; // owned; the last picture, or the card; NULL: none yet
    bool is_card;            // it is
    // The device's thread:
    struct converter converter;
    struct capture_given given; // at the last opening
    pthread_mutex_t lock;       // guards what follows
    pthread_cond_t changed;
    bool stop;
    unsigned session; // counts the times that someone began to watch
    struct retry_policy link;
    char why[CAPTURE_MAX_WHY]; // that there is no picture
    struct captured ring[CAPTURE_RING];
    int first;
    int count;
};

// Opens the device while somebody watches, reads it and fills the ring. Arg: the source.
void capture_thread_run(void *arg);
// "camera /dev/video0: 1280x720@30 MJPEG (asked 1920x1080@60)" into the log.
void capture_tell_given(const struct source_capture *s, const struct capture_given *g);

// With the lock held:
void capture_wait(struct source_capture *s, usec_t until); // or a change
bool capture_take(struct source_capture *s, struct captured *out);

#ifdef __cplusplus
}
#endif
#endif
