// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/listen_argument.h"

#include <stdio.h>
#include <string.h>

#include "common/net/udp_socket.h"

const char *listen_argument_read(const char *value, struct sockaddr_storage *out)
{
    static const char localhost[] = "localhost:";
    char full[128];
    const char *wrong, *host = "", *rest = value;
    size_t name = sizeof(localhost) - 1;
    if (strncmp(value, localhost, name) == 0) {
        host = "127.0.0.1:";
        rest += name;
    } else if (*value == ':') {
        host = "0.0.0.0";
    } else if (*value && !value[strspn(value, "0123456789")]) {
        host = "127.0.0.1:";
    }
    int len = snprintf(full, sizeof(full), "%s%s", host, rest);
    wrong = NULL;
    if (len < (int)sizeof(full) && sockaddr_read(full, out, &wrong) == 0)
        return NULL;
    return wrong ? wrong
                 : "expects ADDR:PORT with a numeric address, such as 0.0.0.0:8554 or [::1]:8554, "
                   "PORT for this machine only, or :PORT for all of its addresses";
}
