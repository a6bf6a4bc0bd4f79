// SPDX-License-Identifier: GPL-2.0-or-later
// Receives many datagrams from a socket in one system call.
#ifndef WEIR_NET_RECEIVE_BATCH_H
#define WEIR_NET_RECEIVE_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    RECEIVE_BATCH_MAX = 32,     // datagrams
    RECEIVE_BATCH_CONTROL = 64, // bytes of control messages for each
};

// The struct has 7 KiB: place it on the stack, or share one among all sockets of a thread.
struct receive_batch {
    struct mmsghdr
        messages[RECEIVE_BATCH_MAX]; // msg_len: bytes; msg_hdr: the sender, the bytes, control
    struct iovec parts[RECEIVE_BATCH_MAX];
    struct sockaddr_storage from[RECEIVE_BATCH_MAX];
    union {
        struct cmsghdr aligned;
        char bytes[RECEIVE_BATCH_CONTROL];
    } control[RECEIVE_BATCH_MAX];
};

// Receives up to `count` datagrams without waiting, the i-th into `buffers` + i x `each`, truncated
// to `each` bytes. Returns how many were received; -1: none (errno).
int receive_batch_read(struct receive_batch *b, int fd, uint8_t *buffers, size_t each, int count);

DECLS_END
#endif
