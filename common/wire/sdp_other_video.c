// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp_other_video.h"

#include <string.h>
#include <strings.h>

#include "common/base/scan.h"

static const char JPEG_LINE[] = "a=rtpmap:26 H264/90000\r\n";
enum { NAME_LEN = 10, PT_JPEG = 26 }; // RFC 3551, 6

struct text_out {
    char *at;
    size_t len, cap;
    bool is_full;
};

static void put_bytes(struct text_out *out, const char *bytes, size_t len)
{
    out->is_full |= len > out->cap - out->len;
    if (out->is_full)
        return;
    memcpy(out->at + out->len, bytes, len);
    out->len += len;
}

static bool begins(const char *line, size_t len, const char *word)
{
    size_t n = strlen(word);
    return len >= n && memcmp(line, word, n) == 0;
}

// Returns the offset of the codec's name in a line "a=rtpmap:N H265/90000"; 0: it has none.
static size_t name_at(const char *line, size_t len, const char *name)
{
    if (!begins(line, len, "a=rtpmap:"))
        return 0;
    for (size_t at = 9; at + NAME_LEN <= len; at++)
        if (line[at - 1] == ' ' && strncasecmp(line + at, name, NAME_LEN) == 0)
            return at;
    return 0;
}

// Returns true for a line "m=video 0 RTP/AVP 26".
static bool offers_jpeg(const char *line, size_t len)
{
    struct scan s = scan_of(line, len);
    int64_t type;
    if (!scan_word(&s, "m=video "))
        return false;
    (void)scan_until(&s, ' '); // the port
    (void)scan_until(&s, ' '); // the profile
    return scan_int(&s, 127, &type) && type == PT_JPEG;
}

size_t sdp_other_video_rewrite(const char *data, size_t len, enum sdp_other_video codec, char *text,
                               size_t cap)
{
    struct text_out out = {.at = text, .cap = cap};
    const char *name = codec == SDP_OTHER_HEVC ? "H265/90000" : "JPEG/90000";
    bool found = false;
    for (size_t at = 0; at < len;) {
        const char *line = data + at;
        const char *end = memchr(line, '\n', len - at);
        size_t n = end ? (size_t)(end - line) + 1 : len - at;
        at += n;
        if (begins(line, n, "a=fmtp:"))
            continue;
        size_t replaced = name_at(line, n, name);
        size_t kept = replaced ? replaced : n;
        put_bytes(&out, line, kept);
        if (replaced) {
            put_bytes(&out, "H264", 4);
            put_bytes(&out, line + kept + 4, n - kept - 4);
        } else if (codec == SDP_OTHER_JPEG && end && offers_jpeg(line, n)) {
            put_bytes(&out, JPEG_LINE, sizeof(JPEG_LINE) - 1);
            found = true;
        }
        found |= replaced > 0;
    }
    return found && !out.is_full ? out.len : 0;
}
