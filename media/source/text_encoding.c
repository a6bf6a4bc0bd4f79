// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/text_encoding.h"

#include <errno.h>
#include <iconv.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchardet/uchardet.h>

#include "common/base/utf8.h"

enum { LOOK = 1 << 20 }; // bytes that are looked at

static bool begins(const char *data, size_t len, const char *mark, size_t bytes)
{
    return len >= bytes && memcmp(data, mark, bytes) == 0;
}

// `data` is followed by a NUL. A character that the end of the file cuts does not count.
static bool is_utf8(const char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        int bytes = data[at] ? utf8_bytes(data + at) : 0;
        if (!bytes)
            return at + 4 > len && (unsigned char)data[at] >= 0xc0;
        at += (size_t)bytes;
    }
    return true;
}

// Of UTF-16 without a mark, the zeros of line ends, digits and spaces tell the order of its bytes:
// whatever the script, those of a subtitle file stand at even or at odd places only.
static const char *utf16_of(const char *data, size_t len)
{
    size_t zeros[2] = {0, 0};
    for (size_t i = 0; i < len; i++)
        zeros[i & 1] += !data[i];
    if (zeros[0] + zeros[1] < len / 16)
        return NULL;
    if (zeros[1] > 8 * zeros[0])
        return "UTF-16LE";
    return zeros[0] > 8 * zeros[1] ? "UTF-16BE" : NULL;
}

static void guess(const char *data, size_t len, char name[TEXT_ENCODING_NAME])
{
    uchardet_t detector = uchardet_new();
    name[0] = '\0';
    if (detector && uchardet_handle_data(detector, data, len) == 0) {
        uchardet_data_end(detector);
        snprintf(name, TEXT_ENCODING_NAME, "%s", uchardet_get_charset(detector));
    }
    if (detector)
        uchardet_delete(detector);
    if (!*name || strcmp(name, "ASCII") == 0 || strcmp(name, "UTF-8") == 0)
        snprintf(name, TEXT_ENCODING_NAME, "WINDOWS-1252");
    else if (strcmp(name, "GB2312") == 0 || strcmp(name, "GBK") == 0)
        snprintf(name, TEXT_ENCODING_NAME, "GB18030"); // which contains them
    else if (strcmp(name, "SHIFT_JIS") == 0)
        snprintf(name, TEXT_ENCODING_NAME, "CP932"); // which contains it
}

// Converts all of it; what is no character becomes '?'.
static char *convert(const char *from, const char *data, size_t len, size_t *out_len)
{
    iconv_t c = iconv_open("UTF-8", from);
    size_t room = 3 * len + 16; // no character of one byte has more than three in UTF-8
    char *text = malloc(room + 1), *out = text, *in = (char *)(size_t)data;
    bool converts = c != (iconv_t)-1;
    while (text && converts && len && room > 1) {
        if (iconv(c, &in, &len, &out, &room) != (size_t)-1 || !len || errno == E2BIG)
            break;
        *out++ = '?';
        room--;
        in++;
        len--;
    }
    if (converts)
        iconv_close(c);
    if (!text)
        return NULL;
    if (!converts) { // the C library does not know the name
        for (size_t i = 0; i < len; i++)
            *out++ = (unsigned char)data[i] < 0x80 ? data[i] : '?';
    }
    *out = '\0';
    *out_len = (size_t)(out - text);
    return text;
}

char *text_encoding_utf8(const char *data, size_t len, char name[TEXT_ENCODING_NAME],
                         size_t *out_len)
{
    size_t mark = 0;
    const char *from = NULL;
    char *copy = malloc(len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, data, len);
    copy[len] = '\0';
    name[0] = '\0';
    if (begins(data, len, "\xef\xbb\xbf", 3))
        mark = 3;
    else if (begins(data, len, "\xff\xfe", 2))
        mark = 2, from = "UTF-16LE";
    else if (begins(data, len, "\xfe\xff", 2))
        mark = 2, from = "UTF-16BE";
    else
        from = utf16_of(data, len < LOOK ? len : LOOK);
    if (!from && is_utf8(copy + mark, len - mark)) {
        memmove(copy, copy + mark, len - mark + 1);
        *out_len = len - mark;
        return copy;
    }
    free(copy);
    if (from)
        snprintf(name, TEXT_ENCODING_NAME, "%s", from);
    else
        guess(data + mark, len < LOOK ? len - mark : LOOK - mark, name);
    return convert(name, data + mark, len - mark, out_len);
}
