// SPDX-License-Identifier: GPL-2.0-or-later
// Reports an MTP flow's stats as struct transport_info, for every carrier of its slots.
#ifndef WEIR_MTP_MTP_INFO_H
#define WEIR_MTP_MTP_INFO_H

#include "common/base/decls.h"
#include "common/mtp/mtp_flow.h"
#include "common/protocol/transport_info.h"

DECLS_BEGIN

// Fills all fields of `out` except rate_bps and acks_ignored. Variables: `mode` (0 strict, 1 fill,
// 2 resend); `holes`: holes at the receiver now; `replaced`: losses replaced by new data;
// `dropped`: packets that the queue dropped; `why`: reason for the mode (enum mtp_reason).
void mtp_info_fill(const struct mtp_flow *f, struct transport_info *out, usec_t now);

DECLS_END
#endif
