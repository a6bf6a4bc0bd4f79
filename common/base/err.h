// SPDX-License-Identifier: GPL-2.0-or-later
// Error codes: 0 is success, negative is one of these. Each function's header lists the codes that
// it returns.
#ifndef WEIR_BASE_ERR_H
#define WEIR_BASE_ERR_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum err {
    ERR_OK = 0,
    ERR_MALFORMED = -1, // bytes from outside break their format
    ERR_TOO_BIG = -2,   // bytes from outside exceed a documented limit
    ERR_AGAIN = -3,     // not possible now: more input or more room is needed
    ERR_FULL = -4,      // a bounded queue or buffer has no room
    ERR_NO_MEMORY = -5,
    ERR_CLOSED = -6,      // the peer or the owner closed it
    ERR_UNSUPPORTED = -7, // well-formed, but not supported
    ERR_NOT_FOUND = -8,
    ERR_IO = -9,         // the operating system refused; the log line says why
    ERR_END = -10,       // end of media
    ERR_RANGE = -11,     // a value outside its documented range
    ERR_TIMED_OUT = -12, // the operation took longer than its limit
    ERR_UNTRUSTED = -13, // the peer is not the one that it should be
};

// Returns a short English text for `err`: static, never NULL.
const char *err_text(int err);

// Formats the error message into `out` (at most `cap` bytes with NUL) and returns `err`.
int err_say(char *out, size_t cap, int err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

DECLS_END
#endif
