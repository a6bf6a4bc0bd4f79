// SPDX-License-Identifier: GPL-2.0-or-later
// When is a datagram path lost, of a session that can go on over its connection?
//
//   Silence. The viewer reports each packet at least once a frame (datagram_sender.h). The path is
//            silent while packets are outstanding and no useful report comes.
//   Ask.     After PATH_LOSS_ASK of silence the viewer is sent a request over the connection. A
//            viewer that does not respond does not run, or neither path passes: moving the media
//            gains nothing, and the silence says nothing of this path.
//   Lost.    PATH_LOSS_GRACE after the response, as a viewer that runs has reported by then what
//            had arrived, and after PATH_LOSS_TIME of silence, or a round trip and half of that if
//            this is longer. PATH_LOSS_PACKETS or more have left meanwhile, as one or two may get
//            lost; of fewer it takes twice as long.
//   Late.    If this machine comes late to its work (lateness.h), the reports may wait in its
//            socket, and the viewer is asked again.
//
// A queue that grows delays reports, too, but each by only some more than the one before. Rejected:
// half of the time, as a radio that pauses for 100 ms is none that is lost; a retransmission
// timeout (RFC 6298), which is a second at least; TCP's acknowledgements as the proof that the
// viewer runs, as its kernel sends them; two responses, the second of which comes too late on a
// path of 100 ms.
//
// Pure.
#ifndef WEIR_SERVER_POLICY_PATH_LOSS_H
#define WEIR_SERVER_POLICY_PATH_LOSS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/lateness.h"
#include "common/protocol/transport_info.h"

DECLS_BEGIN

#define PATH_LOSS_TIME  (200 * USEC_PER_MSEC)
#define PATH_LOSS_ASK   (100 * USEC_PER_MSEC)
#define PATH_LOSS_GRACE (50 * USEC_PER_MSEC)
// While the path is silent, it is looked at so often.
#define PATH_LOSS_LOOK (25 * USEC_PER_MSEC)
enum { PATH_LOSS_PACKETS = 3 };

struct path_loss {
    struct lateness own; // its due time: of the next look
    int asked;           // number of the last request; 0: none
    bool is_asking;      // it left in this silence
    usec_t runs_since;   // the response to it; USEC_NEVER: none yet
};

enum path_loss_step {
    PATH_LOSS_NONE,
    PATH_LOSS_REQUEST, // the caller sends request number `asked`
    PATH_LOSS_LOST,
};

void path_loss_init(struct path_loss *p);
// Media takes the path from now on.
void path_loss_begin(struct path_loss *p);
// Call it about once a frame, and at path_loss_next_timeout. `info`: of the transport on the path.
enum path_loss_step path_loss_check(struct path_loss *p, const struct transport_info *info,
                                    usec_t now);
usec_t path_loss_next_timeout(const struct path_loss *p);
// The viewer has responded to request number `number`.
void path_loss_responded(struct path_loss *p, int number, usec_t now);
// What left from then on may not have arrived, if the path is silent.
usec_t path_loss_since(const struct transport_info *info, usec_t now);

DECLS_END
#endif
