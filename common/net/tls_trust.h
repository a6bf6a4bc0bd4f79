// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a client trusts the key of a TLS server. The law, in this order:
//   - a pin in the URL: the SHA-256 of the public key must be it. Nothing else counts.
//   - the certificate is signed by a CA of the system, for this host: trusted.
//   - trust on first use, as ssh(1) does: the key is stored in a file; from then on the host must
//     have this key. A changed one is refused.
#ifndef WEIR_NET_TLS_TRUST_H
#define WEIR_NET_TLS_TRUST_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/net/tls_credentials.h"

DECLS_BEGIN

struct gnutls_session_int;

struct tls_trust {
    char host[256];
    int port;
    char pin[TLS_PIN_TEXT]; // empty: none
    char known_hosts[1040]; // path; empty: there is no such file, and no trust on first use
    char no_file[1024];     // then: why, and what to do; empty: not known
};

// Loads the CAs of the system, which takes a while: once in the program, by the first check that
// needs them if not before. Programs whose loop serves others call it before they begin to.
void tls_trust_load(void);

// Checks the certificate that the peer of a session has sent. Returns 0; ERR_UNTRUSTED with the
// reason, which shows both fingerprints if the key is another one.
int tls_trust_check(const struct tls_trust *t, struct gnutls_session_int *session, char *reason,
                    size_t cap);

DECLS_END
#endif
