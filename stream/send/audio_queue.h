// SPDX-License-Identifier: GPL-2.0-or-later
// The queue of audio packets that wait for the transport. The sender sends them before all video
// that is not of an earlier time. Audio has no layers to thin, so packets leave in order. A packet
// is dropped when it has waited longer than the bound; when the queue is full, the oldest is
// dropped.
//
// Pure. The caller owns the packets and gets each back exactly once.
#ifndef WEIR_STREAM_SEND_AUDIO_QUEUE_H
#define WEIR_STREAM_SEND_AUDIO_QUEUE_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { AUDIO_QUEUE_PACKETS = 256 }; // packets of 20 ms each

struct audio_queue { // all zero to begin with
    int head;
    int count;
    uint64_t dropped;
    struct {
        usec_t since;
        void *data; // owned by the caller
    } entries[AUDIO_QUEUE_PACKETS];
};

// Appends a packet that waits from `since` on. Returns the oldest one, dropped, if the queue was
// full; NULL: none was dropped.
void *audio_queue_push(struct audio_queue *q, void *data, usec_t since);
// Drops and returns a packet that has waited longer than `bound`; NULL: there is none.
void *audio_queue_expired(struct audio_queue *q, usec_t bound, usec_t now);
void *audio_queue_front(const struct audio_queue *q); // the packet to send next; NULL: none
void *audio_queue_take(struct audio_queue *q);        // removes and returns it

DECLS_END
#endif
