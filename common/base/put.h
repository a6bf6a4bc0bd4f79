// SPDX-License-Identifier: GPL-2.0-or-later
// Writes text into a fixed buffer, always NUL-terminated. Text that does not fit sets `full`, which
// is never reset.
#ifndef WEIR_BASE_PUT_H
#define WEIR_BASE_PUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"

struct put {
    char *out; // borrowed
    size_t cap;
    size_t len;
    bool full;
};

static inline struct put put_into(char *out, size_t cap)
{
    struct put p = {out, cap, 0, cap == 0};
    if (cap)
        out[0] = '\0';
    return p;
}

__attribute__((format(printf, 2, 3))) static inline void put_format(struct put *p,
                                                                    const char *format, ...)
{
    if (p->full)
        return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->out + p->len, p->cap - p->len, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= p->cap - p->len)
        p->full = true;
    else
        p->len += (size_t)n;
}

// Returns the length written, or ERR_FULL.
static inline int put_result(const struct put *p)
{
    return p->full ? ERR_FULL : (int)p->len;
}

#endif
