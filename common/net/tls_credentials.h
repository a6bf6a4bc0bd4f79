// SPDX-License-Identifier: GPL-2.0-or-later
// A server's key and certificate, for TLS, and the pin by which viewers recognise the key. Keys and
// certificates are PEM text. Any thread.
#ifndef WEIR_NET_TLS_CREDENTIALS_H
#define WEIR_NET_TLS_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    TLS_PEM_MAX = 64 * 1024, // max bytes of a key or of a chain of certificates
    TLS_PIN_BYTES = 32,
    TLS_PIN_TEXT = 72, // bytes of "sha256:" and 64 hexadecimal digits, with NUL
    TLS_MAX_ADDRESSES = 64,
};

struct tls_credentials;
struct gnutls_certificate_credentials_st;
struct gnutls_x509_crt_int;

// `certificate`: the server's, and those between it and the CA's. Returns NULL with the reason: the
// text is no certificate or key, or they do not belong together.
struct tls_credentials *tls_credentials_new(const uint8_t *certificate, size_t certificate_len,
                                            const uint8_t *key, size_t key_len, char *reason,
                                            size_t reason_cap);
void tls_credentials_free(struct tls_credentials *c); // NULL is fine
// Returns the SHA-256 of the public key (SubjectPublicKeyInfo, as in RFC 7469), as
// "sha256:" and hexadecimal digits; valid as long as `c`.
const char *tls_credentials_pin(const struct tls_credentials *c);
// For the TLS filter. Borrowed.
struct gnutls_certificate_credentials_st *tls_credentials_native(const struct tls_credentials *c);

// Writes the pin of a certificate's key. Returns 0; ERR_MALFORMED.
int tls_pin_of(struct gnutls_x509_crt_int *certificate, char out[TLS_PIN_TEXT]);

// Writes a new key (P-256) into `out`. `ctx` is not used: the function is a state_file_make.
// Returns 0, or ERR_IO or ERR_TOO_BIG (logged).
int tls_key_make(void *ctx, uint8_t *out, size_t cap, size_t *len);

// Makes a self-signed certificate of the key for these addresses, valid from 2000 on without end:
// a device may have no clock, and a viewer trusts the key, not the dates. Returns 0; ERR_IO or
// ERR_TOO_BIG (logged).
int tls_certificate_make(const uint8_t *key, size_t key_len,
                         const struct sockaddr_storage *addresses, int count, uint8_t *out,
                         size_t cap, size_t *len);
// Returns true if the certificate is of this key and names all of these addresses.
bool tls_certificate_covers(const uint8_t *certificate, size_t certificate_len, const uint8_t *key,
                            size_t key_len, const struct sockaddr_storage *addresses, int count);

DECLS_END
#endif
