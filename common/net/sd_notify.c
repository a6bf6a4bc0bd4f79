// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/sd_notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/log.h"

// Reads NOTIFY_SOCKET: a path, or '@' and a name in the abstract namespace (unix(7)). Returns the
// address length; 0: neither.
static socklen_t address(struct sockaddr_un *out)
{
    const char *name = getenv("NOTIFY_SOCKET");
    size_t len = name ? strlen(name) : 0;
    if (len < 2 || len >= sizeof(out->sun_path) || (name[0] != '/' && name[0] != '@'))
        return 0;
    memset(out, 0, sizeof(*out));
    out->sun_family = AF_UNIX;
    memcpy(out->sun_path, name, len);
    if (name[0] == '@')
        out->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

bool sd_notify_send(const char *state)
{
    struct sockaddr_un to;
    socklen_t len = address(&to);
    if (!len)
        return false;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool sent = fd >= 0 && sendto(fd, state, strlen(state), MSG_NOSIGNAL,
                                  (const struct sockaddr *)&to, len) >= 0;
    if (!sent)
        log_warn("cannot notify systemd of \"%s\": %s", state, strerror(errno));
    if (fd >= 0)
        close(fd);
    return sent;
}

usec_t sd_notify_watchdog(void)
{
    const char *time = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    if (!time || (pid && strtol(pid, NULL, 10) != getpid()))
        return USEC_NEVER;
    char *end;
    long long usec = strtoll(time, &end, 10);
    return *end || usec <= 0 ? USEC_NEVER : (usec_t)usec;
}
