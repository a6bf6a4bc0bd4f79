// SPDX-License-Identifier: GPL-2.0-or-later
// The client for which a proxy sends a request. Only what the proxy itself has appended counts: the
// last item, of a proxy that is trusted. Pure.
#ifndef WEIR_SERVER_HTTP_MESSAGE_HTTP_FORWARDED_H
#define WEIR_SERVER_HTTP_MESSAGE_HTTP_FORWARDED_H

#include "common/base/decls.h"
#include "server/http/message/http_request.h"

DECLS_BEGIN

enum { HTTP_FORWARDED_TEXT = 64 }; // bytes of an address, with NUL

// Writes the address of the last item of Forwarded (RFC 7239, 4), or of X-Forwarded-For, without
// brackets and port. Returns 0; ERR_NOT_FOUND: the request has neither; ERR_MALFORMED: it has both,
// of which the client may have written one, or the item is not like an address.
int http_forwarded_client(const struct http_request *r, char out[HTTP_FORWARDED_TEXT]);

DECLS_END
#endif
