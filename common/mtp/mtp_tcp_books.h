// SPDX-License-Identifier: GPL-2.0-or-later
// What mtp_tcp.c and mtp_tcp_input.c share.
#ifndef WEIR_MTP_MTP_TCP_BOOKS_H
#define WEIR_MTP_MTP_TCP_BOOKS_H

#include "common/mtp/mtp_tcp.h"

#ifdef __cplusplus
extern "C" {
#endif

static const usec_t MTP_TCP_HELLO_RETRY = 300 * USEC_PER_MSEC;
static const usec_t MTP_TCP_LINGER = USEC_PER_SEC; // for the peer's FIN that comes again

void mtp_tcp_close_with(struct mtp_tcp *c, enum mtp_tcp_end end);

static inline uint32_t mtp_tcp_clock(const struct mtp_tcp *c, usec_t now)
{
    return mtp_tcp_time(c->time_offset, now);
}

#ifdef __cplusplus
}
#endif
#endif
