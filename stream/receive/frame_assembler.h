// SPDX-License-Identifier: GPL-2.0-or-later
// Adds to the packets of a third party's stream the fields that weir-send writes on each packet
// (struct adu_ext): the packet's frame, the frame's first and last packet, and the frame it depends
// on. The same for all codecs: what it must know of one is in payload_nature.h. Pure.
//
// First the packets are put in order: the assembler waits for a missing packet until
// FOREIGN_REORDER later packets have arrived or FOREIGN_WAIT has passed. The stream's first packets
// may be reordered, too, until a frame has ended. A frame ends with the marker bit or where the RTP
// time stamp changes (RFC 6184, 5.1; RFC 7798, 4.1). If slices of a time stamp come after its
// marker, the sender's markers are wrong and are ignored from then on. Parameter sets, SEI and
// delimiters after the slices belong to the next picture, and all packets of a frame get the time
// stamp of its picture. From the third picture on that begins
// with the same time stamp (some cameras never advance it), each begins a frame, which gets the
// time stamp of its arrival. Frames are numbered in decoding order,
// which is the order of arrival; after a hole the time stamps give the number of missing frames.
// Time stamps that jump by more than FOREIGN_LEAP beyond the elapsed time (another source, a clock
// that was set) are shifted, so that the output has one continuous time line. A frame with a hole
// is dropped. A key frame has an IDR or IRAP picture, a recovery point, or H.264's parameter sets.
// Each other frame depends on the last frame that is a reference, or, after a hole, on a missing
// one.
#ifndef WEIR_STREAM_RECEIVE_FRAME_ASSEMBLER_H
#define WEIR_STREAM_RECEIVE_FRAME_ASSEMBLER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/rtp.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

enum {
    FOREIGN_MAX_PACKETS = 4096,    // packets buffered; beyond, all are dropped
    FOREIGN_MAX_BYTES = 8 << 20,   // bytes buffered; beyond, all are dropped
    FOREIGN_REORDER = 16,          // later packets after which a hole counts as lost
    FOREIGN_MAX_MISSING = 1 << 12, // frames reported missing at one hole
};
#define FOREIGN_WAIT (60 * USEC_PER_MSEC)
#define FOREIGN_LEAP (10 * USEC_PER_SEC)

struct foreign_packet {
    struct rtp_packet packet; // with its adu; the caller owns the payload and frees it
    int64_t ext_seq;
    usec_t arrived;
};

struct frame_assembler; // opaque

// `fps`: frame rate in the stream's description; 0/1: unknown. NULL: no memory.
struct frame_assembler *frame_assembler_new(enum sdp_codec codec, struct fps fps);
void frame_assembler_free(struct frame_assembler *f); // NULL is fine
// Adds a packet that did not arrive before; its payload is copied.
void frame_assembler_push(struct frame_assembler *f, const struct rtp_packet *p, int64_t ext_seq,
                          usec_t now);
// Takes the next packet of a whole frame. Returns false if there is none.
bool frame_assembler_pull(struct frame_assembler *f, struct foreign_packet *out);
// The offset added to the sender's time stamps at present, modulo 2^32.
uint32_t frame_assembler_shift(const struct frame_assembler *f);

DECLS_END
#endif
