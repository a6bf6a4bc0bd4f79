// SPDX-License-Identifier: GPL-2.0-or-later
// RTP payload format for H.264, receiver's side (RFC 6184: single NAL units, STAP-A, FU-A): packets
// in any order in, whole frames out. A frame is whole when every packet from the one with `first`
// to the one with `last` is there; frames come out as they become whole, so not always in order.
// What does not parse (a fragment without a start, a length beyond the packet) spoils its frame
// alone and is counted.
#ifndef WEIR_MEDIA_RTP_DEPACKETISER_H
#define WEIR_MEDIA_RTP_DEPACKETISER_H

#include "common/base/usec.h"
#include "common/wire/rtp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DEPACKETISER_WINDOW = 2048, // packets held at most, a power of two; older ones are given up
    DEPACKETISER_MAX_FRAME = 4 << 20, // bytes of a frame
};

struct received_frame {
    int64_t number; // source frame number, extended to 64 bits
    int reorder;    // slot (rtp.h) less number
    int size_id;
    int temporal_id;
    int level; // that the sender serves
    bool key;
    int64_t depends_on;  // frame number, -1 = none; may be a later one
    usec_t capture_wall; // 0 = not told
    uint32_t rtp_timestamp;
    uint32_t first_written_us; // adu_ext.written_us of the packet written first and last
    uint32_t last_written_us;
    usec_t first_arrived; // packets' arrival, the player's clock
    usec_t last_arrived;
    int packets;
    uint8_t *
        data; // owned: Annex B (start code before each NAL unit), then 64 zero bytes beyond `bytes`
    size_t bytes;
};

void received_frame_free(struct received_frame *f);
// A frame may rest on a later one that is near: no more frames of a size are between two of T0.
enum { RECEIVED_FRAME_REACH = 1024 };
static inline bool received_frame_is_possible(const struct received_frame *f)
{
    if (f->size_id < 0 || f->temporal_id < 0 || f->number < 0 || f->depends_on < -1)
        return false;
    if (f->depends_on == f->number || f->depends_on - f->number > RECEIVED_FRAME_REACH)
        return false;
    return !f->key || (f->depends_on == -1 && f->reorder == 0);
}
// Its place in the order of decoding.
static inline int64_t received_frame_slot(const struct received_frame *f)
{
    return f->number + f->reorder;
}

struct depacketiser; // opaque

struct depacketiser *depacketiser_new(void); // NULL: no memory
void depacketiser_free(struct depacketiser *d);
// `p->has_adu` must hold; the payload is copied. 0; ERR_MALFORMED (the payload breaks RFC 6184;
// counted); ERR_RANGE (older than the window); ERR_NO_MEMORY.
int depacketiser_push(struct depacketiser *d, const struct rtp_packet *p, int64_t ext_seq,
                      usec_t now);
// The next whole frame, or NULL. The caller owns it.
struct received_frame *depacketiser_pull(struct depacketiser *d);
uint64_t depacketiser_malformed(const struct depacketiser *d);

#ifdef __cplusplus
}
#endif
#endif
