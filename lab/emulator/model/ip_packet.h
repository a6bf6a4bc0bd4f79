// SPDX-License-Identifier: GPL-2.0-or-later
// What the emulator reads from, and writes into, the header of an IPv4 or IPv6 packet.
#ifndef WEIR_LAB_EMULATOR_MODEL_IP_PACKET_H
#define WEIR_LAB_EMULATOR_MODEL_IP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ip_packet {
    uint8_t ecn;    // enum ecn of lab/link/packet.h
    bool has_ports; // TCP or UDP, whole or the first fragment
    uint16_t source, destination;
};

// 0; ERR_MALFORMED: not IP, or cut off within the IP header.
int ip_packet_parse(const uint8_t *data, size_t len, struct ip_packet *out);
// Congestion Experienced. For packets that ip_packet_parse took; an IPv4 checksum that was right
// stays right.
void ip_packet_set_ce(uint8_t *data);

#ifdef __cplusplus
}
#endif
#endif
