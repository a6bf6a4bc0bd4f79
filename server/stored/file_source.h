// SPDX-License-Identifier: GPL-2.0-or-later
// A group_source of a prepared file.
#ifndef WEIR_SERVER_STORED_FILE_SOURCE_H
#define WEIR_SERVER_STORED_FILE_SOURCE_H

#include "common/base/decls.h"
#include "media/source/media_guard.h"
#include "server/stored/group_source.h"

DECLS_BEGIN

// Any thread. Arguments and *err as of stored_file_open. Returns NULL on failure, which it logs.
struct group_source *file_source_open(const char *path, struct media_guard *guard, int *err);

DECLS_END
#endif
