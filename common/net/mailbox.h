// SPDX-License-Identifier: GPL-2.0-or-later
// A bounded queue of pointers from any thread to a loop; worker_queue.h is the counterpart to a
// waiting thread. Order is kept. When the mailbox is full (of items, or of bytes), the poster keeps
// the item and decides what to drop.
#ifndef WEIR_NET_MAILBOX_H
#define WEIR_NET_MAILBOX_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/item_ring.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct mailbox;

// Called on the loop's thread, for each item in order.
typedef void mailbox_fn(void *ctx, void *item, usec_t now);

struct mailbox *mailbox_new(uv_loop_t *loop, int capacity, mailbox_fn *fn, item_free_fn *free_item,
                            void *ctx);
// Call on the loop's thread after all posters have stopped; frees the remaining items.
void mailbox_free(struct mailbox *m);
// Any thread; false: full, the caller keeps the item.
bool mailbox_post(struct mailbox *m, void *item);
// The same, for an item that holds so many bytes. Together those that wait have at most `max`: all
// posters pass the same one. An item of more is taken if none waits with bytes.
bool mailbox_post_bytes(struct mailbox *m, void *item, size_t bytes, size_t max);

DECLS_END
#endif
