// SPDX-License-Identifier: GPL-2.0-or-later
// Makes frames of RTP packets: packets in any order in, whole frames out. A frame is whole when
// every packet from the one with `first` to the one with `last` has arrived. Frames are output when
// they become whole, so not always in order. A malformed packet (a fragment without a start, a
// length beyond the packet) damages only its own frame and is counted.
#ifndef WEIR_MEDIA_RTP_DEPACKETISER_H
#define WEIR_MEDIA_RTP_DEPACKETISER_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtp.h"
#include "media/rtp/payload_format.h"

DECLS_BEGIN

enum {
    DEPACKETISER_WINDOW = 2048,       // max. packets held, a power of two; older ones are dropped
    DEPACKETISER_AWAITED = 16384,     // the same, of media that waits for its packets
    DEPACKETISER_MAX_FRAME = 4 << 20, // max. bytes of a frame
};

struct received_frame {
    int64_t number; // source frame number, extended to 64 bits
    int reorder;    // slot in decoding order (rtp.h) minus `number`
    int size_id;
    int temporal_id;
    int level; // the level that the sender serves
    bool key;
    int64_t depends_on;  // frame number, -1 = none; may be a later frame
    bool on_lower;       // depends on the frame of the next smaller size with this number, too
    usec_t capture_wall; // 0 = unknown
    usec_t made;         // time from its capture until the sender had it; 0 = unknown
    bool is_slow;        // the sender's machine does not keep up (made_ext)
    uint32_t rtp_timestamp;
    usec_t pts;                // the media time at which it is shown, which orders the pictures:
                               // numbers may be in decoding order. playout_push sets it
    usec_t shown_after;        // of coded_frame.h, where a frame is relayed
    uint32_t first_written_us; // adu_ext.written_us of the packet that was written first
    uint32_t last_written_us;  // adu_ext.written_us of the packet that was written last
    usec_t first_arrived;      // arrival of the first packet, on the player's clock
    usec_t last_arrived;       // arrival of the last packet, on the player's clock
    int64_t first_seq;         // extended sequence number of the first packet
    int packets;
    uint8_t *data; // owned; as the payload's format says; 64 zero bytes follow `bytes`
    size_t bytes;
    // The next larger size of the same picture, owned: playout joins the layers of a picture. NULL:
    // none.
    struct received_frame *upper;
};

void received_frame_free(struct received_frame *f); // with its upper ones; NULL is fine
// Returns the bytes of the frame and of its upper ones.
size_t received_frame_bytes(const struct received_frame *f);
// Max. distance of a later frame that a frame depends on: more frames than there ever are between
// two T0 frames of a size.
enum { RECEIVED_FRAME_REACH = 1024 };
// Returns true if the numbers of the frame are consistent.
static inline bool received_frame_is_possible(const struct received_frame *f)
{
    if (f->size_id < 0 || f->temporal_id < 0 || f->number < 0 || f->depends_on < -1)
        return false;
    if (f->depends_on == f->number || f->depends_on - f->number > RECEIVED_FRAME_REACH)
        return false;
    if (f->on_lower && (f->key || f->size_id == 0))
        return false;
    return !f->key || (f->depends_on == -1 && f->reorder == 0);
}
// Returns the frame's place in decoding order.
static inline int64_t received_frame_slot(const struct received_frame *f)
{
    return f->number + f->reorder;
}

struct depacketiser; // opaque

// `format` is static. NULL: no memory.
struct depacketiser *depacketiser_new(const struct payload_format *format);
void depacketiser_free(struct depacketiser *d);
// Holds DEPACKETISER_AWAITED packets from now on. Call it before the first packet. 0, or
// ERR_NO_MEMORY.
int depacketiser_widen(struct depacketiser *d);
// Copies the payload; p->has_adu must be true. Returns 0; ERR_MALFORMED if the payload violates its
// format (counted); ERR_RANGE if the packet is older than the window; ERR_NO_MEMORY.
int depacketiser_push(struct depacketiser *d, const struct rtp_packet *p, int64_t ext_seq,
                      usec_t now);
// Returns the next whole frame, which the caller owns, or NULL.
struct received_frame *depacketiser_pull(struct depacketiser *d);
uint64_t depacketiser_malformed(const struct depacketiser *d);

DECLS_END
#endif
