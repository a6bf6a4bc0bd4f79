// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and modifies the header of an IPv4 or IPv6 packet, as far as the emulator needs it.
#ifndef WEIR_LAB_EMULATOR_MODEL_IP_PACKET_H
#define WEIR_LAB_EMULATOR_MODEL_IP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct ip_packet {
    uint8_t ecn;    // enum ecn of lab/link/packet.h
    bool has_ports; // TCP or UDP, whole or the first fragment
    uint16_t source, destination;
};

// Returns 0; ERR_MALFORMED: not IP, or truncated within the IP header.
int ip_packet_parse(const uint8_t *data, size_t len, struct ip_packet *out);
// Sets Congestion Experienced. Only for packets that ip_packet_parse accepted; keeps a correct IPv4
// checksum correct.
void ip_packet_set_ce(uint8_t *data);

DECLS_END
#endif
