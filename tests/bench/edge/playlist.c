// SPDX-License-Identifier: GPL-2.0-or-later
#include "playlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"

enum { LINE_BYTES = 1024 };

// What the reader knows between two lines.
struct reader {
    struct playlist *p;
    const char *url;
    bool parts;
    int64_t msn;       // of the segment that is being read
    usec_t at;         // begin of that segment
    usec_t duration;   // EXTINF of the URL line that follows; 0: none
    usec_t part_at;    // begin of the next part
    int part;          // index of the next part
    int64_t bandwidth; // of the variant whose URL line follows; 0: none
    int64_t lowest;
};

// Returns 0 if it is no time.
static usec_t seconds(const char *text)
{
    double value = strtod(text, NULL);
    return value > 0 && value < 1e9 ? (usec_t)(value * 1e6 + 0.5) : 0;
}

// Finds `name=` of an attribute list (RFC 8216, 4.2) and copies the value, without its quotes.
static bool attribute(const char *line, const char *name, char *out, size_t cap)
{
    const char *at = strchr(line, ':');
    size_t name_len = strlen(name);
    while (at) {
        at++;
        const char *equals = strchr(at, '=');
        if (!equals)
            return false;
        const char *value = equals + 1;
        bool quoted = *value == '"';
        value += quoted;
        const char *end = value + strcspn(value, quoted ? "\"" : ",");
        if ((size_t)(equals - at) == name_len && strncmp(at, name, name_len) == 0) {
            size_t len = (size_t)(end - value);
            if (len >= cap)
                return false;
            memcpy(out, value, len);
            out[len] = 0;
            return true;
        }
        at = strchr(end, ',');
    }
    return false;
}

// Makes a path of a URL that is relative to the playlist's path.
static int resolve(const char *base, const char *relative, char out[PLAYLIST_URL_BYTES])
{
    if (strstr(relative, "://"))
        return ERR_MALFORMED;
    const char *query = strchr(base, '?');
    size_t folder = query ? (size_t)(query - base) : strlen(base);
    while (folder && base[folder - 1] != '/')
        folder--;
    if (relative[0] == '/')
        folder = 0;
    int len = snprintf(out, PLAYLIST_URL_BYTES, "%.*s%s", (int)folder, base, relative);
    return len < PLAYLIST_URL_BYTES ? 0 : ERR_MALFORMED;
}

// Returns 2026-01-31T12:00:00.250Z, or with an offset such as +0100, in microseconds since 1970;
// 0 if it is no date.
static usec_t date(const char *text)
{
    struct tm tm = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest)
        return 0;
    usec_t at = (usec_t)timegm(&tm) * USEC_PER_SEC;
    char *end = (char *)(uintptr_t)rest; // only read
    if (*rest == '.')
        at += (usec_t)(strtod(rest, &end) * 1e6 + 0.5);
    int hours = 0, minutes = 0;
    if ((*end == '+' || *end == '-') && (sscanf(end + 1, "%2d:%2d", &hours, &minutes) == 2 ||
                                         sscanf(end + 1, "%2d%2d", &hours, &minutes) == 2))
        at += (*end == '-' ? 1 : -1) * (hours * 60 + minutes) * 60 * USEC_PER_SEC;
    return at;
}

static int add_item(struct reader *r, int part, usec_t at, usec_t duration, bool independent,
                    const char *relative)
{
    if (r->p->count == PLAYLIST_ITEMS || duration <= 0 || at <= 0)
        return ERR_MALFORMED;
    struct playlist_item *item = &r->p->items[r->p->count++];
    item->msn = r->msn;
    item->part = part;
    item->at = at;
    item->duration = duration;
    item->independent = independent;
    return resolve(r->url, relative, item->url);
}

static int read_part(struct reader *r, const char *line)
{
    char duration[32], url[PLAYLIST_URL_BYTES], yes[8] = "";
    if (!attribute(line, "DURATION", duration, sizeof(duration)) ||
        !attribute(line, "URI", url, sizeof(url)))
        return ERR_MALFORMED;
    bool independent = attribute(line, "INDEPENDENT", yes, sizeof(yes)) && strcmp(yes, "YES") == 0;
    usec_t length = seconds(duration);
    int err = r->parts ? add_item(r, r->part, r->part_at, length, independent, url) : 0;
    r->part_at += length;
    r->part++;
    return err;
}

static int read_url(struct reader *r, const char *line)
{
    if (r->bandwidth) {
        bool lower = !r->lowest || r->bandwidth < r->lowest;
        r->lowest = lower ? r->bandwidth : r->lowest;
        r->bandwidth = 0;
        return lower ? resolve(r->url, line, r->p->variant) : 0;
    }
    bool has_parts = r->parts && r->part > 0;
    int err = has_parts ? 0 : add_item(r, 0, r->at, r->duration, true, line);
    r->msn++;
    r->at += r->duration;
    r->part_at = r->at;
    r->part = 0;
    r->duration = 0;
    return err;
}

