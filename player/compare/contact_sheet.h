// SPDX-License-Identifier: GPL-2.0-or-later
// A grid of twelve of the pictures shown, spread evenly over a session of unknown length. Keeps at
// most twice as many small copies; when that many are kept, every second one is dropped and the
// interval between copies doubles. One thread at a time.
#ifndef WEIR_PLAYER_COMPARE_CONTACT_SHEET_H
#define WEIR_PLAYER_COMPARE_CONTACT_SHEET_H

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

enum {
    CONTACT_SHEET_COLUMNS = 4,
    CONTACT_SHEET_ROWS = 3,
    CONTACT_SHEET_WIDTH = 320, // pixels of one picture
};

struct contact_sheet;

struct contact_sheet *contact_sheet_new(void);    // NULL: no memory
void contact_sheet_free(struct contact_sheet *c); // NULL is fine
// A picture was shown at `at`. Keeps it only if the interval since the last kept one is over.
void contact_sheet_add(struct contact_sheet *c, const struct picture *p, usec_t at);
int contact_sheet_count(const struct contact_sheet *c); // pictures kept now
// Returns 0; ERR_NOT_FOUND: no picture was shown; ERR_NO_MEMORY; ERR_IO (logged).
int contact_sheet_write(const struct contact_sheet *c, const char *path);

DECLS_END
#endif
