// SPDX-License-Identifier: GPL-2.0-or-later
// Lost packets of live media that are sent once more, as what they are: media that is still of use.
// A transport that does not retransmit leaves that to the application (Chung, Claypool, Kinicki
// 2005, section II; Clark and Tennenhouse: application level framing, 1990): here a packet that
// later frames lean on is given to the transport again, within its window like any other, when the
// viewer misses it (NACK, RFC 4585, 6.2.1) and it can still come in time. It costs a packet and a
// round trip; a frame coded anew for the loss takes several packets of a window just halved.
//
//   The law. The last RESEND_KEPT packets are kept, of those whose numbers are 4096 apart the
//   later. One that is asked for waits, in the order of asking, and goes before all other media; it
//   is given up when it was captured before `oldest`. Each is sent again once: what is lost twice
//   is for the encoder to repair.
//
// Pure.
#ifndef WEIR_SENDER_RESEND_H
#define WEIR_SENDER_RESEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RESEND_KEPT = 128, // packets, a power of two
    RESEND_MAX_PACKET = 1500,
};

struct resend_packet { // of RTP
    const uint8_t *bytes;
    size_t len;
};

struct resend; // opaque

struct resend *resend_new(void); // NULL: no memory
void resend_free(struct resend *r);
// The packet `seq` left, in two parts; longer ones than RESEND_MAX_PACKET are not kept.
void resend_keep(struct resend *r, uint16_t seq, usec_t captured, struct resend_packet head,
                 struct resend_packet body);
// True: it is here, not older than `oldest`, and was not asked for before. It waits from now on.
bool resend_ask(struct resend *r, uint16_t seq, usec_t oldest);
// The packet to send again now; it stays valid, and the next one, until resend_done or
// resend_keep. False: none waits.
bool resend_next(struct resend *r, usec_t oldest, struct resend_packet *out);
void resend_done(struct resend *r); // it was sent

#ifdef __cplusplus
}
#endif
#endif
