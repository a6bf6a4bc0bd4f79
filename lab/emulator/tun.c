// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "lab/emulator/netns.h"

// Packets that may wait to be read: longer than any delay of this process, so that only the
// emulated queue drops packets.
enum { QUEUE_PACKETS = 10000 };

static int open_device(void)
{
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    // Rights within a user namespace do not help here: the device file itself is closed.
    if (errno == EACCES || errno == EPERM)
        log_error("cannot open /dev/net/tun: its mode excludes this user, also inside unshare "
                  "-Urn (run as root, or have root run 'chmod 0666 /dev/net/tun', the usual mode)");
    else
        log_error("cannot open /dev/net/tun: %s (load it with 'modprobe tun')", strerror(errno));
    return ERR_IO;
}

// Without IFF_VNET_HDR the kernel delivers no packet that still requires segmentation or a
// checksum.
static int create(int fd, const char *name)
{
    struct ifreq request = {.ifr_flags = (short)(IFF_TUN | IFF_NO_PI | IFF_TUN_EXCL)};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (ioctl(fd, TUNSETIFF, &request) == 0)
        return 0;
    if (errno == EPERM)
        log_error("cannot create the device %s: %s", name, NETNS_PERMISSION_HINT);
    else
        log_error("cannot create the device %s: %s", name,
                  errno == EBUSY ? "the namespace already has a device of that name"
                                 : strerror(errno));
    return ERR_IO;
}

static int configure(const struct tun_config *config)
{
    int rtnetlink = rtnetlink_open();
    if (rtnetlink < 0)
        return rtnetlink;
    int interface = (int)if_nametoindex(config->name);
    int err = rtnetlink_set_link(rtnetlink, interface, config->mtu, QUEUE_PACKETS);
    for (int i = 0; i < config->address_count && err == 0; i++)
        err = rtnetlink_add_address(rtnetlink, interface, &config->addresses[i]);
    if (err == 0)
        err = rtnetlink_up(rtnetlink, interface);
    close(rtnetlink);
    return err;
}

// Opens the device in the namespace of the calling thread.
static int open_here(const struct tun_config *config)
{
    int fd = open_device();
    if (fd < 0)
        return fd;
    int err = create(fd, config->name);
    if (err == 0)
        err = configure(config);
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

int tun_open(const struct tun_config *config)
{
    int fd;
    int home = netns_open("self");
    if (home < 0)
        return home;
    int away = fd = netns_open(config->netns);
    if (away < 0)
        goto close_home;
    if (strcmp(config->netns, "self") == 0) { // nothing to enter, and no privilege required
        fd = open_here(config);
        goto close_away;
    }
    fd = netns_enter(away);
    if (fd < 0)
        goto close_away;
    fd = open_here(config);
    if (netns_enter(home) != 0) {
        if (fd >= 0)
            close(fd);
        fd = ERR_IO;
    }

close_away:
    close(away);
close_home:
    close(home);
    return fd;
}
