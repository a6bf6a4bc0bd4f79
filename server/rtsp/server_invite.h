// SPDX-License-Identifier: GPL-2.0-or-later
// --invite: prints a URL with a key, for one more viewer.
#ifndef WEIR_SERVER_RTSP_SERVER_INVITE_H
#define WEIR_SERVER_RTSP_SERVER_INVITE_H

#include <sys/socket.h>

#include "server/access/access_options.h"
#include "server/rtsp/server_tls.h"

#ifdef __cplusplus
extern "C" {
#endif

struct server_invite {                    // all borrowed
    const struct access_options *options; // with `invite`
    const struct sockaddr_storage *listen;
    const struct sockaddr_storage *metrics; // AF_UNSPEC: none
    const char *certificate, *key;          // as struct server_tls_config has them
    const char *state_dir;                  // NULL: not given
};

// Prints the URL to stdout. Returns the exit code of the program; faults are logged.
int server_invite(const struct server_invite *invite);

// Prints to stdout how viewers open the server: its URL with a key that never expires. In a service
// stdout is the journal, which others read: then it prints nothing.
void server_invite_all(const struct access *a, const struct sockaddr_storage *listen,
                       const char *bound, const char *path,
                       const struct tls_credentials *credentials);

#ifdef __cplusplus
}
#endif
#endif
