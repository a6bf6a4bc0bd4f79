// SPDX-License-Identifier: GPL-2.0-or-later
// The file `recent` of the state directory (state_dir.h), with the URLs that were played last. It
// waits for the disk.
#ifndef WEIR_PLAYER_START_RECENT_FILE_H
#define WEIR_PLAYER_START_RECENT_FILE_H

#include "common/base/decls.h"
#include "player/policy/recent_urls.h"

DECLS_BEGIN

void recent_file_read(struct recent_urls *out); // empty: there is none, or it cannot be read
// The URL was played now. URLs that another player noted meanwhile stay.
void recent_file_note(const struct url *url);

DECLS_END
#endif
