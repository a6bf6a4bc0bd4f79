// SPDX-License-Identifier: GPL-2.0-or-later
// A TUN device: packets that the kernel routes into it are read here, and packets written here are
// received by the kernel. The device disappears with the process, however that ends.
#ifndef WEIR_EMULATOR_TUN_H
#define WEIR_EMULATOR_TUN_H

#include "common/base/decls.h"
#include "lab/emulator/rtnetlink.h"

DECLS_BEGIN

struct tun_config {
    const char *netns; // as in netns.h
    const char *name;
    uint32_t mtu;
    const struct ip_prefix *addresses;
    int address_count;
};

// Makes the device in its namespace, up and with its addresses; the calling thread then returns to
// its own namespace. Returns a non-blocking file descriptor, which reads and writes one packet
// each; or an error of netns_open, or ERR_IO. Errors are logged.
int tun_open(const struct tun_config *config);

DECLS_END
#endif
