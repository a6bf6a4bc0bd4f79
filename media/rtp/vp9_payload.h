// SPDX-License-Identifier: GPL-2.0-or-later
// RTP payload format for VP9 (RFC 9628): the payload descriptor in front of each piece of a frame,
// both ways, and the packets of one frame of one spatial layer (a size).
//
//    0 1 2 3 4 5 6 7
//   +-+-+-+-+-+-+-+-+
//   |I|P|L|F|B|E|V|Z|  picture id, predicted from an earlier picture, layer indices, flexible mode,
//   +-+-+-+-+-+-+-+-+  begin of frame, end of frame, scalability structure, no larger size's
//   |M| PICTURE ID  |  reference
//   +-+-+-+-+-+-+-+-+
//   | EXTENDED PID  |  with M: 15 bits
//   +-+-+-+-+-+-+-+-+
//   | TID |U| SID |D|  temporal id, switching up point, size, predicted from the next smaller size
//   +-+-+-+-+-+-+-+-+
//   |   TL0PICIDX   |  not in flexible mode: number of the newest T0 picture
//   +-+-+-+-+-+-+-+-+
//   |   P_DIFF    |N|  flexible mode with P: 1 to 3 picture ids back; N: another follows
//   +-+-+-+-+-+-+-+-+
//   | N_S |Y|G|-|-|-|  V: sizes - 1, WIDTH and HEIGHT of each (Y), picture group (G): N_G pictures
//   +-+-+-+-+-+-+-+-+  of TID, U and R differences |TID|U| R |-|-|, each followed by R P_DIFFs
//
// Weir sends flexible mode, with the sizes on key frames. Each frame then says which picture it
// depends on. Non-flexible mode would state this once, in the structure; but after a picture that
// the encoder skipped, as the processor was busy, that would be wrong.
//
// libavformat (5.1) knows an early draft only: no byte after the layer indices, no structure of
// several sizes, no packet that ends a frame without ending the picture. It gets a plain stream:
// without layer indices and structure, of the smallest size with any of its temporal layers. A
// superframe (vp9.h) sent as one frame passes it, too, but libavcodec then outputs a picture of
// each size, where libvpx outputs the largest only.
//
// The picture id is the index of the frame within its size.
#ifndef WEIR_MEDIA_RTP_VP9_PAYLOAD_H
#define WEIR_MEDIA_RTP_VP9_PAYLOAD_H

#include "common/base/decls.h"
#include "media/rtp/packetiser.h"
#include "media/rtp/payload_format.h"

DECLS_BEGIN

enum {
    VP9_PICTURE_ID_BITS = 15,
    VP9_MAX_DIFFS = 3,           // P_DIFFs of a frame
    VP9_MAX_DIFF = 127,          // picture ids
    VP9_STRUCTURE_MAX_SIZES = 3, // in those that are written
    VP9_STRUCTURE_MAX_LAYERS = 3,
    // Max. bytes that the writers make: sizes of 4 bytes, a picture group of 2^(layers - 1).
    VP9_MAX_STRUCTURE = 2 + 4 * VP9_STRUCTURE_MAX_SIZES + 2 * (1 << (VP9_STRUCTURE_MAX_LAYERS - 1)),
    VP9_MAX_DESCRIPTOR = 4 + VP9_MAX_DIFFS + VP9_MAX_STRUCTURE,
};

struct vp9_structure {
    int sizes;  // 1 .. VP9_STRUCTURE_MAX_SIZES
    int layers; // temporal, dyadic; 1 .. VP9_STRUCTURE_MAX_LAYERS; 0: flexible mode, no group
    uint16_t width[VP9_STRUCTURE_MAX_SIZES];
    uint16_t height[VP9_STRUCTURE_MAX_SIZES];
};

struct vp9_descriptor {
    bool has_picture_id;
    uint16_t picture_id; // 15 bits
    bool predicted;      // from an earlier picture; false at SID 0: a key frame
    bool has_layers;     // the next five
    uint8_t temporal_id; // 0 .. 7
    bool switching_up;   // no later picture depends on an earlier one of a higher temporal id
    uint8_t size_id;     // SID, 0 .. 7
    bool on_lower;       // D: depends on the next smaller size; never at SID 0
    uint8_t group;       // TL0PICIDX; not in flexible mode
    bool flexible;
    uint8_t diff_count;           // flexible mode: 1 .. VP9_MAX_DIFFS if predicted, otherwise 0
    uint8_t diffs[VP9_MAX_DIFFS]; // 1 .. VP9_MAX_DIFF
    bool first;                   // B: the frame's first packet
    bool last;                    // E: the frame's last packet
    bool unused_above;            // Z: no larger size depends on the frame
    const uint8_t *structure;     // borrowed; NULL: none
    size_t structure_len;
};

// Writes a scalability structure; returns its length, at most VP9_MAX_STRUCTURE.
size_t vp9_structure_write(const struct vp9_structure *s, uint8_t *out);
// Writes a descriptor whose structure has at most VP9_MAX_STRUCTURE bytes; returns its length, at
// most VP9_MAX_DESCRIPTOR.
size_t vp9_descriptor_write(const struct vp9_descriptor *d, uint8_t *out);
// Reads the descriptor of a payload, which stays borrowed. Returns its length, below `len`, or
// ERR_MALFORMED: truncated, nothing after it, a difference or a width or height of 0, a fourth
// difference, P_DIFFs without picture id, or D at SID 0.
int vp9_descriptor_read(const uint8_t *data, size_t len, struct vp9_descriptor *d);

// Returns the descriptor, in flexible mode, of frame `index` (within its size) that is predicted
// from frame `reference`, at most VP9_MAX_DIFF before it; -1: from no earlier frame. The caller
// sets has_layers and the four members behind it, unused_above and structure.
struct vp9_descriptor vp9_descriptor_of(int64_t index, int64_t reference);

// A cursor over one frame of one size.
struct vp9_packetiser {
    const uint8_t *data; // borrowed until done
    size_t len;
    size_t sent;
    struct vp9_descriptor descriptor; // its structure is on the first packet only
};

// len > 0. `first` and `last` of the descriptor are ignored.
void vp9_packetiser_init(struct vp9_packetiser *p, const uint8_t *data, size_t len,
                         const struct vp9_descriptor *descriptor);
// Gives the next payload of at most `max` bytes (>= 64) including the head. Returns false at the
// end of the frame. `last` is the end of the frame: the RTP marker also requires that no larger
// size of the picture is sent.
bool vp9_packetiser_next(struct vp9_packetiser *p, size_t max, struct rtp_payload *out);
// Returns how many payloads of at most `max` bytes are left.
int vp9_packetiser_left(const struct vp9_packetiser *p, size_t max);

// The receiver's side: the frame's bytes are those of one spatial layer, without index (vp9.h).
extern const struct payload_format vp9_payload_format;

DECLS_END
#endif
