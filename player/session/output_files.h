// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the output files of a session: report, events, snapshot, contact sheet. Before the session
// it checks that they can be written.
#ifndef WEIR_PLAYER_SESSION_OUTPUT_FILES_H
#define WEIR_PLAYER_SESSION_OUTPUT_FILES_H

#include <stdio.h>

#include "common/base/decls.h"
#include "media/picture/picture.h"
#include "player/compare/contact_sheet.h"
#include "player/options/play_options.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

// Checks every file of the options, and opens the events file: *events belongs to the caller; NULL
// if there is none. 0, or ERR_IO (logged).
int output_files_open(const struct play_options *o, FILE **events);
// Writes the files of the options. `sheet` and `last_shown` may be NULL. 0, or ERR_IO (logged): a
// file was not written.
int output_files_write(const struct play_options *o, const struct qoe_json *report,
                       const struct contact_sheet *sheet, const struct picture *last_shown);

DECLS_END
#endif
