// SPDX-License-Identifier: GPL-2.0-or-later
// The server's key and certificate: of the user, or made once and kept in the state directory; and
// the URL that a viewer is given.
#ifndef WEIR_SERVER_RTSP_SERVER_TLS_H
#define WEIR_SERVER_RTSP_SERVER_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct tls_credentials;

struct server_tls_config {
    const struct sockaddr_storage *listen;
    const char *certificate; // --tls-cert, a file; NULL: not given. `key` is given with it
    const char *key;         // --tls-key
    const char *state_dir;   // --state-dir; NULL: not given
    bool insecure;           // --insecure: off the loopback there may be no TLS
};

// Writes the credentials to *out; NULL: the server has none. Of the state directory it uses
// `tls-key.pem`, and `tls-cert.pem`, which is renewed when the addresses change. On the loopback
// nothing is made unless --state-dir is given: a key that exists is used. Returns 0; an error
// (logged). Where neither an option names the files nor TLS is required, there is no TLS then.
int server_tls_open(const struct server_tls_config *config, struct tls_credentials **out);

enum { SERVER_URL_MAX = 1536 };

// Writes the URL for viewers: rtsps:// with the pin, or rtsp:// if `credentials` is NULL. `path`
// begins with '/'; `key`: for ?key=; "" is none. `bound`: "ADDR:PORT" as the socket is bound. For
// every address it names one of the machine's.
void server_url(const struct sockaddr_storage *listen, const char *bound, const char *path,
                const char *key, const struct tls_credentials *credentials, char *out, size_t cap);

DECLS_END
#endif