static void read_server_control(struct playlist *p, const char *line)
{
    char value[32];
    if (attribute(line, "CAN-BLOCK-RELOAD", value, sizeof(value)))
        p->can_block_reload = strcmp(value, "YES") == 0;
    if (attribute(line, "HOLD-BACK", value, sizeof(value)))
        p->hold_back = seconds(value);
    if (attribute(line, "PART-HOLD-BACK", value, sizeof(value)))
        p->part_hold_back = seconds(value);
}

static bool has_tag(const char *line, const char *tag, const char **value)
{
    size_t len = strlen(tag);
    bool is_it = strncmp(line, tag, len) == 0 && (line[len] == ':' || line[len] == 0);
    *value = is_it ? line + len + (line[len] == ':') : "";
    return is_it;
}

static int read_line(struct reader *r, const char *line)
{
    char value[PLAYLIST_URL_BYTES];
    const char *after;
    if (line[0] == 0)
        return 0;
    if (line[0] != '#')
        return read_url(r, line);
    if (has_tag(line, "#EXTINF", &after)) {
        r->duration = seconds(after);
    } else if (has_tag(line, "#EXT-X-PART", &after)) {
        return read_part(r, line);
    } else if (has_tag(line, "#EXT-X-PROGRAM-DATE-TIME", &after)) {
        r->at = r->part_at = date(after);
    } else if (has_tag(line, "#EXT-X-MEDIA-SEQUENCE", &after)) {
        r->msn = strtoll(after, NULL, 10);
        if (r->msn < 0 || r->msn > INT64_MAX / 2)
            return ERR_MALFORMED;
    } else if (has_tag(line, "#EXT-X-TARGETDURATION", &after)) {
        r->p->target = seconds(after);
    } else if (has_tag(line, "#EXT-X-PART-INF", &after)) {
        if (attribute(line, "PART-TARGET", value, sizeof(value)))
            r->p->part_target = seconds(value);
    } else if (has_tag(line, "#EXT-X-SERVER-CONTROL", &after)) {
        read_server_control(r->p, line);
    } else if (has_tag(line, "#EXT-X-MAP", &after)) {
        return attribute(line, "URI", value, sizeof(value)) ? resolve(r->url, value, r->p->map)
                                                            : ERR_MALFORMED;
    } else if (has_tag(line, "#EXT-X-STREAM-INF", &after)) {
        r->bandwidth =
            attribute(line, "BANDWIDTH", value, sizeof(value)) ? strtoll(value, NULL, 10) : 0;
        return r->bandwidth > 0 ? 0 : ERR_MALFORMED;
    } else if (has_tag(line, "#EXT-X-ENDLIST", &after)) {
        r->p->ended = true;
    }
    return 0;
}

int playlist_decode(struct playlist *p, const char *text, size_t len, const char *url, bool parts)
{
    struct reader r = {.p = p, .url = url, .parts = parts};
    char line[LINE_BYTES];
    memset(p, 0, sizeof(*p));
    if (len < 7 || memcmp(text, "#EXTM3U", 7) != 0)
        return ERR_MALFORMED;
    for (size_t at = 0; at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t line_len = newline ? (size_t)(newline - text) - at : len - at;
        size_t next = at + line_len + 1;
        if (line_len && text[at + line_len - 1] == '\r')
            line_len--;
        if (line_len >= sizeof(line))
            return ERR_MALFORMED;
        memcpy(line, text + at, line_len);
        line[line_len] = 0;
        int err = read_line(&r, line);
        if (err)
            return err;
        at = next;
    }
    p->next_msn = r.msn;
    p->next_part = parts ? r.part : 0;
    if (!p->hold_back) // RFC 8216bis, 4.4.3.8: the defaults
        p->hold_back = 3 * p->target;
    if (!p->part_hold_back)
        p->part_hold_back = 3 * p->part_target;
    return p->target || p->variant[0] ? 0 : ERR_MALFORMED;
}

const struct playlist_item *playlist_find(const struct playlist *p, int64_t msn, int part)
{
    for (int i = 0; i < p->count; i++) {
        const struct playlist_item *item = &p->items[i];
        if (item->msn > msn || (item->msn == msn && item->part >= part))
            return item;
    }
    return NULL;
}

usec_t playlist_end(const struct playlist *p)
{
    const struct playlist_item *last = p->count ? &p->items[p->count - 1] : NULL;
    return last ? last->at + last->duration : 0;
}
