// SPDX-License-Identifier: GPL-2.0-or-later
// A stream_media that is encoded as it is sent. All viewers share a live_feed: its encoders and its
// time line. Each coded frame goes to every viewer's sink.
#ifndef WEIR_SENDER_FEED_LIVE_MEDIA_H
#define WEIR_SENDER_FEED_LIVE_MEDIA_H

#include "common/base/decls.h"
#include "media/encode/video_engine.h"
#include "media/source/audio_source.h"
#include "media/source/source.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

// Any thread. Encodes pictures from `source`, which it takes over, even on failure. `codec` and
// `engine`: of live_feed_new. NULL: logged.
struct stream_media *live_media_new(struct source *source, const struct ladder *ladder,
                                    enum sdp_codec codec, const struct video_engine *engine);
// Of live media: a machine that does not keep up encodes less (encode_load.h). Call it before the
// media is started.
void live_media_lower_when_slow(struct stream_media *m);
// Any thread. Adds an audio track to media of live_media_new and takes over the source, even on
// failure; call it before it is started. Viewers hear the first track unless they choose another
// one. Returns 0, ERR_FULL, or ERR_NO_MEMORY (logged).
int live_media_add_audio(struct stream_media *m, struct audio_source *audio, int bitrate_bps);

DECLS_END
#endif
