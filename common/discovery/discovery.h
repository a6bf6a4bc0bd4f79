// SPDX-License-Identifier: GPL-2.0-or-later
// Announces a server and finds servers by DNS-SD (RFC 6763) on the local network, through
// avahi-daemon. Built without libavahi-client, nothing is announced or found.
#ifndef WEIR_DISCOVERY_DISCOVERY_H
#define WEIR_DISCOVERY_DISCOVERY_H

#include <sys/socket.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/service_text.h"

DECLS_BEGIN

enum { DISCOVERY_SERVERS = 64 }; // max. servers of one search; further ones are ignored

struct announcer;

// Announces a server that listens on `at`, until the announcer is freed, as "PROGRAM on HOST"; the
// path is cleaned (service_path_clean). A thread of its own talks to the daemon, and tries again
// every 10 s when there is none, so the caller never waits. Returns NULL if `at` is a loopback
// address, or no thread can be started (logged at debug level).
struct announcer *announcer_new(const char *program, const struct sockaddr *at, const char *path,
                                bool tls);
// Withdraws the announcement. Waits for a daemon that does not respond for at most 1 s. NULL:
// no-op.
void announcer_free(struct announcer *a);

struct found_server {
    char name[SERVICE_NAME_MAX]; // cleaned
    char url[URL_MAX_TEXT];
};

// Searches for `time` and writes the servers found, one for each name; an IPv4 address takes
// precedence. Blocks the thread. Returns how many, or ERR_UNSUPPORTED: no daemon, or built without
// libavahi-client.
int discovery_find(usec_t time, struct found_server out[DISCOVERY_SERVERS]);

DECLS_END
#endif
