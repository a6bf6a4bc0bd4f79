// SPDX-License-Identifier: GPL-2.0-or-later
// What keeps strangers out of MTP in TCP segments: keyed tags (SipHash-2-4, 64 bits).
//
// The key comes of the token that RTSP's SETUP gave the viewer.
// Protected: every slot, whole, with its 64-bit place in the sequence and so its direction; the
// client's hello; the end of the stream. Who does not know the token inserts nothing, and a slot
// put together from two versions of it is noticed. Not protected: secrecy; against somebody who
// reads the RTSP connection (he reads the token, unless it is encrypted) or repeats what he saw
// (packet numbers sort out what comes twice); TCP's acknowledgements, windows and resets, which
// have to be TCP's own: there a blind stranger has to hit sequence number, acknowledgement and
// timestamp (mtp_tcp.h).
#ifndef WEIR_MTP_MTP_TCP_KEYS_H
#define WEIR_MTP_MTP_TCP_KEYS_H

#include "common/base/siphash.h"
#include "common/base/usec.h"
#include "common/wire/tcp_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MTP_TCP_TAG = 8,    // in front of each slot
    MTP_TCP_HELLO = 24, // what the client's stream consists of
};

struct siphash_key mtp_tcp_key(uint64_t token);
// A public name of the session, by which a server finds it; it tells nothing of the token.
uint64_t mtp_tcp_id(const struct siphash_key *key);

// The tag of a slot's `len` bytes, over all behind the tag.
void mtp_tcp_seal(const struct siphash_key *key, int64_t slot, uint8_t *bytes, size_t len);
bool mtp_tcp_is_sealed(const struct siphash_key *key, int64_t slot, const uint8_t *bytes,
                       size_t len);

// The hello: id (64 bits), tag (64), "MTP", version (8), bytes of a slot (16), zero (16).
void mtp_tcp_hello_write(const struct siphash_key *key, uint16_t slot_bytes,
                         uint8_t out[MTP_TCP_HELLO]);
// False: no hello. Whether it is genuine, mtp_tcp_hello_is_good tells once the key is known.
bool mtp_tcp_hello_read(const uint8_t *data, size_t len, uint64_t *id, uint64_t *tag,
                        uint16_t *slot_bytes);
bool mtp_tcp_hello_is_good(const struct siphash_key *key, uint64_t tag, uint16_t slot_bytes);

// The tag that goes with a FIN at this place of the sequence.
uint64_t mtp_tcp_fin_tag(const struct siphash_key *key, bool server, int64_t offset);

// `secret` is the host's own, 128 random bits, for as long as it runs.
// RFC 6528, 3: ISN = M + F(addresses, ports, secret), M counting 4 us.
uint32_t mtp_tcp_isn(const struct siphash_key *secret, const struct tcp_path *path, usec_t now);
// Where this connection's timestamps begin (RFC 7323, 5.4), so that they are nobody's guess.
uint32_t mtp_tcp_time_offset(const struct siphash_key *secret, const struct tcp_path *path);
// 32 bits over a path and a word; what a SYN cookie is made of.
uint32_t mtp_tcp_cookie(const struct siphash_key *secret, const struct tcp_path *path,
                        uint64_t word);

// The timestamp for now: milliseconds, never 0, as firewalls drop that (RFC 7323, 5.4 allows both).
static inline uint32_t mtp_tcp_time(uint32_t offset, usec_t now)
{
    uint32_t t = offset + (uint32_t)(now / USEC_PER_MSEC);
    return t ? t : 1;
}

#ifdef __cplusplus
}
#endif
#endif
