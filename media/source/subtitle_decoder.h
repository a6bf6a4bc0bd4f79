// SPDX-License-Identifier: GPL-2.0-or-later
// Makes ASS events of a text track's packets, through libavcodec, and the head of the track's
// script. A track that is not ASS has the same plain style whatever it holds.
#ifndef WEIR_MEDIA_SOURCE_SUBTITLE_DECODER_H
#define WEIR_MEDIA_SOURCE_SUBTITLE_DECODER_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "common/base/decls.h"
#include "media/coded/subtitle_list.h"

DECLS_BEGIN

struct subtitle_decoder;

// `codec`: an enum AVCodecID. Returns true if it is text, not pictures.
bool subtitle_decoder_is_text(int codec);
// NULL: libavcodec cannot decode it, or no memory.
struct subtitle_decoder *subtitle_decoder_new(const AVStream *stream);
void subtitle_decoder_free(struct subtitle_decoder *d); // NULL is fine
// Returns false if the head was cut.
bool subtitle_decoder_head(const struct subtitle_decoder *d, char out[SUBTITLE_HEAD]);
// Adds the packet's cues to `list`. Returns 0, ERR_TOO_BIG if an event is longer than
// SUBTITLE_BYTES, and what subtitle_list_add returns. A packet without a text or a time adds none.
int subtitle_decoder_add(struct subtitle_decoder *d, AVPacket *packet, struct subtitle_list *list);

DECLS_END
#endif
