// SPDX-License-Identifier: GPL-2.0-or-later
// State that the two threads of a capture source share. Private to source_capture.c and
// capture_thread.c.
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

enum { CAPTURE_RING = 4, CAPTURE_MAX_REASON = 512 };

struct captured {
    struct picture *picture; // one reference
    usec_t stamp;
};

struct source_capture {
    struct source base;
    struct capture_target target;
    struct abandonable_thread *thread; // owned; NULL: not started
    // Used by the reader's thread alone:
    struct frame_grid ticks;
    struct picture *current; // owned; the last picture, or the card; NULL: none yet
    bool is_card;            // `current` is the card
    // Used by the device's thread alone:
    struct converter converter;
    struct capture_given given; // mode of the last opening
    pthread_mutex_t lock;       // guards the members below
    pthread_cond_t changed;
    bool stop;
    unsigned session; // counts how often the device became wanted
    struct retry_policy link;
    char reason[CAPTURE_MAX_REASON]; // why there is no picture, for the card; "" if unknown
    struct captured ring[CAPTURE_RING];
    int first;
    int count;
};

// Opens the device while it is wanted, reads it and fills the ring. `arg`: the struct
// source_capture.
void capture_thread_run(void *arg);
// Logs "camera /dev/video0: 1280x720@30 MJPEG (requested 1920x1080@60)".
void capture_log_given(const struct source_capture *s, const struct capture_given *g);

// The caller holds the lock. Waits for a change, at most until `until`.
void capture_wait(struct source_capture *s, usec_t until);
// The caller holds the lock. Takes the oldest picture from the ring; returns false if it is empty.
bool capture_take(struct source_capture *s, struct captured *out);

#ifdef __cplusplus
}
#endif
#endif
