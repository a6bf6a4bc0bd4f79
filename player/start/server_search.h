// SPDX-License-Identifier: GPL-2.0-or-later
// Looks for servers on this network again and again, on a thread of its own (discovery.h).
#ifndef WEIR_PLAYER_START_SERVER_SEARCH_H
#define WEIR_PLAYER_START_SERVER_SEARCH_H

#include "common/base/decls.h"
#include "player/ui/model/start_list.h"

DECLS_BEGIN

struct server_search; // opaque

// Calls `on_found` on the thread after each search; it must not block. NULL: no memory or no
// thread.
struct server_search *server_search_new(void (*on_found)(void *ctx), void *ctx);
void server_search_free(struct server_search *s); // does not wait for a search; NULL is fine
// Returns how many servers the last search has found, in `out`; ERR_AGAIN: none has ended
// yet;
// ERR_UNSUPPORTED: there is no way to look for them.
int server_search_read(struct server_search *s, struct start_item out[START_FOUND]);

DECLS_END
#endif
