// SPDX-License-Identifier: GPL-2.0-or-later
// A stream_media of a stored ladder. Its feeds are stored_feed.
#ifndef WEIR_SERVER_STORED_STORED_MEDIA_H
#define WEIR_SERVER_STORED_STORED_MEDIA_H

#include "common/base/decls.h"
#include "server/session/stream_media.h"
#include "server/stored/stored_cache.h"

DECLS_BEGIN

// Takes over `cache`, even on failure. `loop`: the media starts again at its end. `has_audio`: its
// audio is sent, if it has any. NULL: no memory.
struct stream_media *stored_media_new(struct stored_cache *cache, bool loop, bool has_audio);

DECLS_END
#endif
