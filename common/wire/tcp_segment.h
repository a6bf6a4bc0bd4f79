// SPDX-License-Identifier: GPL-2.0-or-later
// TCP segments (RFC 9293, 3.1) in IPv4 (RFC 791) and IPv6 (RFC 8200), between bytes and structs.
#ifndef WEIR_WIRE_TCP_SEGMENT_H
#define WEIR_WIRE_TCP_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TCP_SEGMENT_FIN = 1,
    TCP_SEGMENT_SYN = 2,
    TCP_SEGMENT_RST = 4,
    TCP_SEGMENT_PSH = 8,
    TCP_SEGMENT_ACK = 16,

    TCP_SEGMENT_SACKS = 4,
    TCP_SEGMENT_NO_SCALE = -1,
    TCP_SEGMENT_MAX_SCALE = 14, // RFC 7323, 2.3
    TCP_SEGMENT_TTL = 64,
};

struct tcp_endpoint {
    uint8_t address[16]; // IPv4: the first four
    uint16_t port;
};

struct tcp_path {
    bool v6;
    struct tcp_endpoint source, destination;
};

// What the checksum of a received segment says.
enum tcp_sum {
    TCP_SUM_GOOD,
    // The pseudo-header's sum only: a kernel of this machine left the rest to a network card, or
    // joined segments after it had checked them. Nothing that came over a real wire looks like it.
    TCP_SUM_PARTIAL,
    TCP_SUM_BAD,
};

struct tcp_sack {
    uint32_t begin, end;
};

struct tcp_segment {
    struct tcp_path path;
    uint32_t seq, ack;
    uint8_t flags; // TCP_SEGMENT_*
    uint16_t window;
    uint16_t mss; // 0: no such option
    int8_t scale; // TCP_SEGMENT_NO_SCALE: no such option; at most TCP_SEGMENT_MAX_SCALE
    bool sack_permitted;
    bool has_times;
    uint32_t time, time_echo; // TSval, TSecr
    uint8_t sack_count;
    struct tcp_sack sack[TCP_SEGMENT_SACKS];
    const uint8_t *data; // borrowed
    size_t len;
    enum tcp_sum sum; // parsed ones only
};

// An IPv4 packet, as an IPv4 raw socket hands it over. 0; ERR_MALFORMED (cut off, not IPv4 with
// TCP, a fragment, options that break their format). A bad checksum is told in `sum`.
int tcp_segment_parse_ipv4(const uint8_t *packet, size_t len, struct tcp_segment *s);
// What follows the IP header; `path` tells the addresses (its ports are not read). 0;
// ERR_MALFORMED.
int tcp_segment_parse(const struct tcp_path *path, const uint8_t *bytes, size_t len,
                      struct tcp_segment *s);
// The whole IP packet: TTL 64, not to be fragmented, checksums complete. SACK blocks that do not
// fit beside the other options are left out, the last ones first. The length; ERR_TOO_BIG.
int tcp_segment_build(const struct tcp_segment *s, uint8_t *out, size_t cap);

bool tcp_path_same(const struct tcp_path *a, const struct tcp_path *b);
// The way back.
struct tcp_path tcp_path_reversed(const struct tcp_path *path);

#ifdef __cplusplus
}
#endif
#endif
