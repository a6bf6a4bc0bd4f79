// SPDX-License-Identifier: GPL-2.0-or-later
// Says at the start how viewers open the server: a URL for each of this machine's addresses that it
// listens on, and the command to copy. A URL that is printed works where it is used: plain RTSP on
// the loopback and with --insecure, else rtsps:// with the pin.
#ifndef WEIR_SERVER_RTSP_SERVER_URLS_H
#define WEIR_SERVER_RTSP_SERVER_URLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct access;
struct tls_credentials;

struct server_urls { // all borrowed
    const struct sockaddr_storage *listen;
    const char *bound;                         // "ADDR:PORT" as the socket is bound
    const char *path;                          // begins with '/'
    const struct tls_credentials *credentials; // NULL: no TLS
    const struct access *access;               // NULL: everybody may watch
    const char *key_path;                      // what a key opens: `path`, or "/" for all
    bool insecure;                             // --insecure
    bool prints_keys;                          // URLs with a key may go to stdout
    bool qr;                                   // and the one for a browser as a QR code
    bool is_example;                           // `path` is a pattern, with words in capitals
};

// Logs the addresses, and the command that opens the first one. If viewers need a key, it goes to
// stdout, if it may, with a URL for each address and that for a browser, unless stdout is the
// journal, which others read. So does the QR code, which is of the first address that other
// machines reach.
// Writes the URL without a key for the last line of the start, which programs that start this one
// wait for.
void server_urls_print(const struct server_urls *u, char *out, size_t cap);

DECLS_END
#endif
