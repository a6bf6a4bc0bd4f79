// SPDX-License-Identifier: GPL-2.0-or-later
// The URL of a page of Weir, from a browser, as the RTSP URL of what the page shows: a server has
// both at one port. Pure.
#ifndef WEIR_PLAYER_POLICY_WEB_URL_H
#define WEIR_PLAYER_POLICY_WEB_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Writes rtsps:// for https:// and rtsp:// for http://, with the port that the browser uses.
// Returns false if the text is no such URL, or does not fit.
bool web_url_to_rtsp(const char *text, char *out, size_t cap);

DECLS_END
#endif
