// SPDX-License-Identifier: GPL-2.0-or-later
// The path of a URL as a path below a folder, and back. Pure.
#ifndef WEIR_SENDER_POLICY_CATALOG_PATH_H
#define WEIR_SENDER_POLICY_CATALOG_PATH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CATALOG_PATH_MAX = 1024,  // bytes with NUL
    SHELF_URL_PATH_MAX = 960, // likewise, of a path in a URL that has room for a host beside it
};

// Of "/trackID=0" (pictures) or "/trackID=1" (sound) at the end of so long a path; 0: it names no
// track.
size_t catalog_path_track_bytes(const char *path, size_t len);
// "/sub/my%20film.mp4/trackID=0?level=2" becomes "sub/my film.mp4"; "/" the empty text. 0;
// ERR_MALFORMED: bad escapes, control characters, empty names; names that begin with a dot, so ".."
// and all that is hidden; ERR_TOO_BIG.
int catalog_path_decode(const char *url_path, char *out, size_t cap);
// "sub/my film.mp4" becomes "/sub/my%20film.mp4" (RFC 3986, 2.3). The length, ERR_FULL, or
// ERR_MALFORMED: catalog_path_decode would refuse it.
int catalog_path_encode(const char *path, char *out, size_t cap);
// Both are real paths (realpath(3)). Returns true if `path` is below the folder `root`, and nothing
// between the two is hidden.
bool catalog_path_is_offered(const char *root, const char *path);

#ifdef __cplusplus
}
#endif
#endif
