// SPDX-License-Identifier: GPL-2.0-or-later
// A TUN device: what the kernel routes into it is read here, what is written here the kernel
// receives. It goes away with the process, however that ends.
#ifndef WEIR_EMULATOR_TUN_H
#define WEIR_EMULATOR_TUN_H

#include "lab/emulator/rtnetlink.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tun_config {
    const char *netns; // see netns.h
    const char *name;
    uint32_t mtu;
    const struct ip_prefix *addresses;
    int address_count;
};

// Makes the device in its namespace, up and with its addresses; the calling thread is back in its
// own namespace then. A non-blocking file descriptor for read and write, a packet each;
// netns_open's errors, ERR_IO. Errors are logged.
int tun_open(const struct tun_config *config);

#ifdef __cplusplus
}
#endif
#endif
