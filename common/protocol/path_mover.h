// SPDX-License-Identifier: GPL-2.0-or-later
// Decides when a viewer requests that its media leave the RTSP connection and take the second path,
// which the server has offered (RTSP_BESIDE_HEADER).
//
//   Try.   It sends tokens (path_validation.h) for PATH_MOVER_TRY at most. When the server's
//          datagrams have reached it, it requests the move, once media plays. Media follows
//          within PATH_MOVER_TRY; otherwise the try has failed.
//   Again. The server moves the media back when it hears nothing more. The next try comes after
//          PATH_MOVER_WAIT, which doubles with each, up to PATH_MOVER_MAX_WAIT; after a try that
//          failed PATH_MOVER_FAILED at least, as a network that blocks datagrams goes on to do
//          so. After the media has stayed on the path for PATH_MOVER_STAY, the wait is short again.
//
// Pure.
#ifndef WEIR_PROTOCOL_PATH_MOVER_H
#define WEIR_PROTOCOL_PATH_MOVER_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define PATH_MOVER_TRY      (5 * USEC_PER_SEC)
#define PATH_MOVER_WAIT     USEC_PER_SEC
#define PATH_MOVER_FAILED   (10 * USEC_PER_SEC)
#define PATH_MOVER_MAX_WAIT (300 * USEC_PER_SEC)
#define PATH_MOVER_STAY     (30 * USEC_PER_SEC)

enum path_mover_state {
    PATH_NOT_OFFERED,
    PATH_WAITING, // for the next try
    PATH_TRYING,
    PATH_REQUESTED,
    PATH_BESIDE, // media comes beside the connection
};

struct path_mover { // all zero at first
    enum path_mover_state state;
    usec_t due;  // of the next step; PATH_BESIDE: when it began
    usec_t wait; // before the next try
};

// The server has offered the path: the first try begins at `now`.
void path_mover_begin(struct path_mover *m, usec_t now);
usec_t path_mover_next_timeout(const struct path_mover *m); // USEC_NEVER: none
// Returns true if a try begins: the caller sends tokens.
bool path_mover_on_timeout(struct path_mover *m, usec_t now);
// The server's datagrams arrive. Returns true if the caller requests the move.
bool path_mover_validated(struct path_mover *m, usec_t now);
void path_mover_refused(struct path_mover *m, usec_t now); // the request
// Media comes beside the connection, or over it again.
void path_mover_moved(struct path_mover *m, bool beside, usec_t now);

DECLS_END
#endif
