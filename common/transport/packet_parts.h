// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a media packet as the system's calls take them, which do not write to them.
#ifndef WEIR_TRANSPORT_PACKET_PARTS_H
#define WEIR_TRANSPORT_PACKET_PARTS_H

#include <sys/uio.h>

#include "common/transport/transport.h"

static inline struct iovec transport_head(const struct media_packet *p)
{
    struct iovec part = {NULL, p->head_len};
    part.iov_base = (uint8_t *)(uintptr_t)p->head;
    return part;
}

static inline struct iovec transport_body(const struct media_packet *p)
{
    struct iovec part = {NULL, p->body_len};
    part.iov_base = (uint8_t *)(uintptr_t)p->body;
    return part;
}

#endif
