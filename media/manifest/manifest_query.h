// SPDX-License-Identifier: GPL-2.0-or-later
// Adds a query to each URI of a playlist or of an MPD, so that a key that opened it opens the files
// that it names: players send the URI's own query, and not that of the playlist.
#ifndef WEIR_MEDIA_MANIFEST_MANIFEST_QUERY_H
#define WEIR_MEDIA_MANIFEST_MANIFEST_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Returns true if the value needs no escape in a URI, in a quoted string of HLS and in an attribute
// of XML: unreserved characters (RFC 3986, 2.3) alone.
bool manifest_query_is_plain(const char *value);
// Writes the text, of `len` bytes without NUL, as hls_playlist.h and dash_manifest.h write it, with
// "?NAME=VALUE" after each URI. Returns the bytes of all of it: if that is more than `cap`, the end
// is missing.
size_t manifest_query_add(const char *text, size_t len, const char *name, const char *value,
                          char *out, size_t cap);

DECLS_END
#endif
