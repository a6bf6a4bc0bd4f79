// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/own_addresses.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "common/net/udp_socket.h"

bool address_is_any(const struct sockaddr *a)
{
    struct sockaddr_in6 v6;
    struct sockaddr_in v4;
    if (a->sa_family == AF_INET6) {
        memcpy(&v6, a, sizeof(v6));
        return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
    }
    memcpy(&v4, a, sizeof(v4));
    return a->sa_family == AF_INET && v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

static bool is_link_local(const struct sockaddr *a)
{
    struct sockaddr_in6 v6;
    if (a->sa_family != AF_INET6)
        return false;
    memcpy(&v6, a, sizeof(v6));
    return IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr);
}

int own_addresses(const struct sockaddr *listen, struct sockaddr_storage *out, int max)
{
    static const struct {
        int family;
        bool loopback;
    } order[] = {{AF_INET, false}, {AF_INET6, false}, {AF_INET, true}, {AF_INET6, true}};
    struct ifaddrs *all;
    int count = 0;
    memset(out, 0, (size_t)max * sizeof(*out));
    if (!address_is_any(listen)) {
        memcpy(&out[0], listen, sockaddr_len(listen));
        sockaddr_set_port((struct sockaddr *)&out[0], 0);
        return 1;
    }
    if (getifaddrs(&all) != 0)
        return 0;
    for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
        for (const struct ifaddrs *i = all; i && count < max; i = i->ifa_next) {
            const struct sockaddr *a = i->ifa_addr;
            bool fits = a && (i->ifa_flags & IFF_UP) && a->sa_family == order[k].family &&
                        (a->sa_family == listen->sa_family || listen->sa_family == AF_INET6) &&
                        !is_link_local(a) && sockaddr_is_loopback(a) == order[k].loopback;
            if (fits)
                memcpy(&out[count++], a, sockaddr_len(a));
        }
    }
    freeifaddrs(all);
    return count;
}

bool address_is_own(const struct sockaddr *a)
{
    struct sockaddr_storage at = {0};
    memcpy(&at, a, sockaddr_len(a));
    sockaddr_set_port((struct sockaddr *)&at, 0);
    int fd = socket(a->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_own =
        fd < 0 || bind(fd, (struct sockaddr *)&at, sockaddr_len(a)) == 0 || errno != EADDRNOTAVAIL;
    if (fd >= 0)
        close(fd);
    return is_own;
}
