// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/request_path.h"

#include <string.h>

#include "common/base/err.h"

enum { MAX_DECODINGS = 4 }; // no peer decodes more often; each costs a pass over the path

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Returns the byte that "%XX" stands for at `text`; -1: no escape begins there.
static int escaped(const char *text, size_t len)
{
    int high = len > 2 && text[0] == '%' ? hex(text[1]) : -1;
    int low = high < 0 ? -1 : hex(text[2]);
    return low < 0 ? -1 : high << 4 | low;
}

// Returns true if no path may contain the byte `c`, which follows the byte `before`: a control
// character, also one of U+0080 to U+009F; a backslash, which some servers take for a slash; a byte
// that UTF-8 never has, or the second one of an overlong sequence (RFC 3629, 3 and 10): some
// decoders make a slash or a dot of these, whatever follows.
static bool is_refused(int before, int c)
{
    bool is_c1 = before == 0xc2 && c >= 0x80 && c <= 0x9f;
    bool is_overlong = c == 0xc0 || c == 0xc1 || c >= 0xf5 ||
                       (before == 0xe0 && c >= 0x80 && c <= 0x9f) ||
                       (before == 0xf0 && c >= 0x80 && c <= 0x8f);
    return c < 0x20 || c == 0x7f || c == '\\' || is_c1 || is_overlong;
}

// Decodes `text` in place, without the checks of names. An encoded slash is refused. Returns false
// if the text is refused. *is_changed: it had an escape. `is_strict`: each '%' begins an escape.
static bool unescape(char *text, bool is_strict, bool *is_changed)
{
    size_t len = strlen(text), used = 0;
    int before = 0;
    *is_changed = false;
    for (size_t i = 0; i < len; i++) {
        int c = (unsigned char)text[i], byte = escaped(text + i, len - i);
        if (byte < 0 && c == '%' && is_strict)
            return false;
        if (byte == '/')
            return false;
        if (byte >= 0) {
            c = byte;
            i += 2;
            *is_changed = true;
        }
        if (is_refused(before, c))
            return false;
        text[used++] = (char)c;
        before = c;
    }
    text[used] = '\0';
    return true;
}

// Returns true if no name is empty or begins with a dot: "..", "..;x" and hidden files.
static bool has_good_names(const char *path)
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

// The peer may decode once more than this program does, so what remains after each further
// decoding is checked, too. "100%25.mp4" and "a%2520b.mp4" are good, "%252e%252e" is not.
bool request_path_is_good(const char *path)
{
    char text[REQUEST_PATH_MAX];
    bool is_changed = true;
    if (strlen(path) >= sizeof(text))
        return false;
    strcpy(text, path);
    for (int turn = 0; is_changed; turn++)
        if (turn == MAX_DECODINGS || !has_good_names(text) || !unescape(text, false, &is_changed))
            return false;
    return true;
}

size_t request_path_track_bytes(const char *path, size_t len)
{
    static const char track[] = "/trackID=";
    size_t bytes = sizeof(track); // the digit takes the NUL's byte
    bool there = len >= bytes && memcmp(path + len - bytes, track, bytes - 1) == 0 &&
                 (path[len - 1] == '0' || path[len - 1] == '1');
    return there ? bytes : 0;
}

bool request_path_is_alias(const char *url_path, size_t len)
{
    return (len && url_path[len - 1] == '/') || request_path_track_bytes(url_path, len);
}

int request_path_decode(const char *url_path, char *out, size_t cap)
{
    bool is_changed;
    size_t len = strcspn(url_path, "?#");
    len -= request_path_track_bytes(url_path, len);
    if (len && url_path[len - 1] == '/')
        len--;
    if (len && url_path[0] != '/')
        return ERR_MALFORMED;
    len -= len > 0; // the first slash
    char text[3 * REQUEST_PATH_MAX];
    if (len >= sizeof(text))
        return ERR_TOO_BIG;
    memcpy(text, url_path + 1, len);
    text[len] = '\0';
    if (!unescape(text, true, &is_changed))
        return ERR_MALFORMED;
    len = strlen(text);
    if (len >= cap || len >= REQUEST_PATH_MAX)
        return ERR_TOO_BIG;
    memcpy(out, text, len + 1);
    return request_path_is_good(out) ? 0 : ERR_MALFORMED;
}

int request_path_encode(const char *path, char *out, size_t cap)
{
    static const char plain[] =
        "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    static const char digits[] = "0123456789ABCDEF";
    if (cap < 2)
        return ERR_FULL;
    if (!request_path_is_good(path))
        return ERR_MALFORMED;
    size_t used = 0;
    out[used++] = '/';
    for (const char *c = path; *c; c++) {
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

bool request_path_is_offered(const char *root, const char *path)
{
    size_t len = strlen(root);
    if (len && root[len - 1] == '/') // the root folder "/"
        len--;
    return strncmp(path, root, len) == 0 && path[len] == '/' && has_good_names(path + len + 1);
}
