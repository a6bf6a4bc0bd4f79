// SPDX-License-Identifier: GPL-2.0-or-later
// The files that a session leaves behind: report, events, snapshot, contact sheet. That they can be
// written is checked before the session begins.
#ifndef WEIR_PLAYER_SESSION_OUTPUT_FILES_H
#define WEIR_PLAYER_SESSION_OUTPUT_FILES_H

#include <stdio.h>

#include "media/picture/picture.h"
#include "player/compare/contact_sheet.h"
#include "player/options/play_options.h"
#include "stream/qoe/qoe_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

// Checks every file that the options name, and opens the one for events: *events, the caller's;
// NULL when not wanted. 0, or ERR_IO (logged).
int output_files_open(const struct play_options *o, FILE **events);
// Writes what the options name. `sheet` and `last_shown` may be NULL. 0, or ERR_IO (logged):
// something was not written.
int output_files_write(const struct play_options *o, const struct qoe_json *report,
                       const struct contact_sheet *sheet, const struct picture *last_shown);

#ifdef __cplusplus
}
#endif
#endif
