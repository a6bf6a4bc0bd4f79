// SPDX-License-Identifier: GPL-2.0-or-later
// RTP packets (RFC 3550, 5.1) and Weir's four header extensions (RFC 8285, one-byte form).
#ifndef WEIR_WIRE_RTP_H
#define WEIR_WIRE_RTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    RTP_CLOCK_RATE = 90000,
    RTP_OPUS_CLOCK_RATE = 48000, // for any sample rate of the audio (RFC 7587, 4.1)
    RTP_PT_H264 = 96,            // dynamic; assigned in the SDP
    RTP_PT_SYNTHETIC = 97,       // filler without pictures
    RTP_PT_OPUS = 98,
    RTP_PT_FEC = 99, // parity over media packets (fec_header.h)
    RTP_PT_VP9 = 100,
    RTP_PT_HEVC = 101,
    RTP_MAX_HEADER = 64,    // max bytes that rtp_encode writes
    RTP_EXT_CAPTURE_ID = 1, // extension ids that weir-send announces
    RTP_EXT_ADU_ID = 2,
    RTP_EXT_FEEDBACK_ID = 3,
    RTP_EXT_MADE_ID = 4,
};

#define RTP_EXT_CAPTURE_URI  "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
#define RTP_EXT_ADU_URI      "urn:x-weir:rtp-hdrext:adu"
#define RTP_EXT_FEEDBACK_URI "urn:x-weir:rtp-hdrext:feedback"
#define RTP_EXT_MADE_URI     "urn:x-weir:rtp-hdrext:made"

// Weir's extension on every packet, 12 to 15 bytes of data:
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |                         frame number                          |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |D|size |  tid  |K|F|L|  level  |       frame - depends on      |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |     when the sender wrote it: wall clock, us modulo 2^32      |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |     left      |         slot - frame          |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// Both differences are signed. Left: how many packets of the frame follow this one, 255 for more;
// the field is absent on audio. The slot is the number that the frame would have if frames were
// numbered in decoding order; the field is present if it differs from the frame number (B frames,
// media/stored/policy/stored_plan.h).
//
// K: key frame, depends on nothing (the distance is then 0). F, L: first, last packet of the frame.
// D: the frame is a layer of a picture (struct ladder): it depends on the frame of the next smaller
// size with its number, too.
// Level: the level sent to the viewer at this frame, be it what it requested or what its network
// allows.
//
// On audio packets the frame number is the media time of the first sample, counted in samples of 48
// kHz from that of frame 0; the other fields are those of a key frame of one packet.
struct adu_ext {
    uint32_t frame;      // source frame number modulo 2^32
    uint8_t size_id;     // 0 .. 7
    uint8_t temporal_id; // 0 .. 15
    bool key;
    bool first;
    bool last;
    uint8_t level;       // 0 .. 31
    int16_t depends;     // frame number minus that of the frame it depends on; 0 = none
    uint32_t written_us; // wall clock at writing, us modulo 2^32
    int16_t reorder;     // slot minus frame number
    bool has_left;       // the packet says what follows it
    uint8_t left;        // packets of the frame that follow; 255: at least so many
    bool on_lower;       // the frame depends on that of the next smaller size with its number
};

// How often the sender requests reports on received packets (RFC 8888), on every packet of a flow
// under rate control; 3 or 5 bytes of data:
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+ ..
//   |      interval, 64 us          |    packets    |  flow number ..
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+ ..
//
// A report is due after the interval or the number of packets, whichever comes first; 0 packets: no
// such bound. The flow number (16 bits) is present if one flow carries video and audio: it counts
// the packets of both, and reports, which have the video's SSRC, contain it in place of sequence
// numbers.
enum { RTP_FEEDBACK_UNIT_US = 64 };

struct feedback_ext {
    uint16_t interval; // in RTP_FEEDBACK_UNIT_US; > 0
    uint8_t packets;
    bool has_number;
    uint16_t number; // number of the packet in the flow
};

// When the sender had made the frame, on the first packet of a frame that is encoded as it is sent;
// 2 bytes of data:
//
//    0                   1
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |S|  made after its capture, ms  |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// From its capture until then the frame waited for the sender's machine: its camera, its encoder
// and its processors; from then until it was written, for the transport. S: the machine does not
// keep up, and encodes less than the viewer would get.
enum { RTP_MADE_MAX_MS = 0x7fff };

struct made_ext {
    uint16_t ms; // at most RTP_MADE_MAX_MS, which stands for more
    bool is_slow;
};

struct rtp_packet {
    bool marker;
    uint8_t payload_type; // 0 .. 127
    uint16_t seq;
    uint32_t timestamp;
    uint32_t ssrc;
    bool has_adu;
    struct adu_ext adu;
    bool has_capture;
    usec_t capture_wall; // when the frame was captured; abs-capture-time, UQ32.32 NTP on the wire
    bool has_feedback;
    struct feedback_ext feedback;
    bool has_made;
    struct made_ext made;
    const uint8_t *payload; // borrowed from the decoded bytes; not used by rtp_encode
    size_t payload_len;
};

// The ids under which the other side announced the extensions (SDP a=extmap); 0 = not announced.
struct rtp_ext_ids {
    uint8_t capture;
    uint8_t adu;
    uint8_t feedback;
    uint8_t made;
};

// Writes header and extensions (without payload) to `out`, at least RTP_MAX_HEADER bytes. Returns
// the length. Extensions use the ids RTP_EXT_*_ID.
size_t rtp_encode(const struct rtp_packet *p, uint8_t *out);

// Returns the length of the header that rtp_encode writes for a packet with these extensions.
size_t rtp_header_bytes(const struct rtp_packet *p);

// Returns 0 or ERR_MALFORMED. Unknown extensions are skipped; CSRCs and padding are removed.
int rtp_decode(const uint8_t *data, size_t len, struct rtp_ext_ids ids, struct rtp_packet *p);

// Sets the flow number of an encoded packet, in place. Returns false if it has none.
bool rtp_set_flow_number(uint8_t *data, size_t len, struct rtp_ext_ids ids, uint16_t number);

// Convert NTP timestamps, UQ32.32 seconds since 1900 (RFC 5905); valid until 2036, and after it by
// era.
uint64_t ntp_of_wall(usec_t wall);
usec_t wall_of_ntp(uint64_t ntp);

// Returns the timestamp of media time `pts` (us), before the random offset is added: at 90 kHz, or
// at `rate`, up to 1 MHz.
uint32_t rtp_ticks(usec_t pts);
uint32_t rtp_ticks_at(usec_t pts, int rate);
// Returns the media time of an extended timestamp. The timestamps of third parties may have any
// value, so the result is clamped to +-RTP_MAX_USEC, which leaves room for arithmetic.
#define RTP_MAX_USEC ((usec_t)1 << 56)
usec_t rtp_usec(int64_t ticks, int rate);

DECLS_END
#endif
