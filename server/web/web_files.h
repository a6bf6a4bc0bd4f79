// SPDX-License-Identifier: GPL-2.0-or-later
// The files of the page, as they are in server/web/page. cmake/embed_files.cmake makes the table.
#ifndef WEIR_SERVER_WEB_WEB_FILES_H
#define WEIR_SERVER_WEB_WEB_FILES_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct web_file {
    const char *name; // static, such as "page.js"
    const char *bytes;
    size_t len;
};

extern const struct web_file web_files[];
extern const size_t web_file_count;

DECLS_END
#endif
