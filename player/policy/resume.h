// SPDX-License-Identifier: GPL-2.0-or-later
// Where the viewer stopped in the films that he watched last, so that the next viewing goes on
// there. Its text has a line a film, the latest last: 16 hexadecimal digits that stand for the
// film, and the seconds. It names no film: who reads the file does not learn what was watched.
// Pure.
#ifndef WEIR_PLAYER_POLICY_RESUME_H
#define WEIR_PLAYER_POLICY_RESUME_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { RESUME_FILMS = 256, RESUME_MAX_TEXT = RESUME_FILMS * 32 };

struct resume { // all zero at first
    int count;
    struct resume_film {
        uint64_t id;
        unsigned seconds;
    } film[RESUME_FILMS]; // the latest last
};

// Returns what stands for a film of this URL, title and duration: another film behind the same URL
// is another one.
uint64_t resume_id(const char *url, const char *title, double duration);
// Reads a text, and skips lines that are not of this form.
void resume_read(struct resume *r, const char *text, size_t len);
// Writes the text, and returns its length.
size_t resume_write(const struct resume *r, char out[RESUME_MAX_TEXT]);
// Returns the seconds at which to go on; 0: at the beginning.
unsigned resume_find(const struct resume *r, uint64_t id);
// The viewer has left the film at `position` of `duration` seconds. Nothing is kept of a film
// shorter than 2 minutes, of its first 15 s, and of its last 30 s or 5 %, which are the credits. Of
// more than RESUME_FILMS the oldest goes.
void resume_set(struct resume *r, uint64_t id, double position, double duration);

DECLS_END
#endif
