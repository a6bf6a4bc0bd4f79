// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/catalog_path.h"

#include <string.h>

#include "common/base/err.h"

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool is_control(int c)
{
    return c < 0x20 || c == 0x7f;
}

static bool is_safe(const char *path)
{
    for (const char *name = path; *name;) {
        size_t len = strcspn(name, "/");
        if (len == 0 || name[0] == '.')
            return false;
        name += len;
        if (*name && !*++name)
            return false; // ends in a slash
    }
    return true;
}

size_t catalog_path_track_bytes(const char *path, size_t len)
{
    static const char track[] = "/trackID=";
    size_t bytes = sizeof(track); // the digit takes the NUL's byte
    bool there = len >= bytes && memcmp(path + len - bytes, track, bytes - 1) == 0 &&
                 (path[len - 1] == '0' || path[len - 1] == '1');
    return there ? bytes : 0;
}

int catalog_path_decode(const char *url_path, char *out, size_t cap)
{
    size_t len = strcspn(url_path, "?#"), used = 0;
    len -= catalog_path_track_bytes(url_path, len);
    if (len && url_path[len - 1] == '/')
        len--;
    if (len && url_path[0] != '/')
        return ERR_MALFORMED;
    for (size_t i = 1; i < len; i++) {
        int c = (unsigned char)url_path[i];
        if (c == '%') {
            int high = i + 2 < len ? hex(url_path[i + 1]) : -1;
            int low = i + 2 < len ? hex(url_path[i + 2]) : -1;
            if (high < 0 || low < 0)
                return ERR_MALFORMED;
            c = high << 4 | low;
            i += 2;
        }
        if (is_control(c))
            return ERR_MALFORMED;
        if (used + 1 >= cap)
            return ERR_TOO_BIG;
        out[used++] = (char)c;
    }
    out[used] = '\0';
    return is_safe(out) ? 0 : ERR_MALFORMED;
}

int catalog_path_encode(const char *path, char *out, size_t cap)
{
    static const char plain[] =
        "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    static const char digits[] = "0123456789ABCDEF";
    if (cap < 2)
        return ERR_FULL;
    if (!is_safe(path))
        return ERR_MALFORMED;
    size_t used = 0;
    out[used++] = '/';
    for (const char *c = path; *c; c++) {
        if (is_control((unsigned char)*c))
            return ERR_MALFORMED;
        if (used + 4 > cap)
            return ERR_FULL;
        if (strchr(plain, *c)) {
            out[used++] = *c;
            continue;
        }
        out[used++] = '%';
        out[used++] = digits[(unsigned char)*c >> 4];
        out[used++] = digits[(unsigned char)*c & 15];
    }
    out[used] = '\0';
    return (int)used;
}

bool catalog_path_is_offered(const char *root, const char *path)
{
    size_t len = strlen(root);
    if (len && root[len - 1] == '/') // the root folder "/"
        len--;
    return strncmp(path, root, len) == 0 && path[len] == '/' && is_safe(path + len + 1);
}
