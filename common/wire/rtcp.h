// SPDX-License-Identifier: GPL-2.0-or-later
// RTCP compound packets: SR, RR, SDES CNAME, BYE (RFC 3550, 6), generic NACK and PLI (RFC
// 4585, 6.2.1, 6.3.1), TMMBR and TMMBN with one entry (RFC 5104, 4.2.1, 4.2.2), REMB
// (draft-alvestrand-rmcat-remb-03, 2.2).
#ifndef WEIR_WIRE_RTCP_H
#define WEIR_WIRE_RTCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum rtcp_type {
    RTCP_SR = 200,
    RTCP_RR = 201,
    RTCP_SDES = 202,
    RTCP_BYE = 203,
    RTCP_RTPFB = 205,
    RTCP_PSFB = 206
};

enum {
    RTCP_MAX_REPORTS = 31,
    RTCP_MAX_CNAME = 255,
    RTCP_MAX_REASON = 255,
    RTCP_MAX_NACKS = 64, // max FCI entries kept of one NACK; further entries are dropped
    RTCP_MAX_SSRCS = 31, // max SSRCs kept of one REMB; further ones are dropped
    RTCP_MAX_PACKET = 1200,
};

struct rtcp_report { // a report block, RFC 3550, 6.4.1
    uint32_t ssrc;
    uint8_t fraction_lost; // x/256
    int32_t lost;          // cumulative, 24 bits signed
    uint32_t highest_seq;  // extended
    uint32_t jitter;       // timestamp units
    uint32_t lsr;          // middle 32 bits of the last SR's NTP time
    uint32_t dlsr;         // 1/65536 s
};

struct rtcp_nack { // packet id and a bitmask of the 16 following packets
    uint16_t pid;
    uint16_t blp;
};

enum rtcp_kind {
    RTCP_IS_SR,
    RTCP_IS_RR,
    RTCP_IS_SDES,
    RTCP_IS_BYE,
    RTCP_IS_NACK,
    RTCP_IS_PLI,
    RTCP_IS_TMMBR, // requests a max bit rate
    RTCP_IS_TMMBN, // reports the max bit rate in force
    RTCP_IS_REMB,  // reports the receiver's estimate of the max bit rate
    RTCP_IS_OTHER
};

struct rtcp_item { // one packet of a compound
    enum rtcp_kind kind;
    uint32_t ssrc;       // SSRC of the packet's sender
    uint32_t media_ssrc; // NACK, PLI; TMMBR: source that is limited; TMMBN: owner of the limit
    struct {             // SR only
        uint64_t ntp;
        uint32_t rtp_timestamp;
        uint32_t packets;
        uint32_t octets;
    } sender;
    int report_count; // SR, RR
    struct rtcp_report reports[RTCP_MAX_REPORTS];
    int nack_count;
    struct rtcp_nack nacks[RTCP_MAX_NACKS];
    struct {               // TMMBR, TMMBN: of the first entry; REMB: of all `ssrcs` together
        uint64_t bps;      // the wire has 17 bits of precision, REMB 18; encoding rounds down
        uint16_t overhead; // bytes of headers a packet that `bps` includes, 0 .. 511; REMB: 0
    } max_rate;
    int ssrc_count; // REMB
    uint32_t ssrcs[RTCP_MAX_SSRCS];
    char cname[RTCP_MAX_CNAME + 1];   // SDES; empty if absent
    char reason[RTCP_MAX_REASON + 1]; // BYE; of the peer's bytes; empty if absent
};

// Walks a compound: *at is the offset of the next packet, initially 0. Returns 1 when `item` was
// filled, 0 at the end, ERR_MALFORMED when the bytes break the format (earlier items stay valid).
int rtcp_next(const uint8_t *data, size_t len, size_t *at, struct rtcp_item *item);

// Appends one packet to the compound in `out` (`cap` bytes, *len used) and advances *len. Accepts
// all kinds but OTHER. Returns 0 or ERR_FULL (nothing written).
int rtcp_append(const struct rtcp_item *item, uint8_t *out, size_t cap, size_t *len);

// Returns true if this datagram or interleaved frame is RTCP, not RTP (RFC 5761, 4).
bool rtcp_is(const uint8_t *data, size_t len);

DECLS_END
#endif
