// SPDX-License-Identifier: GPL-2.0-or-later
// The page dashboard.html; the build puts it into the program.
#ifndef WEIR_SENDER_EXPORT_DASHBOARD_H
#define WEIR_SENDER_EXPORT_DASHBOARD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const char dashboard_html[]; // not terminated
extern const size_t dashboard_len;

#ifdef __cplusplus
}
#endif
#endif
