// SPDX-License-Identifier: GPL-2.0-or-later
// Computes how many open files weir-send needs (RLIMIT_NOFILE). A viewer needs at most
// FILE_BUDGET_VIEWER: its RTSP connection, and two pairs of UDP ports if it is a third-party player
// that receives video and audio over UDP. A viewer with an x-weir transport needs three, one over
// TCP needs one.
#ifndef WEIR_SERVER_POLICY_FILE_BUDGET_H
#define WEIR_SERVER_POLICY_FILE_BUDGET_H

#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    FILE_BUDGET_VIEWER = 5,
    // The program's own files, those of 32 open films, and 16 viewers that are refused.
    FILE_BUDGET_OTHERS = 176,
};

// Returns the limit that `viewers` viewers need.
uint64_t file_budget_of(int viewers);
// Returns how many viewers of any kind `limit` is enough for.
int file_budget_viewers(uint64_t limit);

DECLS_END
#endif
