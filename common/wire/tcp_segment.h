// SPDX-License-Identifier: GPL-2.0-or-later
// Converts TCP segments (RFC 9293, 3.1) in IPv4 (RFC 791) and IPv6 (RFC 8200) between bytes and
// structs.
#ifndef WEIR_WIRE_TCP_SEGMENT_H
#define WEIR_WIRE_TCP_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    TCP_SEGMENT_FIN = 1,
    TCP_SEGMENT_SYN = 2,
    TCP_SEGMENT_RST = 4,
    TCP_SEGMENT_PSH = 8,
    TCP_SEGMENT_ACK = 16,
    TCP_SEGMENT_ECE = 64,  // RFC 3168, 6.1: a router marked a packet
    TCP_SEGMENT_CWR = 128, // the window was reduced

    TCP_SEGMENT_SACKS = 4,
    TCP_SEGMENT_NO_SCALE = -1,
    TCP_SEGMENT_MAX_SCALE = 14, // RFC 7323, 2.3
    TCP_SEGMENT_TTL = 64,
};

struct tcp_endpoint {
    uint8_t address[16]; // IPv4 uses the first four bytes
    uint16_t port;
};

struct tcp_path {
    bool v6;
    struct tcp_endpoint source, destination;
};

// The result of verifying a received segment's checksum.
enum tcp_sum {
    TCP_SUM_GOOD,
    // Only the pseudo-header's sum is present: a kernel of this machine left the rest to a network
    // card, or merged segments after checking them. A segment from a real wire never has it.
    TCP_SUM_PARTIAL,
    TCP_SUM_BAD,
};

struct tcp_sack {
    uint32_t begin, end;
};

struct tcp_segment {
    struct tcp_path path;
    uint32_t seq, ack;
    uint8_t flags; // set of TCP_SEGMENT_*
    uint8_t ecn;   // codepoint of the IP header (RFC 3168, 5): 0 Not-ECT, 2 ECT(0), 3 CE
    uint16_t window;
    uint16_t mss; // 0: option absent
    int8_t scale; // TCP_SEGMENT_NO_SCALE: option absent; at most TCP_SEGMENT_MAX_SCALE
    bool sack_permitted;
    bool has_times;
    uint32_t time, time_echo; // TSval, TSecr
    uint8_t sack_count;
    struct tcp_sack sack[TCP_SEGMENT_SACKS];
    const uint8_t *data; // borrowed
    size_t len;
    enum tcp_sum sum; // set by parsing only
};

// Parses an IPv4 packet, as an IPv4 raw socket returns it. Returns 0; ERR_MALFORMED (truncated, not
// IPv4 with TCP, a fragment, malformed options). `sum` shows a bad checksum.
int tcp_segment_parse_ipv4(const uint8_t *packet, size_t len, struct tcp_segment *s);
// Parses the bytes after the IP header; `path` has the addresses (its ports are ignored). `ecn`
// is not known from them: 0. Returns 0; ERR_MALFORMED.
int tcp_segment_parse(const struct tcp_path *path, const uint8_t *bytes, size_t len,
                      struct tcp_segment *s);
// Builds the whole IP packet: TTL 64, not to be fragmented, checksums complete. SACK blocks that do
// not fit next to the other options are left out, the last ones first. Returns the length;
// ERR_TOO_BIG.
int tcp_segment_build(const struct tcp_segment *s, uint8_t *out, size_t cap);

bool tcp_path_same(const struct tcp_path *a, const struct tcp_path *b);
// Returns the path in the opposite direction.
struct tcp_path tcp_path_reversed(const struct tcp_path *path);

DECLS_END
#endif
