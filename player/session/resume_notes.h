// SPDX-License-Identifier: GPL-2.0-or-later
// Notes where the viewer leaves films, in the file `resume` of the state directory (resume.h,
// state_dir.h). Reads and writes it on the main thread; the rest is for the loop's. Every call
// accepts NULL, which notes nothing.
#ifndef WEIR_PLAYER_SESSION_RESUME_NOTES_H
#define WEIR_PLAYER_SESSION_RESUME_NOTES_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

struct resume_notes;

// Reads the file. NULL: no memory.
struct resume_notes *resume_notes_new(void);
void resume_notes_free(struct resume_notes *n);
// A film begins that the viewer has chosen. Returns the seconds at which it was left; 0: it was
// not.
unsigned resume_notes_begin(struct resume_notes *n, const char *url, const struct sdp *sdp);
// The film is at `position`, seconds; NaN: unknown.
void resume_notes_take(struct resume_notes *n, double position);
// Writes the file, if a film was watched. Films that another player noted meanwhile stay.
void resume_notes_save(struct resume_notes *n);

DECLS_END
#endif
