// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of dashboard.html, which the build embeds into the program.
#ifndef WEIR_SERVER_EXPORT_DASHBOARD_H
#define WEIR_SERVER_EXPORT_DASHBOARD_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

extern const char dashboard_html[]; // dashboard_len bytes, without a NUL
extern const size_t dashboard_len;

DECLS_END
#endif
