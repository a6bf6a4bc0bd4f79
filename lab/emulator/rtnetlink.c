// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/rtnetlink.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

// A request under construction, sized for the largest request here.
union request {
    struct nlmsghdr head;
    uint8_t bytes[256];
};

static void begin(union request *r, uint16_t type, uint16_t flags)
{
    memset(r, 0, sizeof(*r));
    r->head = (struct nlmsghdr){.nlmsg_len = NLMSG_HDRLEN,
                                .nlmsg_type = type,
                                .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
                                .nlmsg_seq = 1};
}

static void *reserve(union request *r, size_t len)
{
    void *at = r->bytes + NLMSG_ALIGN(r->head.nlmsg_len);
    r->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->head.nlmsg_len) + len);
    assert(r->head.nlmsg_len <= sizeof(*r));
    return at;
}

static struct rtattr *attribute(union request *r, uint16_t type, const void *data, size_t len)
{
    struct rtattr *a = reserve(r, RTA_LENGTH(len));
    *a = (struct rtattr){.rta_len = (uint16_t)RTA_LENGTH(len), .rta_type = type};
    if (len)
        memcpy(RTA_DATA(a), data, len);
    return a;
}

// Makes the attributes added since `a` its content.
static void nest(union request *r, struct rtattr *a)
{
    a->rta_len = (uint16_t)(r->bytes + r->head.nlmsg_len - (uint8_t *)a);
}

// Sends the request and returns the kernel's result as an errno; 0: success.
static int exchange(int fd, union request *r)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (sendto(fd, r, r->head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        return errno;
    union {
        struct nlmsghdr head;
        uint8_t bytes[4096];
    } answer;
    ssize_t n;
    do
        n = recv(fd, &answer, sizeof(answer), 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    struct nlmsgerr verdict;
    if ((size_t)n < NLMSG_LENGTH(sizeof(verdict)) || answer.head.nlmsg_type != NLMSG_ERROR)
        return EPROTO;
    memcpy(&verdict, NLMSG_DATA(&answer.head), sizeof(verdict));
    return -verdict.error;
}

static int ask(int fd, union request *r, const char *what)
{
    int error = exchange(fd, r);
    if (!error)
        return 0;
    log_error("cannot set %s: %s", what, strerror(error));
    return ERR_IO;
}

int rtnetlink_open(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd >= 0)
        return fd;
    log_error("cannot open a netlink socket: %s", strerror(errno));
    return ERR_IO;
}

static struct ifinfomsg *begin_link(union request *r, int interface)
{
    begin(r, RTM_NEWLINK, 0);
    struct ifinfomsg *info = reserve(r, sizeof(*info));
    info->ifi_family = AF_UNSPEC;
    info->ifi_index = interface;
    return info;
}

int rtnetlink_set_link(int fd, int interface, uint32_t mtu, uint32_t queue_packets)
{
    union request r;
    begin_link(&r, interface);
    attribute(&r, IFLA_MTU, &mtu, sizeof(mtu));
    attribute(&r, IFLA_TXQLEN, &queue_packets, sizeof(queue_packets));
    int err = ask(fd, &r, "the device's MTU");
    if (err)
        return err;

    begin_link(&r, interface);
    struct rtattr *families = attribute(&r, IFLA_AF_SPEC, NULL, 0);
    struct rtattr *ipv6 = attribute(&r, AF_INET6, NULL, 0);
    uint8_t none = IN6_ADDR_GEN_MODE_NONE;
    attribute(&r, IFLA_INET6_ADDR_GEN_MODE, &none, sizeof(none));
    nest(&r, ipv6);
    nest(&r, families);
    int error = exchange(fd, &r);
    // Refused if the device has no IPv6: a kernel without it, or an MTU below the min of IPv6.
    if (error)
        log_debug("no IPv6 on the device: %s", strerror(error));
    return 0;
}

int rtnetlink_add_address(int fd, int interface, const struct ip_prefix *prefix)
{
    union request r;
    begin(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
    struct ifaddrmsg *info = reserve(&r, sizeof(*info));
    info->ifa_family = (uint8_t)prefix->family;
    info->ifa_prefixlen = prefix->bits;
    info->ifa_index = (uint32_t)interface;
    // Without duplicate address detection, so usable at once.
    info->ifa_flags = prefix->family == AF_INET6 ? IFA_F_NODAD : 0;
    size_t len = prefix->family == AF_INET6 ? 16 : 4;
    attribute(&r, IFA_LOCAL, prefix->address, len);
    attribute(&r, IFA_ADDRESS, prefix->address, len);
    return ask(fd, &r, "the device's address");
}

int rtnetlink_up(int fd, int interface)
{
    union request r;
    struct ifinfomsg *info = begin_link(&r, interface);
    info->ifi_flags = IFF_UP;
    info->ifi_change = IFF_UP;
    return ask(fd, &r, "the device up");
}
