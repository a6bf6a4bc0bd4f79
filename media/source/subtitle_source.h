// SPDX-License-Identifier: GPL-2.0-or-later
// The text subtitles of a film: its own tracks (SubRip, ASS, WebVTT, 3GPP timed text), and those of
// files next to it: of NAME.mkv these are NAME.srt, NAME.LANG.srt and NAME.LANG.forced.srt, and the
// same with .ass, .ssa and .vtt. All become ASS; a file that is not UTF-8 is converted, which one
// line says (text_encoding.h). Fonts in the film are not used. The tracks' names are known at once.
// Their text is read once the first viewer asks for it, by a thread of its own, from that viewer's
// place on, and then what is before: in most containers it is spread over the whole film. It is
// read no faster than read_pace.h says. Thread-safe.
#ifndef WEIR_MEDIA_SOURCE_SUBTITLE_SOURCE_H
#define WEIR_MEDIA_SOURCE_SUBTITLE_SOURCE_H

#include "common/base/decls.h"
#include "media/coded/subtitle_list.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

struct subtitle_source;

// Reads the header of the film at `path`. `guard`, of which it takes a reference, can end any
// reading. NULL: there are no text subtitles, or the film cannot be read.
struct subtitle_source *subtitle_source_new(const char *path, struct media_guard *guard);
// Does not wait for the thread, which ends at the guard's stop. NULL is fine.
void subtitle_source_free(struct subtitle_source *s);
int subtitle_source_count(const struct subtitle_source *s); // of tracks
// The name of a track, from 1: "eng, Commentary". Borrowed.
const char *subtitle_source_name(const struct subtitle_source *s, int track);
// Returns the track that is shown unless the viewer chooses: the first that is default and forced,
// else default, else forced; 0: none.
int subtitle_source_shown(const struct subtitle_source *s);
// Writes the first cues of a track, from 1, that are shown between `from` and `until`, as far as
// they were read. Returns their number, at most `max`.
int subtitle_source_find(struct subtitle_source *s, int track, usec_t from, usec_t until,
                         struct subtitle_cue *out, int max);
// Writes the head of a track's script, as far as it was read; empty: not yet.
void subtitle_source_head(struct subtitle_source *s, int track, char out[SUBTITLE_HEAD]);

DECLS_END
#endif
