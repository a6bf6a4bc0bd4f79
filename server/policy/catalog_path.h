// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the path of a URL to a path below a folder, and back. Pure.
#ifndef WEIR_SERVER_POLICY_CATALOG_PATH_H
#define WEIR_SERVER_POLICY_CATALOG_PATH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CATALOG_PATH_MAX = 1024,    // bytes of a path, with NUL
    CATALOG_URL_PATH_MAX = 960, // bytes of a path in a URL, with NUL; leaves room for the host
};

// Returns the bytes of "/trackID=0" (video) or "/trackID=1" (audio) at the end of a path of `len`
// bytes; 0 if the path names no track.
size_t catalog_path_track_bytes(const char *path, size_t len);
// Converts "/sub/my%20film.mp4/trackID=0?level=2" to "sub/my film.mp4", and "/" to "". Returns 0,
// ERR_TOO_BIG, or ERR_MALFORMED for bad escapes, control characters, empty names, and names that
// begin with a dot (".." and hidden files).
int catalog_path_decode(const char *url_path, char *out, size_t cap);
// Converts "sub/my film.mp4" to "/sub/my%20film.mp4" (RFC 3986, 2.3). Returns the length, ERR_FULL,
// or ERR_MALFORMED if catalog_path_decode would refuse the path.
int catalog_path_encode(const char *path, char *out, size_t cap);
// Both must be real paths (realpath(3)). Returns true if `path` is below the folder `root` and no
// name between the two is hidden.
bool catalog_path_is_offered(const char *root, const char *path);

#ifdef __cplusplus
}
#endif
#endif
