// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/subtitle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/put.h"
#include "common/base/utf8.h"

int subtitle_request_encode(const struct subtitle_request *r, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_format(&p, "subtitles: %d/%" PRId64, r->track, r->from / USEC_PER_MSEC);
    return put_result(&p);
}

static bool scan_ms(struct scan *s, usec_t *out)
{
    int64_t ms;
    if (!scan_int(s, SUBTITLE_LAST / USEC_PER_MSEC, &ms))
        return false;
    *out = ms * USEC_PER_MSEC;
    return true;
}

bool subtitle_request_decode(struct text value, struct subtitle_request *out)
{
    struct scan s = text_scan(value);
    int64_t track;
    if (!scan_int(&s, SUBTITLE_TRACKS, &track) || track < 1 || !scan_char(&s, '/'))
        return false;
    out->track = (int)track;
    return scan_ms(&s, &out->from) && scan_end(&s);
}

int subtitle_cue_encode(const struct subtitle_cue *c, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_format(&p, "subtitle: %" PRId64 " %" PRId64 " ", c->begin / USEC_PER_MSEC,
               c->end / USEC_PER_MSEC);
    for (const char *t = c->text; *t; t++) {
        if (*t == '\n')
            put_format(&p, "\\n");
        else if (*t == '\\')
            put_format(&p, "\\\\");
        else
            put_format(&p, "%c", *t);
    }
    return put_result(&p);
}

bool subtitle_cue_decode(struct text value, struct subtitle_cue *out)
{
    struct scan s = text_scan(value);
    char text[SUBTITLE_BYTES];
    size_t len = 0;
    if (!scan_ms(&s, &out->begin) || !scan_char(&s, ' ') || !scan_ms(&s, &out->end) ||
        out->end < out->begin || !scan_char(&s, ' '))
        return false;
    while (!scan_end(&s)) {
        char c = *s.at++;
        if (c == '\\' && (scan_end(&s) || (*s.at != 'n' && *s.at != '\\')))
            return false;
        if (c == '\\')
            c = *s.at++ == 'n' ? '\n' : '\\';
        if (len + 1 >= sizeof(text) || c == '\0')
            return false;
        text[len++] = c;
    }
    text[len] = '\0';
    subtitle_clean(text, out->text);
    return true;
}

void subtitle_clean(const char *text, char out[SUBTITLE_BYTES])
{
    struct scan s = scan_of(text, strlen(text)), part;
    size_t used = 0;
    out[0] = '\0';
    while (scan_line(&s, &part)) {
        char line[SUBTITLE_BYTES], clean[SUBTITLE_BYTES];
        text_copy(text_trimmed(part, sizeof(line)), line, sizeof(line));
        utf8_copy(line, clean, sizeof(clean));
        size_t len = strlen(clean);
        if (!len || used + (used > 0) + len >= SUBTITLE_BYTES)
            continue;
        if (used)
            out[used++] = '\n';
        memcpy(out + used, clean, len + 1);
        used += len;
    }
}

void subtitle_at(const struct subtitle_cue *cues, int count, usec_t at, char out[SUBTITLE_BYTES])
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t len = strlen(cues[i].text);
        if (at < cues[i].begin || at >= cues[i].end || used + (used > 0) + len >= SUBTITLE_BYTES)
            continue;
        if (used)
            out[used++] = '\n';
        memcpy(out + used, cues[i].text, len + 1);
        used += len;
    }
}
