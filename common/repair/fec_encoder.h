// SPDX-License-Identifier: GPL-2.0-or-later
// Makes parity packets over the last frames of a stream, in a sliding window (streaming codes:
// Rudow et al., "Tambur", NSDI 2023): the parity after frame i covers the protected packets of
// frames i - w + 1 .. i, so w frames' parity together repairs a burst in any of them. The code is
// systematic Reed-Solomon (fec_header.h): media packets are sent unchanged.
//
// Memory: the last FEC_MAX_SPAN packets, 192 kB. Pure.
#ifndef WEIR_REPAIR_FEC_ENCODER_H
#define WEIR_REPAIR_FEC_ENCODER_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/wire/fec_header.h"

DECLS_BEGIN

struct fec_encoder; // opaque

struct fec_encoder *fec_encoder_new(void); // NULL: no memory
void fec_encoder_free(struct fec_encoder *e);

// Protects a packet that left: sequence number `seq`, after those of all packets before it; of
// frame `frame`; in two parts, each copied. Returns false if it is longer than FEC_MAX_PACKET: it
// is not protected then.
bool fec_encoder_add(struct fec_encoder *e, uint16_t seq, int64_t frame, const uint8_t *head,
                     size_t head_len, const uint8_t *body, size_t body_len);
// Returns how many packets the next parity over the last `frames` protected frames covers. Packets
// that are FEC_MAX_SPAN or more before the newest are not covered.
int fec_encoder_covered(const struct fec_encoder *e, int frames);
// Writes the payload of the next parity packet over the last `frames` protected frames. Returns its
// length; 0: there is nothing to cover, or it does not fit in `cap`.
size_t fec_encoder_parity(struct fec_encoder *e, int frames, uint8_t *out, size_t cap);

DECLS_END
#endif
