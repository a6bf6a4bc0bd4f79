// SPDX-License-Identifier: GPL-2.0-or-later
// The server's end of a WebSocket (RFC 6455) as a filter of a tcp_conn: its messages carry a byte
// stream. Boundaries of received messages have no meaning; each write is one binary message.
// Extensions are never negotiated, so nothing is compressed. Uses libwslay for the frames.
//
// Limits: WEBSOCKET_FRAME_MAX bytes of a received frame. Payload is passed on as it comes, so a
// message may have any length. Of several pings that are received together the last is answered
// (5.5.3).
#ifndef WEIR_SERVER_WEB_WEBSOCKET_H
#define WEIR_SERVER_WEB_WEBSOCKET_H

#include "common/base/decls.h"
#include "common/net/tcp_filter.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum {
    WEBSOCKET_FRAME_MAX = 128 * 1024, // bytes of payload
    WEBSOCKET_ACCEPT_TEXT = 29,       // bytes with NUL
};

// Returns NULL if there is no memory. The errors that end the connection: ERR_MALFORMED (a frame
// without a mask, a reserved bit, a wrong sequence of frames), ERR_TOO_BIG, ERR_CLOSED (a close
// frame came, and was answered), ERR_NO_MEMORY.
struct tcp_filter *websocket_new(void);
// Writes Sec-WebSocket-Accept for the request's Sec-WebSocket-Key (4.2.2). Returns 0;
// ERR_MALFORMED: the key is not 16 bytes in base64; ERR_IO: the library failed.
int websocket_accept_key(struct text key, char out[WEBSOCKET_ACCEPT_TEXT]);

DECLS_END
#endif
