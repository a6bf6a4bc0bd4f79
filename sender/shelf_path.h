// SPDX-License-Identifier: GPL-2.0-or-later
// The path of a URL as a path below a folder, and back. Pure.
#ifndef WEIR_SENDER_SHELF_PATH_H
#define WEIR_SENDER_SHELF_PATH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHELF_PATH_MAX = 1024 }; // bytes with NUL

// Of "/trackID=0" (pictures) or "/trackID=1" (sound) at the end of so long a path; 0: it names no
// track.
size_t shelf_path_track_bytes(const char *path, size_t len);
// "/sub/my%20film.mp4/trackID=0?level=2" becomes "sub/my film.mp4"; "/" the empty text. 0;
// ERR_MALFORMED: bad escapes, control characters, empty names; names that begin with a dot, so ".."
// and all that is hidden; ERR_TOO_BIG.
int shelf_path_decode(const char *url_path, char *out, size_t cap);
// "sub/my film.mp4" becomes "/sub/my%20film.mp4" (RFC 3986, 2.3). The length or ERR_FULL.
int shelf_path_encode(const char *path, char *out, size_t cap);
// Is `path`, a real one, below the folder `root`, a real one too?
bool shelf_path_is_below(const char *root, const char *path);

#ifdef __cplusplus
}
#endif
#endif
