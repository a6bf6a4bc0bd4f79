// SPDX-License-Identifier: GPL-2.0-or-later
// --invite: prints a URL with a key, for one more viewer.
#ifndef WEIR_SERVER_RTSP_SERVER_INVITE_H
#define WEIR_SERVER_RTSP_SERVER_INVITE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/base/decls.h"
#include "server/access/access_options.h"
#include "server/rtsp/server_tls.h"

DECLS_BEGIN

struct server_invite {                    // all borrowed
    const struct access_options *options; // with `invite`
    const struct sockaddr_storage *listen;
    const struct sockaddr_storage *metrics; // AF_UNSPEC: none
    const char *certificate, *key;          // as struct server_tls_config has them
    const char *state_dir;                  // NULL: not given
};

// Prints the URL to stdout. Returns the exit code of the program; faults are logged.
int server_invite(const struct server_invite *invite);

// Returns true if a file is the connection with the journal that $JOURNAL_STREAM names as
// "DEVICE:INODE" (systemd.exec(5)): whatever a service starts inherits the variable, but may write
// elsewhere. `value` may be NULL.
bool server_invite_is_journal(const char *value, const struct stat *file);

DECLS_END
#endif
