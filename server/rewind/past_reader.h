// SPDX-License-Identifier: GPL-2.0-or-later
// One viewer's reading of a recording, on a thread of its own. The loop never waits for it: it asks
// for a place or for the next group, and looks for the answer. A disk that does not respond holds
// up this viewer only, and its thread is left behind with what it owns. While PAST_READERS_LEFT
// threads are left behind, no further one is started.
#ifndef WEIR_SERVER_REWIND_PAST_READER_H
#define WEIR_SERVER_REWIND_PAST_READER_H

#include "common/base/decls.h"
#include "media/record/record_past.h"

DECLS_BEGIN

struct past_reader;

enum { PAST_READERS_LEFT = 8 };

// `pattern`: record_name.h. NULL: no memory, no thread, or too many threads hang.
struct past_reader *past_reader_new(const char *pattern);
void past_reader_free(struct past_reader *r); // does not wait for the disk. NULL is fine
// Asks for the group at the newest key frame that was captured up to `wall`. What was asked for
// before is not answered.
void past_reader_seek(struct past_reader *r, usec_t wall);
void past_reader_next(struct past_reader *r); // asks for the group that follows
// Returns 0 with a group, which the caller owns; ERR_AGAIN: no answer yet, or nothing was asked
// for; ERR_END: nothing follows yet, ask again later; ERR_NOT_FOUND, ERR_NO_MEMORY.
int past_reader_poll(struct past_reader *r, struct record_group **out);

DECLS_END
#endif
