// SPDX-License-Identifier: GPL-2.0-or-later
// Secure RTP (RFC 3711) of one session: encrypts and authenticates what one end sends, checks and
// decrypts what it receives. Suite AES_CM_128_HMAC_SHA1_80. Each direction has a master key of its
// own, which all SSRCs of the direction share (9.1: their SSRCs differ). The RTP header with its
// extensions stays readable, and is authenticated.
//
//   RTP:  header and extensions | encrypted payload | tag of 10 bytes
//   RTCP: first 8 bytes | encrypted rest | index of 4 bytes | tag of 10 bytes
//
// A packet sent again (same SSRC, same sequence number) must have the same payload: it becomes the
// same ciphertext. A received packet that came before, or that is older than SRTP_WINDOW packets,
// is dropped and counted.
//
// A NULL guard means plain RTP: nothing is added, and what arrives is passed on unchanged.
//
// The first sequence number of an SSRC must be below 2^15, so that both ends begin with the same
// rollover counter, even if the first packets are lost (RFC 3711, 3.3.1).
//
// Sans I/O; by libsrtp. Loop thread only.
#ifndef WEIR_SRTP_SRTP_GUARD_H
#define WEIR_SRTP_SRTP_GUARD_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    SRTP_KEY_BYTES = 30,    // master key of 16 bytes, salt of 14 bytes (RFC 4568, 6.2)
    SRTP_TAG_BYTES = 10,    // that an RTP packet grows by
    SRTCP_TAIL_BYTES = 14,  // that an RTCP compound grows by
    SRTP_MAX_PACKET = 2048, // of an encrypted packet
    // Replay window in packets; at least 64 (3.3.2). A resend may come a second after its original:
    // 1,024 packets at 12 Mbit/s.
    SRTP_WINDOW = 1024,
};

struct srtp_guard; // opaque

struct srtp_drops {
    uint64_t replayed; // came before, or older than the window
    uint64_t forged;   // wrong tag, or not RTP or RTCP at all
};

// The keys are copied. NULL: no memory, or libsrtp does not work here (logged).
struct srtp_guard *srtp_guard_new(const uint8_t send_key[SRTP_KEY_BYTES],
                                  const uint8_t receive_key[SRTP_KEY_BYTES]);
void srtp_guard_free(struct srtp_guard *g); // wipes the keys; NULL is fine

// Encrypts the packet of `*len` bytes in place. `cap`: bytes that `data` has room for, at least
// *len + SRTP_TAG_BYTES (RTP) or SRTCP_TAIL_BYTES (RTCP). 0; ERR_FULL; ERR_MALFORMED: not RTP or
// RTCP, older than SRTP_WINDOW packets, or the key's lifetime is over: it must not be sent.
int srtp_guard_seal_rtp(struct srtp_guard *g, uint8_t *data, size_t *len, size_t cap);
int srtp_guard_seal_rtcp(struct srtp_guard *g, uint8_t *data, size_t *len, size_t cap);

// Returns the bytes that an RTP packet grows by.
size_t srtp_guard_tag(const struct srtp_guard *g);

// Returns the plain packet of `*len` bytes, borrowed until the next one is opened; NULL: it is
// dropped.
const uint8_t *srtp_guard_open_rtp(struct srtp_guard *g, const uint8_t *data, size_t *len);
const uint8_t *srtp_guard_open_rtcp(struct srtp_guard *g, const uint8_t *data, size_t *len);

struct srtp_drops srtp_guard_dropped(const struct srtp_guard *g);

DECLS_END
#endif
