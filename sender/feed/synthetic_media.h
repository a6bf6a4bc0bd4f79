// SPDX-License-Identifier: GPL-2.0-or-later
// A stream_media of synthetic frames. They cost nothing to make, so each feed has its own time line
// and speed, on a timer. A feed stops while its viewer watches no size.
#ifndef WEIR_SENDER_FEED_SYNTHETIC_MEDIA_H
#define WEIR_SENDER_FEED_SYNTHETIC_MEDIA_H

#include "common/base/decls.h"
#include "media/coded/synthetic.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

struct stream_media *synthetic_media_new(const struct synthetic *media); // copies. NULL: no memory

DECLS_END
#endif
