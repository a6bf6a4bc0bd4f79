// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tcp_listen.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/udp_socket.h"

enum { BACKLOG = 1024 };

static const char *advice(int error)
{
    switch (error) {
    case EADDRINUSE:
        return "; choose another port with ";
    case EADDRNOTAVAIL:
        return "; it is not this machine's: choose another with ";
    case EACCES:
        return "; ports below 1024 take CAP_NET_BIND_SERVICE: choose another with ";
    default:
        return NULL;
    }
}

int tcp_listen(const struct sockaddr *at, const char *option)
{
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (fd >= 0 && bind(fd, at, sockaddr_len(at)) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    char text[SOCKADDR_TEXT];
    const char *why = strerror(errno);
    const char *then = advice(errno);
    sockaddr_text(at, text, sizeof(text));
    log_error("cannot listen on %s: %s%s%s%s", text, why, then ? then : "", then ? option : "",
              then ? " ADDR:PORT" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}

void tcp_listen_address(int fd, char *out, size_t cap)
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof(at);
    getsockname(fd, (struct sockaddr *)&at, &len);
    sockaddr_url_text((const struct sockaddr *)&at, out, cap);
}
