// SPDX-License-Identifier: GPL-2.0-or-later
// Recovers lost packets of a stream from its parity packets (fec_header.h), the receiving end of
// fec_encoder. Parity packets are equations whose unknowns are the packets that did not arrive;
// they are solved together, so parity over overlapping windows adds up.
//
// Whatever the sender writes, memory and time are bounded: FEC_MAX_SPAN packets and
// FEC_DECODER_PARITY parity packets are kept (250 kB), and a call takes at most one elimination of
// FEC_DECODER_PARITY rows. A result that is no RTP packet of the missing number, or that is not
// followed by zeros, proves the parity wrong: it is dropped and counted. That is no protection
// against a sender that writes another packet on purpose.
//
// Pure.
#ifndef WEIR_REPAIR_FEC_DECODER_H
#define WEIR_REPAIR_FEC_DECODER_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/wire/fec_header.h"

DECLS_BEGIN

enum { FEC_DECODER_PARITY = 32 }; // parity packets kept; more: the oldest is dropped

struct fec_recovered {
    int64_t seq;          // extended
    const uint8_t *bytes; // the RTP packet; valid until the next call that is not const
    size_t len;
};

struct fec_decoder_stats {
    uint64_t parity;    // packets that were taken
    uint64_t recovered; // packets
    uint64_t wrong;     // parity packets: malformed, out of range, or of a wrong result
};

struct fec_decoder; // opaque

struct fec_decoder *fec_decoder_new(void); // NULL: no memory
void fec_decoder_free(struct fec_decoder *d);

// A media packet arrived: its extended sequence number >= 0 (rtp_receiver.h), all of its bytes.
// Call fec_decoder_next until it returns false.
void fec_decoder_packet(struct fec_decoder *d, int64_t seq, const uint8_t *rtp, size_t len);
// The payload of a parity packet arrived. Call fec_decoder_next until it returns false. 0, also for
// one that is not needed; ERR_MALFORMED; ERR_RANGE: it covers packets FEC_MAX_SPAN or more before
// or after the newest.
int fec_decoder_parity(struct fec_decoder *d, const uint8_t *payload, size_t len);
// Takes the next recovered packet, in the order of sequence numbers. Returns false if there is
// none.
bool fec_decoder_next(struct fec_decoder *d, struct fec_recovered *out);
struct fec_decoder_stats fec_decoder_read(const struct fec_decoder *d);

DECLS_END
#endif
