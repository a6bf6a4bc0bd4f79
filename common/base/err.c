// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/err.h"

#include <stdarg.h>
#include <stdio.h>

const char *err_text(int err)
{
    switch (err) {
    case ERR_OK:
        return "success";
    case ERR_MALFORMED:
        return "malformed data";
    case ERR_TOO_BIG:
        return "larger than the limit";
    case ERR_AGAIN:
        return "not now";
    case ERR_FULL:
        return "queue full";
    case ERR_NO_MEMORY:
        return "out of memory";
    case ERR_CLOSED:
        return "closed";
    case ERR_UNSUPPORTED:
        return "not supported";
    case ERR_NOT_FOUND:
        return "not found";
    case ERR_IO:
        return "input/output error";
    case ERR_END:
        return "end of media";
    case ERR_RANGE:
        return "value out of range";
    case ERR_TIMED_OUT:
        return "timed out";
    case ERR_UNTRUSTED:
        return "not trusted";
    default:
        return "unknown error";
    }
}

int err_say(char *out, size_t cap, int err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, cap, format, args);
    va_end(args);
    return err;
}
