// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of sound that wait for the transport, in front of all pictures: without a layer to thin,
// they leave in order, and are given up only once they have waited longer than the bound, or when
// AUDIO_QUEUE_PACKETS wait, the oldest first.
//
// Pure. The caller owns the packets and gets each back exactly once.
#ifndef WEIR_STREAM_SEND_AUDIO_QUEUE_H
#define WEIR_STREAM_SEND_AUDIO_QUEUE_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AUDIO_QUEUE_PACKETS = 256 }; // of 20 ms

struct audio_queue { // all zero to begin with
    int head;
    int count;
    uint64_t dropped;
    struct {
        usec_t since;
        void *data; // the caller's
    } entries[AUDIO_QUEUE_PACKETS];
};

// Returns what has to go for it; NULL: nothing.
void *audio_queue_push(struct audio_queue *q, void *data, usec_t now);
// Takes out one that has waited longer than `bound`; NULL: there is none (left).
void *audio_queue_expired(struct audio_queue *q, usec_t bound, usec_t now);
void *audio_queue_front(const struct audio_queue *q); // the next to leave; NULL: none
void *audio_queue_take(struct audio_queue *q);        // takes it out

#ifdef __cplusplus
}
#endif
#endif
