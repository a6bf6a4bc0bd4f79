// SPDX-License-Identifier: GPL-2.0-or-later
// The few requests to the kernel (RFC 3549, rtnetlink(7)) that set an interface up, made in the
// network namespace that the calling thread is in. Each waits for the kernel's answer; an error is
// logged here.
#ifndef WEIR_EMULATOR_RTNETLINK_H
#define WEIR_EMULATOR_RTNETLINK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ip_prefix {
    int family; // AF_INET, AF_INET6
    uint8_t address[16];
    uint8_t bits;
};

// A socket, or ERR_IO.
int rtnetlink_open(void);
// MTU and queue length, and no link-local address of the kernel's own making: such an address
// brings packets that nobody asked for. 0; ERR_IO.
int rtnetlink_set_link(int fd, int interface, uint32_t mtu, uint32_t queue_packets);
int rtnetlink_add_address(int fd, int interface, const struct ip_prefix *prefix); // 0; ERR_IO
int rtnetlink_up(int fd, int interface);                                          // 0; ERR_IO

#ifdef __cplusplus
}
#endif
#endif
