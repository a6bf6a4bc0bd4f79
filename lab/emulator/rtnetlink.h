// SPDX-License-Identifier: GPL-2.0-or-later
// The requests to the kernel (RFC 3549, rtnetlink(7)) that configure an interface, made in the
// network namespace of the calling thread. Each waits for the kernel's response; errors are logged
// here.
#ifndef WEIR_EMULATOR_RTNETLINK_H
#define WEIR_EMULATOR_RTNETLINK_H

#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct ip_prefix {
    int family; // AF_INET or AF_INET6
    uint8_t address[16];
    uint8_t bits;
};

// Returns a socket, or ERR_IO.
int rtnetlink_open(void);
// Sets MTU and queue length, and disables the kernel's own link-local address, which would cause
// unrequested packets. Returns 0; ERR_IO.
int rtnetlink_set_link(int fd, int interface, uint32_t mtu, uint32_t queue_packets);
// Returns 0; ERR_IO.
int rtnetlink_add_address(int fd, int interface, const struct ip_prefix *prefix);
// Returns 0; ERR_IO.
int rtnetlink_up(int fd, int interface);

DECLS_END
#endif
