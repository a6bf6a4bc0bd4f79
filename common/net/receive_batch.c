// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/receive_batch.h"

#include <assert.h>

int receive_batch_read(struct receive_batch *b, int fd, uint8_t *buffers, size_t each, int count)
{
    assert(count > 0 && count <= RECEIVE_BATCH_MAX);
    for (int i = 0; i < count; i++) {
        b->parts[i] = (struct iovec){buffers + (size_t)i * each, each};
        b->messages[i].msg_hdr = (struct msghdr){.msg_name = &b->from[i],
                                                 .msg_namelen = sizeof(b->from[i]),
                                                 .msg_iov = &b->parts[i],
                                                 .msg_iovlen = 1,
                                                 .msg_control = b->control[i].bytes,
                                                 .msg_controllen = sizeof(b->control[i])};
    }
    return recvmmsg(fd, b->messages, (unsigned)count, MSG_DONTWAIT, NULL);
}
