// SPDX-License-Identifier: GPL-2.0-or-later
// The audio packets that left lately, to be sent again if the viewer requests them (RFC 4585).
//
//   Kept.    The last SENT_AUDIO_PACKETS packets; of media that is sent ahead of its time, at up to
//            20 times its pace and more, SENT_AUDIO_AHEAD.
//   Request. A requested packet is due to be sent again, unless it left, for the first time or
//            again, less than 3/4 of the least round trip ago: then the viewer cannot know its fate
//            yet. Each packet is sent again SENT_AUDIO_COPIES times at most, whatever is requested;
//            of media that is sent ahead, SENT_AUDIO_COPIES_AHEAD times.
//
// Pure. The caller owns the packets and gets each back exactly once.
#ifndef WEIR_STREAM_SEND_SENT_AUDIO_H
#define WEIR_STREAM_SEND_SENT_AUDIO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    SENT_AUDIO_PACKETS = 64, // of 20 ms; a power of two
    SENT_AUDIO_COPIES = 2,
    SENT_AUDIO_AHEAD = 1024, // 20 s; a power of two
    SENT_AUDIO_COPIES_AHEAD = 16,
};
#define SENT_AUDIO_UNDER_WAY (20 * USEC_PER_MSEC) // while the round trip is not known

struct sent_audio_packet {
    uint16_t seq;
    void *data; // owned by the caller; NULL: none
    usec_t left;
    int copies;
    bool is_due;
};

struct sent_audio {
    int kept, copies;                                   // the bounds above
    int due;                                            // number of packets that are due
    struct sent_audio_packet packets[SENT_AUDIO_AHEAD]; // the first `kept` are used
};

void sent_audio_init(struct sent_audio *a, bool ahead);

// Packet `seq` left. Returns the packet that is not kept any more; NULL: none.
void *sent_audio_add(struct sent_audio *a, uint16_t seq, void *data, usec_t now);
// Returns packet `seq` if it is kept; else NULL.
void *sent_audio_find(const struct sent_audio *a, uint16_t seq);
// The viewer requests packet `seq`. `min_rtt`: 0: unknown.
void sent_audio_request(struct sent_audio *a, uint16_t seq, usec_t min_rtt, usec_t now);
// The packet to send again next, the oldest first; NULL: none.
const struct sent_audio_packet *sent_audio_next(const struct sent_audio *a);
void sent_audio_copied(struct sent_audio *a, usec_t now); // it left
// Removes a packet and returns it; NULL: there is none.
void *sent_audio_remove(struct sent_audio *a);

DECLS_END
#endif
