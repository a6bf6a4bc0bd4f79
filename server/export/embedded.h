// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of files of this folder, which the build embeds into the program: dashboard.html and
// openapi.json. Their bytes have no NUL at the end.
#ifndef WEIR_SERVER_EXPORT_EMBEDDED_H
#define WEIR_SERVER_EXPORT_EMBEDDED_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

extern const char dashboard_html[];
extern const size_t dashboard_html_len;
extern const char openapi_json[];
extern const size_t openapi_json_len;

DECLS_END
#endif
