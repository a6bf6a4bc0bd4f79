// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tcp_info.h"

#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <linux/tcp.h> // the C library's struct tcp_info is older and shorter
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "common/base/err.h"

int tcp_info_read(int fd, struct tcp_snapshot *out)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return ERR_IO;
    *out = (struct tcp_snapshot){
        .cwnd = info.tcpi_snd_cwnd,
        .ssthresh = info.tcpi_snd_ssthresh,
        .unacked = info.tcpi_unacked,
        .sacked = info.tcpi_sacked,
        .lost = info.tcpi_lost,
        .mss = info.tcpi_snd_mss,
        .notsent_bytes = info.tcpi_notsent_bytes,
        .srtt = info.tcpi_rtt,
        .rtt_min = info.tcpi_min_rtt == UINT32_MAX ? 0 : info.tcpi_min_rtt,
        .delivery_bps = (double)info.tcpi_delivery_rate * 8,
        .bytes_acked = info.tcpi_bytes_acked,
        .bytes_sent = info.tcpi_bytes_sent,
        .bytes_retransmitted = info.tcpi_bytes_retrans,
        .segments_out = info.tcpi_data_segs_out,
        .retransmissions = info.tcpi_total_retrans,
        .ecn = info.tcpi_options & TCPI_OPT_ECN,
    };
    return 0;
}

usec_t tcp_since_ack(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return 0;
    return info.tcpi_last_ack_recv * USEC_PER_MSEC;
}

void tcp_copy_cc(int from, int to)
{
    char name[TCP_CC_NAME + 1] = "";
    socklen_t len = TCP_CC_NAME;
    if (getsockopt(from, IPPROTO_TCP, TCP_CONGESTION, name, &len) == 0)
        (void)tcp_set_cc(to, name);
}

int tcp_set_cc(int fd, const char *name)
{
    size_t len = strlen(name);
    if (!len)
        return 0;
    if (len >= TCP_CC_NAME)
        return ERR_UNSUPPORTED;
    return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)len) == 0 ? 0
                                                                                  : ERR_UNSUPPORTED;
}

int tcp_set_available_cc(int fd, const char *name)
{
    char available[256];
    tcp_available_cc(available, sizeof(available));
    size_t len = strlen(name);
    for (const char *at = available; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == len && memcmp(at, name, len) == 0)
            return tcp_set_cc(fd, name);
    return len ? ERR_UNSUPPORTED : 0;
}

uint32_t tcp_notsent_bytes(int fd)
{
    int bytes = 0;
    return ioctl(fd, SIOCOUTQNSD, &bytes) == 0 && bytes > 0 ? (uint32_t)bytes : 0;
}

void tcp_set_notsent_lowat(int fd, uint32_t bytes)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
}

void tcp_set_pacing(int fd)
{
    // Any rate but ~0 starts pacing; the kernel paces at the lower of this one and its own.
    uint32_t rate = UINT32_MAX - 1;
    setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
}

int tcp_stamp_acks(int fd, bool on)
{
    // Of the stamps only their arrival matters, so they carry no packet (TSONLY).
    uint32_t flags = on ? SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_OPT_TSONLY : 0;
    return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) == 0
               ? 0
               : ERR_UNSUPPORTED;
}

int tcp_take_stamps(int fd)
{
    int taken = 0;
    struct msghdr msg = {0};
    while (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0) {
        msg = (struct msghdr){0};
        taken++;
    }
    return taken;
}

void tcp_set_send_buffer(int fd, int bytes)
{
    int locks = 0;
    if (bytes)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    else
        setsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &locks, sizeof(locks));
}

int tcp_send_buffer(int fd)
{
    int bytes;
    socklen_t len = sizeof(bytes);
    return getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &len) == 0 ? bytes / 2 : 0;
}

void tcp_available_cc(char *out, size_t cap)
{
    out[0] = '\0';
    FILE *f = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");
    if (!f)
        return;
    if (fgets(out, (int)cap, f))
        out[strcspn(out, "\n")] = '\0';
    fclose(f);
}
