// SPDX-License-Identifier: GPL-2.0-or-later
// The path of a request, decoded and checked: the one place where a program of Weir decides what a
// path may be, whether it names a film, a rule of access, or a path of an origin.
//
// Peers disagree about what some paths mean: one that decodes before it resolves dots takes
// "..%2fx" for "../x", one with backslashes "..\x", one with parameters (RFC 3986, 3.3) "..;/x". So
// a path is refused, never repaired, if it
//   - has an encoded slash, a backslash, or a control character, encoded or not;
//   - has an escape that is none ("%zz"), or an overlong UTF-8 sequence (RFC 3629, 10);
//   - has an empty name ("//"), or one that begins with a dot: "." and "..", also with parameters
//     behind them, and hidden files;
//   - would be refused after it is decoded once more, or more often ("%252e%252e").
// Pure.
#ifndef WEIR_WIRE_REQUEST_PATH_H
#define WEIR_WIRE_REQUEST_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    REQUEST_PATH_MAX = 1024,    // bytes of a path, with NUL
    REQUEST_URL_PATH_MAX = 960, // bytes of a path in a URL, with NUL; leaves room for the host
};

// Returns the bytes of "/trackID=0" (video) or "/trackID=1" (audio) at the end of a path of `len`
// bytes; 0 if the path names no track.
size_t request_path_track_bytes(const char *path, size_t len);
// Returns true if a path in a URL ends as those of RTSP's players may: in a track, or in a slash.
// For request_path_decode it is another spelling of the path before; in HTTP it is another
// resource.
bool request_path_is_alias(const char *url_path, size_t len);
// Converts "/sub/my%20film.mp4/trackID=0?level=2" to "sub/my film.mp4", and "/" to "". One slash at
// the end is left out. Returns 0, ERR_TOO_BIG, or ERR_MALFORMED: the path is refused (see above).
int request_path_decode(const char *url_path, char *out, size_t cap);
// Converts "sub/my film.mp4" to "/sub/my%20film.mp4" (RFC 3986, 2.3). Returns the length, ERR_FULL,
// or ERR_MALFORMED if request_path_decode would refuse the path.
int request_path_encode(const char *path, char *out, size_t cap);
// Returns true if a decoded path, without a slash at either end, keeps the rules above.
bool request_path_is_good(const char *path);
// Both must be real paths (realpath(3)). Returns true if `path` is below the folder `root` and no
// name between the two is hidden.
bool request_path_is_offered(const char *root, const char *path);

DECLS_END
#endif
