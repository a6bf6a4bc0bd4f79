// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/subtitle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/put.h"
#include "common/base/utf8.h"
#include "common/wire/rtsp.h"

int subtitle_request_encode(const struct subtitle_request *r, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_format(&p, "subtitles: %d/%" PRId64 "%s", r->track, r->from / USEC_PER_MSEC,
               r->head ? "/head" : "");
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
    if (!scan_ms(&s, &out->from))
        return false;
    out->head = !scan_end(&s);
    return !out->head || (scan_word(&s, "/head") && scan_end(&s));
}

int subtitle_cue_encode(const struct subtitle_cue *c, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_format(&p, "ass: %" PRId64 " %" PRId64 " %s", c->begin / USEC_PER_MSEC,
               c->end / USEC_PER_MSEC, c->text);
    return put_result(&p);
}

bool subtitle_cue_decode(struct text value, struct subtitle_cue *out)
{
    struct scan s = text_scan(value);
    char text[SUBTITLE_BYTES];
    if (!scan_ms(&s, &out->begin) || !scan_char(&s, ' ') || !scan_ms(&s, &out->end) ||
        out->end < out->begin || !scan_char(&s, ' ') || scan_left(&s) >= sizeof(text) ||
        memchr(s.at, '\0', scan_left(&s)))
        return false;
    text_copy(text_of_scan(s), text, sizeof(text));
    utf8_copy(text, out->text, sizeof(out->text));
    return true;
}

size_t subtitle_set_encode(const char *head, const struct subtitle_cue *cues, int count, char *out,
                           size_t cap)
{
    struct scan s = scan_of(head, strlen(head)), part;
    size_t used = 0;
    char line[SUBTITLE_LINE];
    out[0] = '\0';
    while (scan_line(&s, &part)) {
        size_t len = strlen("ass-head: ") + scan_left(&part) + 2;
        if (used + len < cap)
            used += (size_t)snprintf(out + used, cap - used, "ass-head: %.*s\r\n",
                                     (int)scan_left(&part), part.at);
    }
    for (int i = 0; i < count; i++) {
        int len = subtitle_cue_encode(&cues[i], line, sizeof(line));
        if (len > 0 && used + (size_t)len + 2 < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s\r\n", line);
    }
    return used;
}

void subtitle_set_decode(struct text body, struct subtitle_set *out)
{
    size_t at = 0, used = 0;
    struct text name, value;
    out->count = 0;
    while (rtsp_parameter_next(body, &at, &name, &value) == 1) {
        if (text_is_nocase(name, "ass") && out->count < SUBTITLE_CUES &&
            subtitle_cue_decode(value, &out->cues[out->count])) {
            out->count++;
        } else if (text_is_nocase(name, "ass-head") && used + value.len + 2 < SUBTITLE_HEAD) {
            char line[SUBTITLE_HEAD];
            text_copy(value, line, sizeof(line));
            utf8_copy(line, out->head + used, SUBTITLE_HEAD - used - 1);
            used += strlen(out->head + used);
            out->head[used++] = '\n';
            out->head[used] = '\0';
        }
    }
}
