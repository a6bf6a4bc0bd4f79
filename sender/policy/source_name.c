// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/source_name.h"

#include <string.h>

bool source_name_is(const char *name, size_t len)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return len > 0 && len < SOURCE_NAME_MAX && name[0] != '-' && strspn(name, allowed) >= len;
}

size_t source_name_length(const char *text)
{
    size_t len = strcspn(text, "=");
    return text[len] && source_name_is(text, len) ? len : 0;
}
