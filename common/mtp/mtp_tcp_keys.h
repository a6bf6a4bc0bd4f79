// SPDX-License-Identifier: GPL-2.0-or-later
// Protects MTP in TCP segments against third parties: keyed tags (SipHash-2-4, 64 bits).
//
// The key is derived from the token that the viewer got in RTSP's SETUP.
// Protected: every whole slot, with its 64-bit position in the sequence and thereby its direction;
// the client's hello; the end of the stream. Without the token, a third party cannot insert data,
// and a slot assembled from two versions is detected.
// Not protected: confidentiality; against a party that reads the RTSP connection (and so the token,
// unless it is encrypted) or replays what it saw (packet numbers detect duplicates); TCP's
// acknowledgements, windows and resets, which must be TCP's own. A blind third party must guess
// sequence number, acknowledgement and timestamp for those (mtp_tcp.h).
#ifndef WEIR_MTP_MTP_TCP_KEYS_H
#define WEIR_MTP_MTP_TCP_KEYS_H

#include "common/base/decls.h"
#include "common/base/siphash.h"
#include "common/base/usec.h"
#include "common/wire/tcp_segment.h"

DECLS_BEGIN

enum {
    MTP_TCP_TAG = 8,    // at the start of each slot
    MTP_TCP_HELLO = 24, // size of the client's whole stream
};

struct siphash_key mtp_tcp_key(uint64_t token);
// Returns a public id of the session, by which a server finds it; it does not reveal the token.
uint64_t mtp_tcp_id(const struct siphash_key *key);

// Computes or checks the tag of a slot's `len` bytes, over all bytes after the tag.
void mtp_tcp_seal(const struct siphash_key *key, int64_t slot, uint8_t *bytes, size_t len);
bool mtp_tcp_is_sealed(const struct siphash_key *key, int64_t slot, const uint8_t *bytes,
                       size_t len);

// The hello: id (64 bits), tag (64), "MTP", version (8), slot size in bytes (16), zero (16).
void mtp_tcp_hello_write(const struct siphash_key *key, uint16_t slot_bytes,
                         uint8_t out[MTP_TCP_HELLO]);
// Returns false if it is no hello. mtp_tcp_hello_is_good() checks the tag once the key is known.
bool mtp_tcp_hello_read(const uint8_t *data, size_t len, uint64_t *id, uint64_t *tag,
                        uint16_t *slot_bytes);
bool mtp_tcp_hello_is_good(const struct siphash_key *key, uint64_t tag, uint16_t slot_bytes);

// Returns the tag of a FIN at this offset of the sequence.
uint64_t mtp_tcp_fin_tag(const struct siphash_key *key, bool server, int64_t offset);

// Returns the initial sequence number (RFC 6528, 3): ISN = M + F(addresses, ports, secret), M
// counting 4 us. `secret` is the host's own: 128 random bits, constant while the program runs.
uint32_t mtp_tcp_isn(const struct siphash_key *secret, const struct tcp_path *path, usec_t now);
// Returns where this connection's timestamps begin (RFC 7323, 5.4), so that they cannot be guessed.
uint32_t mtp_tcp_time_offset(const struct siphash_key *secret, const struct tcp_path *path);
// Returns 32 bits over a path and a word; SYN cookies are made of them.
uint32_t mtp_tcp_cookie(const struct siphash_key *secret, const struct tcp_path *path,
                        uint64_t word);

// Returns the timestamp for now: milliseconds, never 0, as firewalls drop that (RFC 7323, 5.4
// allows both).
static inline uint32_t mtp_tcp_time(uint32_t offset, usec_t now)
{
    uint32_t t = offset + (uint32_t)(now / USEC_PER_MSEC);
    return t ? t : 1;
}

DECLS_END
#endif
