// SPDX-License-Identifier: GPL-2.0-or-later
// Adds to the packets of a third party's H.264 stream what weir-send writes on each packet (struct
// adu_ext): its frame, the frame's first and last packet, and the frame it depends on. Pure.
//
// Packets are put in order first: a hole may be filled until FOREIGN_REORDER later packets arrived
// or FOREIGN_WAIT passed. The stream's first packets may be reordered, too, until a frame has
// ended. A frame ends with the marker bit or where the RTP time stamp changes (RFC 6184, 5.1); a
// sender that continues a time stamp after its marker has wrong markers, which are ignored from
// then on. Frames are numbered in the order of arrival, which is decoding order; after a hole the
// time stamps give the number of missing frames. Time stamps that leap by more than FOREIGN_LEAP
// beyond the time that passed - another source, a clock that was set - are shifted, so that all
// that comes out is of one time line. A frame with a hole in it is left out. A key frame is one
// with an IDR picture, a recovery point or parameter sets; each other frame needs the last one that
// may be referred to (nal_ref_idc is not 0), or, after a hole, one that is missing.
#ifndef WEIR_STREAM_RECEIVE_FRAME_ASSEMBLER_H
#define WEIR_STREAM_RECEIVE_FRAME_ASSEMBLER_H

#include "common/base/level.h"
#include "common/wire/rtp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FOREIGN_MAX_PACKETS = 2048,    // packets held; more: all are given up
    FOREIGN_MAX_BYTES = 8 << 20,   // bytes held; more: all are given up
    FOREIGN_REORDER = 16,          // packets
    FOREIGN_MAX_MISSING = 1 << 12, // frames told to be missing at one hole
};
#define FOREIGN_WAIT (60 * USEC_PER_MSEC)
#define FOREIGN_LEAP (10 * USEC_PER_SEC)

struct foreign_packet {
    struct rtp_packet packet; // with its adu; the payload is owned, free it
    int64_t ext_seq;
    usec_t arrived;
};

struct frame_assembler; // opaque

// `fps`: as the description has it; 0/1: unknown. NULL: no memory.
struct frame_assembler *frame_assembler_new(struct fps fps);
void frame_assembler_free(struct frame_assembler *f); // NULL is fine
// A packet that did not come before; its payload is copied.
void frame_assembler_push(struct frame_assembler *f, const struct rtp_packet *p, int64_t ext_seq,
                          usec_t now);
// Takes the next packet of a whole frame. Returns false if there is none.
bool frame_assembler_pull(struct frame_assembler *f, struct foreign_packet *out);
// What is added to the sender's time stamps by now, modulo 2^32.
uint32_t frame_assembler_shift(const struct frame_assembler *f);

#ifdef __cplusplus
}
#endif
#endif
