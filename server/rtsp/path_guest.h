// SPDX-License-Identifier: GPL-2.0-or-later
// An HTTP request for something of the stream at a path (a picture, a recording), and whether it is
// let in: by the rules for who may watch that path.
#ifndef WEIR_SERVER_RTSP_PATH_GUEST_H
#define WEIR_SERVER_RTSP_PATH_GUEST_H

#include "common/base/usec.h"
#include "common/wire/text.h"
#include "server/access/access_guest.h"

#ifdef __cplusplus
extern "C" {
#endif

struct path_query {
    struct text path, query; // of the URL; the path of the stream, without .jpg or .mp4
    struct text authorization;
    struct text token; // of a browser's login; .len == 0: none
    bool is_secure;
    bool head;       // the method is HEAD
    bool is_chunked; // the client reads chunks (RFC 9112, 7.1)
};

// `guest`: of the connection; NULL: everybody may watch. `name`: the peer's address, for the log.
// *why: with ACCESS_REFUSED.
enum access_answer path_guest_ask(struct access_guest *guest, const struct path_query *q,
                                  const char *name, struct access_refusal *why, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
