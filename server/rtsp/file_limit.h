// SPDX-License-Identifier: GPL-2.0-or-later
// The system's limit of open files.
#ifndef WEIR_SERVER_RTSP_FILE_LIMIT_H
#define WEIR_SERVER_RTSP_FILE_LIMIT_H

#include "common/base/decls.h"

DECLS_BEGIN

// Raises the limit to what so many viewers need. `each`: how often a viewer needs the files of a
// viewer of weir-send (file_budget.h). `others`: files that are needed besides. Logs if the system
// does not allow it.
void file_limit_raise(int max_viewers, int each, int others);

DECLS_END
#endif
