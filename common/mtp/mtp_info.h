// SPDX-License-Identifier: GPL-2.0-or-later
// An MTP flow's figures in a transport's words, whatever carries its slots.
#ifndef WEIR_MTP_MTP_INFO_H
#define WEIR_MTP_MTP_INFO_H

#include "common/mtp/mtp_flow.h"
#include "common/protocol/transport_info.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fills all of `out` but rate_bps and acks_ignored. Variables: `mode` (0 strict, 1 fill, 2 resend),
// `holes` at the receiver now, `replaced`: losses made up for by new data, `dropped` by the queue,
// `why` this mode (enum mtp_reason).
void mtp_info_fill(const struct mtp_flow *f, struct transport_info *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
