// SPDX-License-Identifier: GPL-2.0-or-later
// What a request to the HTTP server of `--http` asks for: its path, the query of a blocking reload
// (RFC 8216bis, 6.2.5.2) and its Range header (RFC 9110, 14.2). All of them are from outside.
#ifndef WEIR_SERVER_POLICY_HTTP_TARGET_H
#define WEIR_SERVER_POLICY_HTTP_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum http_file {
    HTTP_MULTIVARIANT, // MOUNT/index.m3u8
    HTTP_MPD,          // MOUNT/index.mpd
    HTTP_PLAYLIST,     // MOUNT/NAME.m3u8
    HTTP_INIT,         // MOUNT/TOKEN/NAME.mp4
    HTTP_SEGMENT,      // MOUNT/TOKEN/NAME-NUMBER.m4s
    HTTP_PART,         // MOUNT/TOKEN/NAME-NUMBER.PART.m4s
};

enum {
    HTTP_MAX_NAME = 12,  // bytes with NUL, of letters and digits
    HTTP_MAX_TOKEN = 20, // bytes with NUL, of letters and digits
    HTTP_MAX_PART = 999,
};
#define HTTP_MAX_NUMBER 99999999999 // of a segment

struct http_target {
    enum http_file file;
    size_t mount; // bytes of the path before the slash of the rest
    char token[HTTP_MAX_TOKEN];
    char name[HTTP_MAX_NAME];
    int64_t number;
    int part;
};

// Parses a decoded path. Returns 0, or ERR_NOT_FOUND, also if request_path.h refuses the path.
int http_target_parse(const char *path, struct http_target *out);

struct http_reload { // of a blocking playlist reload
    int64_t number;  // _HLS_msn; -1: not a blocking request
    int part;        // _HLS_part; -1: the whole segment
};
// Parses the values of the query; NULL: not given. Returns 0, or ERR_MALFORMED, also for a part
// without a segment.
int http_reload_parse(const char *number, const char *part, struct http_reload *out);

struct http_range {
    size_t begin;
    size_t bytes;
};
// Parses a Range header for a file of `size` bytes. Returns 0: one range, in `out`; 1: the header
// is ignored, as it is of another unit, malformed or has several ranges; ERR_RANGE: no byte is in
// it.
int http_range_parse(const char *header, size_t size, struct http_range *out);

DECLS_END
#endif
