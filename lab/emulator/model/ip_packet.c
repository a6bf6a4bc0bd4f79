// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/model/ip_packet.h"

#include <assert.h>

#include "common/base/err.h"
#include "lab/link/packet.h"

enum {
    IPV4_HEADER = 20,
    IPV6_HEADER = 40,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    // Extension headers, RFC 8200, section 4.
    IPV6_HOP_BY_HOP = 0,
    IPV6_ROUTING = 43,
    IPV6_FRAGMENT = 44,
    IPV6_DESTINATION = 60,
    IPV6_EXTENSIONS_MAX = 8, // more than a legitimate sender uses
};

static uint16_t get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static void parse_ports(const uint8_t *data, size_t len, int protocol, struct ip_packet *out)
{
    out->has_ports = (protocol == PROTOCOL_TCP || protocol == PROTOCOL_UDP) && len >= 4;
    if (!out->has_ports)
        return;
    out->source = get16(data);
    out->destination = get16(data + 2);
}

// RFC 791, section 3.1; the ECN field is RFC 3168, section 5.
static int parse_ipv4(const uint8_t *data, size_t len, struct ip_packet *out)
{
    size_t header = len ? (size_t)(data[0] & 15) * 4 : 0;
    if (len < IPV4_HEADER || header < IPV4_HEADER || header > len)
        return ERR_MALFORMED;
    out->ecn = data[1] & 3;
    bool is_first = (get16(data + 6) & 0x1fff) == 0; // checks the fragment offset
    if (is_first)
        parse_ports(data + header, len - header, data[9], out);
    return 0;
}

// RFC 8200, sections 3 and 4.
static int parse_ipv6(const uint8_t *data, size_t len, struct ip_packet *out)
{
    if (len < IPV6_HEADER)
        return ERR_MALFORMED;
    out->ecn = data[1] >> 4 & 3; // the traffic class is in bits 4 to 11
    int next = data[6];
    size_t at = IPV6_HEADER;
    for (int i = 0; i < IPV6_EXTENSIONS_MAX; i++) {
        if (next != IPV6_HOP_BY_HOP && next != IPV6_ROUTING && next != IPV6_FRAGMENT &&
            next != IPV6_DESTINATION)
            break;
        if (len - at < 8)
            return 0;
        if (next == IPV6_FRAGMENT && get16(data + at + 2) >> 3)
            return 0; // not the first fragment: no ports follow
        size_t size = next == IPV6_FRAGMENT ? 8 : ((size_t)data[at + 1] + 1) * 8;
        if (size > len - at)
            return 0;
        next = data[at];
        at += size;
    }
    parse_ports(data + at, len - at, next, out);
    return 0;
}

int ip_packet_parse(const uint8_t *data, size_t len, struct ip_packet *out)
{
    *out = (struct ip_packet){.ecn = ECN_NOT};
    if (len == 0)
        return ERR_MALFORMED;
    switch (data[0] >> 4) {
    case 4:
        return parse_ipv4(data, len, out);
    case 6:
        return parse_ipv6(data, len, out);
    default:
        return ERR_MALFORMED;
    }
}

void ip_packet_set_ce(uint8_t *data)
{
    assert(data[0] >> 4 == 4 || data[0] >> 4 == 6);
    if (data[0] >> 4 == 6) {
        data[1] |= ECN_CE << 4;
        return;
    }
    // RFC 1624, section 3, equation 3: HC' = ~(~HC + ~m + m').
    uint16_t before = get16(data);
    data[1] |= ECN_CE;
    uint32_t sum = (uint32_t)(uint16_t)~get16(data + 10) + (uint16_t)~before + get16(data);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    data[10] = (uint8_t)(~sum >> 8);
    data[11] = (uint8_t)~sum;
}
