// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/subtitle_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

enum { ASS_FIELDS = 8 };

struct place { // of a cue
    usec_t begin;
    usec_t end;
    size_t text; // offset of its text, terminated
};

struct subtitle_list {
    struct place *cues; // owned
    int count;
    int room;
    char *text; // owned
    size_t used;
    size_t bytes;
};

// ---- Plain text

// Writes `s` without what stands in <> and {}. A bracket that is never closed is text.
static size_t without_marks(struct scan s, bool ass, char *out, size_t cap)
{
    size_t len = 0;
    while (!scan_end(&s) && len + 1 < cap) {
        char c = *s.at++;
        const char *close = NULL;
        if ((c == '<' && !ass) || (c == '{' && (ass || (!scan_end(&s) && *s.at == '\\'))))
            close = scan_end(&s) ? NULL : memchr(s.at, c == '<' ? '>' : '}', scan_left(&s));
        if (close) {
            s.at = close + 1;
        } else if (ass && c == '\\' && !scan_end(&s) && strchr("Nnh", *s.at)) {
            out[len++] = *s.at == 'h' ? ' ' : '\n';
            s.at++;
        } else if (c) {
            out[len++] = c;
        }
    }
    out[len] = '\0';
    return len;
}

void subtitle_plain(enum subtitle_format format, const char *data, size_t len,
                    char out[SUBTITLE_BYTES])
{
    struct scan s = scan_of(data, len);
    char text[2 * SUBTITLE_BYTES];
    out[0] = '\0';
    if (format == SUBTITLE_FORMAT_NONE)
        return;
    for (int i = 0; format == SUBTITLE_FORMAT_ASS && i < ASS_FIELDS; i++)
        (void)scan_until(&s, ',');
    if (format == SUBTITLE_FORMAT_MOV) { // boxes with styles may follow the text
        size_t bytes = len < 2 ? 0 : (size_t)((unsigned char)data[0] << 8 | (unsigned char)data[1]);
        if (len < 2 || bytes > len - 2)
            return;
        s = scan_of(data + 2, bytes);
    }
    if (format == SUBTITLE_FORMAT_MOV) {
        text_copy(text_of_scan(s), text, sizeof(text));
    } else {
        (void)without_marks(s, format == SUBTITLE_FORMAT_ASS, text, sizeof(text));
    }
    subtitle_clean(text, out);
}

// ---- The list

struct subtitle_list *subtitle_list_new(void)
{
    return calloc(1, sizeof(struct subtitle_list));
}

void subtitle_list_free(struct subtitle_list *l)
{
    if (!l)
        return;
    free(l->cues);
    free(l->text);
    free(l);
}

static bool make_room(struct subtitle_list *l, size_t len)
{
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 64;
        struct place *cues = realloc(l->cues, (size_t)room * sizeof(*cues));
        if (!cues)
            return false;
        l->cues = cues;
        l->room = room;
    }
    if (l->used + len > l->bytes) {
        size_t bytes = 2 * l->bytes + 4096;
        char *text = realloc(l->text, bytes);
        if (!text)
            return false;
        l->text = text;
        l->bytes = bytes;
    }
    return true;
}

int subtitle_list_add(struct subtitle_list *l, const struct subtitle_cue *cue)
{
    size_t len = strlen(cue->text) + 1;
    if (len == 1 || cue->begin < 0 || cue->end <= cue->begin || cue->end > SUBTITLE_LAST)
        return 0;
    if (l->count == SUBTITLE_LIST_CUES || l->used + len > SUBTITLE_LIST_BYTES)
        return ERR_FULL;
    if (!make_room(l, len))
        return ERR_NO_MEMORY;
    l->cues[l->count++] = (struct place){cue->begin, cue->end, l->used};
    memcpy(l->text + l->used, cue->text, len);
    l->used += len;
    return 0;
}

int subtitle_list_find(const struct subtitle_list *l, usec_t from, usec_t until,
                       struct subtitle_cue *out, int max)
{
    int found = 0;
    for (int i = 0; i < l->count && found < max; i++) {
        const struct place *p = &l->cues[i];
        if (p->end <= from || p->begin > until)
            continue;
        struct subtitle_cue *c = &out[found++];
        c->begin = p->begin;
        c->end = p->end;
        snprintf(c->text, sizeof(c->text), "%s", l->text + p->text);
    }
    return found;
}

// ---- SubRip

// Reads "01:02:03,456"; some files have a point.
static bool scan_time(struct scan *s, usec_t *out)
{
    int64_t h, m, sec, ms;
    scan_space(s);
    if (!scan_int(s, 999, &h) || !scan_char(s, ':') || !scan_int(s, 59, &m) || !scan_char(s, ':') ||
        !scan_int(s, 59, &sec) || (!scan_char(s, ',') && !scan_char(s, '.')) ||
        !scan_int(s, 999, &ms))
        return false;
    *out = (((h * 60 + m) * 60 + sec) * 1000 + ms) * USEC_PER_MSEC;
    return true;
}

static bool is_times(struct scan line, struct subtitle_cue *out)
{
    if (!scan_time(&line, &out->begin))
        return false;
    scan_space(&line);
    return scan_word(&line, "-->") && scan_time(&line, &out->end);
}

// A cue is a number, a line of times, and lines of text up to an empty line.
int subtitle_list_add_srt(struct subtitle_list *l, const char *data, size_t len)
{
    struct scan s = scan_of(data, len), line;
    int before = l->count;
    while (scan_line(&s, &line)) {
        struct subtitle_cue cue;
        if (!is_times(line, &cue))
            continue;
        struct scan text = scan_of(s.at, 0);
        while (scan_line(&s, &line) && !scan_end(&line))
            text.end = line.end;
        subtitle_plain(SUBTITLE_FORMAT_PLAIN, text.at, scan_left(&text), cue.text);
        int err = subtitle_list_add(l, &cue);
        if (err)
            return err;
    }
    return l->count - before;
}
