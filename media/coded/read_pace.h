// SPDX-License-Identifier: GPL-2.0-or-later
// How fast a file is read in the background.
//
//   The law: READ_PACE_FREE bytes are read at once; of the further ones at most READ_PACE_RATE a
//   second, counted from the beginning. So viewers of other films find the disk free most of the
//   time. Pure.
#ifndef WEIR_MEDIA_CODED_READ_PACE_H
#define WEIR_MEDIA_CODED_READ_PACE_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { READ_PACE_FREE = 32 << 20, READ_PACE_RATE = 16 << 20 };

// Returns when the reading may go on that began at `begun` and has read `bytes`.
usec_t read_pace_due(usec_t begun, int64_t bytes);

DECLS_END
#endif
