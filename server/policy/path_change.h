// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer of live media is at another address, or its port at a NAT is another one, and has
// responded to a challenge from there (path_validation.h): may the media follow, and how does it go
// on? A pure table.
//
//   May.  While reports come from where the media goes, it stays: a token that was read on the path
//         moves no stream away from a viewer that receives it. It may go when packets are
//         outstanding and no report has told of one for PATH_CHANGE_SILENCE.
//   How.  On another path a new rate controller begins (RFC 9000, 9.4), as its packets of before
//         say nothing of it: at the rate that the connection has shown, or at that of before where
//         only the port is another, which is the same path as a rule. What left in the silence is
//         lost.
//   Back. The media has returned to the connection, since the path was lost. If the connection
//         delivers nothing either, its address is gone, too: the media takes the path again, and
//         what left since the path was lost is lost. If it delivers, the viewer requests the move
//         (path_mover.h), and nothing is lost.
//
// Pure.
#ifndef WEIR_SERVER_POLICY_PATH_CHANGE_H
#define WEIR_SERVER_POLICY_PATH_CHANGE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/protocol/transport_info.h"

DECLS_BEGIN

#define PATH_CHANGE_SILENCE (100 * USEC_PER_MSEC)

// `info`: of the transport on the path; NULL: media does not go there.
bool path_may_change(const struct transport_info *info);

struct path_change {
    bool is_in_use;   // media goes to the address
    bool other_host;  // it is not the host of before
    bool other_port;  // nor its port
    bool was_lost;    // media has returned from the path to the connection
    bool home_stands; // since then the connection has delivered nothing
};

enum path_step {
    PATH_STEP_NONE,
    PATH_STEP_ANEW,    // a new controller, at the rate that the connection has shown
    PATH_STEP_GOES_ON, // a new controller, at the rate of the one before
    PATH_STEP_BACK,    // from the connection to the path
};
enum path_step path_step_of(const struct path_change *c);

DECLS_END
#endif
