// SPDX-License-Identifier: GPL-2.0-or-later
// The bit rates that playlists state (RFC 8216, 4.1 and 4.3.4.2: BANDWIDTH, AVERAGE-BANDWIDTH; of
// the MPD @bandwidth).
//
// Of media that is being encoded they are bounds. The encoder keeps a level's rate within 9.5 %
// over any 2 s (layer_rate.h), Opus and AAC theirs within 10 %. The files add 16 bytes a sample
// (trun) and 200 bytes a part (its other boxes).
//
// Of a prepared film they come from its table, whose groups are the segments:
//
//     bandwidth = max over the segments of 8 x bytes / duration
//     average   = 8 x sum of bytes / sum of durations
//
// The table rounds sizes by up to 2.2 %; for the bandwidth each counts as the largest that it can
// be, so it is up to 4.5 % too high, and never too low. A last segment shorter than half the others
// counts with the one before (RFC 8216, 4.1: sets of 0.5 to 1.5 target durations), and alone
// against the length of the others, which is what the MPD has as minBufferTime.
#ifndef WEIR_SENDER_HTTP_RENDITION_RATES_H
#define WEIR_SENDER_HTTP_RENDITION_RATES_H

#include "common/base/decls.h"
#include "media/manifest/manifest.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

void rendition_rates_video(struct manifest_rendition *r, int bitrate_bps);
void rendition_rates_audio(struct manifest_rendition *r, int bitrate_bps, int samples_of_packet);
// `level` exists in the table; r->frame_rate is known.
void rendition_rates_film(struct manifest_rendition *r, const struct film_table *t, int level);

DECLS_END
#endif
