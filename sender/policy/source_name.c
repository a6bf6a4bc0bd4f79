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

bool source_publish_is_any(const char *path)
{
    size_t len = strlen(path);
    return len >= 2 && strcmp(path + len - 2, "/*") == 0;
}

bool source_publish_is(const char *path)
{
    if (strlen(path) >= SOURCE_PATH_MAX - SOURCE_NAME_MAX || *path != '/')
        return false;
    while (*path == '/') {
        size_t len = strcspn(++path, "/");
        if (!source_name_is(path, len) && strcmp(path, "*") != 0)
            return false; // "*" is the last one
        path += len;
    }
    return true;
}

bool source_publish_matches(const char *pattern, const char *path)
{
    size_t folder = strlen(pattern) - 1; // with its last slash
    if (!source_publish_is_any(pattern))
        return strcmp(pattern, path) == 0;
    return strncmp(pattern, path, folder) == 0 &&
           source_name_is(path + folder, strlen(path + folder));
}
