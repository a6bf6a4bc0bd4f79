// SPDX-License-Identifier: GPL-2.0-or-later
// RTCP congestion control feedback, RFC 8888, section 3.1: arrival time and ECN mark of every
// packet of one media source. Alone in a datagram (reduced size, RFC 5506) or in a compound.
//
//   RTPFB (205), FMT 11; SSRC of the reporter; then a block: media SSRC, begin_seq, num_reports,
//   one 16-bit metric per packet |R|ECN|arrival time offset|, padding to 32 bits; finally the
//   report timestamp (RTS), the middle 32 bits of an NTP timestamp of any clock.
#ifndef WEIR_WIRE_CCFB_H
#define WEIR_WIRE_CCFB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    RTCP_CCFB_FMT = 11,
    CCFB_MAX_PACKETS = 512, // max metrics of one report: fits in RTCP_MAX_PACKET. More: ERR_TOO_BIG
    CCFB_LONG_AGO = 0x1ffe, // arrived more than 8189/1024 s before the report
    CCFB_NO_OFFSET = 0x1fff, // arrived at an unknown time (unavailable, or after the report)
};

struct ccfb_metric {
    bool received;
    uint8_t ecn;     // RFC 3168 codepoint: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE
    uint16_t offset; // arrival before the report, in 1/1024 s; 0 unless received
};

struct ccfb {
    uint32_t ssrc;       // SSRC of the reporter
    uint32_t media_ssrc; // SSRC of the first block; further blocks are skipped
    uint16_t begin_seq;
    uint16_t count;
    uint32_t timestamp; // the RTS, in 1/65536 s
    struct ccfb_metric metric[CCFB_MAX_PACKETS];
};

// Reads one RTCP packet (header included) of this type. Returns 0; ERR_MALFORMED; ERR_TOO_BIG;
// ERR_UNSUPPORTED: another type or format.
int ccfb_decode(const uint8_t *data, size_t len, struct ccfb *out);
// Appends to `out` at *len. Returns 0 or ERR_FULL (nothing written).
int ccfb_append(const struct ccfb *f, uint8_t *out, size_t cap, size_t *len);
// Returns the bytes of a report with `count` metrics.
size_t ccfb_bytes(size_t count);
// Finds the next report in a compound: *at is an offset, initially 0, moved past the report.
// Returns 1, 0 at the end, or an error of ccfb_decode (then *at is after the bad packet, or at
// `len`).
int ccfb_next(const uint8_t *data, size_t len, size_t *at, struct ccfb *out);

// Convert between the time `before` the report at which a packet arrived and its offset, rounded to
// the nearest 1/1024 s (negative: CCFB_NO_OFFSET; ccfb_before takes offsets below CCFB_LONG_AGO). A
// round trip is within 0.49 ms, without bias: a report's timestamp cancels out in the difference.
uint16_t ccfb_offset(usec_t before);
usec_t ccfb_before(uint16_t offset);

// Convert between an instant of the reporter's clock (>= 0) and a report timestamp, to the nearest
// 15 us. ccfb_instant returns the instant nearest to `near` that has this timestamp, which wraps
// after 18 hours.
uint32_t ccfb_timestamp(usec_t t);
usec_t ccfb_instant(uint32_t timestamp, usec_t near);

DECLS_END
#endif
