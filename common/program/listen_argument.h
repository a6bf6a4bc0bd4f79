// SPDX-License-Identifier: GPL-2.0-or-later
// Where a server is to listen, as people write it on the command line:
//
//     127.0.0.1:8554, [::1]:8554, [fe80::1%eth0]:8554    this address
//     8554, localhost:8554                               127.0.0.1, as without the option
//     :8554                                              all IPv4 addresses of the machine
#ifndef WEIR_PROGRAM_LISTEN_ARGUMENT_H
#define WEIR_PROGRAM_LISTEN_ARGUMENT_H

#include <sys/socket.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Returns NULL, or what is wrong, a static text.
const char *listen_argument_read(const char *value, struct sockaddr_storage *out);

DECLS_END
#endif
