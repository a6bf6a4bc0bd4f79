// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/playlist.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/base/utf8.h"

int playlist_add(struct playlist *p, const struct url *url, const char *title)
{
    if (p->count == PLAYLIST_MAX)
        return ERR_FULL;
    if (!p->channels && !(p->channels = calloc(PLAYLIST_MAX, sizeof(*p->channels))))
        return ERR_NO_MEMORY;
    struct playlist_channel *c = &p->channels[p->count++];
    c->url = *url;
    snprintf(c->title, sizeof(c->title), "%s", title);
    return 0;
}

int playlist_step(int count, int current, int by)
{
    if (!current)
        return by > 0 ? 1 : count;
    return (current - 1 + by + count) % count + 1;
}

void playlist_free(struct playlist *p)
{
    free(p->channels);
    *p = (struct playlist){0};
}

// The text after the first comma of "#EXTINF:-1 a="b",TITLE". A control character would reach the
// terminal.
static void read_title(struct scan line, char title[PLAYLIST_TITLE])
{
    (void)scan_until(&line, ',');
    line = scan_trimmed(line);
    size_t len = scan_left(&line);
    len = len < PLAYLIST_TITLE ? len : PLAYLIST_TITLE - 1;
    while (len < scan_left(&line) && len && ((unsigned char)line.at[len] & 0xc0) == 0x80)
        len--; // not within a character
    char text[PLAYLIST_TITLE];
    memcpy(text, line.at, len);
    text[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\t' || text[i] == '\0')
            text[i] = ' ';
    utf8_copy(text, title, PLAYLIST_TITLE);
}

// Returns true if a colon precedes the first slash.
static bool has_scheme(struct scan line)
{
    while (!scan_end(&line) && *line.at != '/' && *line.at != ':')
        line.at++;
    return scan_char(&line, ':');
}

// Reads the URL of a line: itself, or a path on a server. Returns NULL, or why not.
static const char *read_url(struct scan line, const struct url *server, struct url *out)
{
    char text[2 * URL_MAX_TEXT];
    size_t len = scan_left(&line), head = 0;
    if (len >= URL_MAX_TEXT)
        return "too long";
    memcpy(text, line.at, len);
    text[len] = '\0';
    bool whole = url_scheme(text) > 0;
    if (memchr(line.at, '\0', len))
        return "a byte 0 in it";
    if (!whole && has_scheme(line))
        return "only rtsp:// URLs and paths are played";
    if (!whole && !server)
        return "a path needs the URL of a server before it";
    if (!whole) {
        head = url_scheme(server->text);
        head += strcspn(server->text + head, "/?#");
        memcpy(text, server->text, head);
        if (*line.at != '/')
            text[head++] = '/';
    }
    memcpy(text + head, line.at, len);
    text[head + len] = '\0';
    const char *why;
    if (url_parse(text, out, &why) != 0)
        return why;
    if (!whole) {
        memcpy(out->user, server->user, sizeof(out->user));
        memcpy(out->password, server->password, sizeof(out->password));
        memcpy(out->pin, server->pin, sizeof(out->pin));
    }
    return NULL;
}

int playlist_read(struct playlist *p, const char *text, size_t len, const struct url *server,
                  char *error, size_t cap)
{
    struct scan in = scan_of(text, len), line;
    struct url before;
    char title[PLAYLIST_TITLE] = "";
    int number = 0;
    if (len > PLAYLIST_MAX_BYTES) {
        snprintf(error, cap, "more than %d bytes", PLAYLIST_MAX_BYTES);
        return ERR_TOO_BIG;
    }
    (void)scan_word(&in, "\xef\xbb\xbf"); // a byte order mark
    while (scan_line(&in, &line)) {
        number++;
        line = scan_trimmed(line);
        if (scan_end(&line))
            continue;
        if (*line.at == '#') {
            if (scan_word(&line, "#EXTINF:"))
                read_title(line, title);
            continue;
        }
        struct url url;
        const char *why = read_url(line, server, &url);
        if (why) {
            snprintf(error, cap, "line %d: %s", number, why);
            return ERR_MALFORMED;
        }
        int err = playlist_add(p, &url, title);
        if (err) {
            if (err == ERR_FULL)
                snprintf(error, cap, "line %d: more than %d channels", number, PLAYLIST_MAX);
            else
                snprintf(error, cap, "out of memory");
            return err;
        }
        before = url;
        server = &before;
        *title = '\0';
    }
    if (!p->count)
        snprintf(error, cap, "no channel in it");
    return p->count ? 0 : ERR_MALFORMED;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Writes a path as people read it: without its first slash, and with the characters that %XX
// encodes, but for control characters.
static void path_title(const char *path, char title[PLAYLIST_TITLE])
{
    char text[URL_MAX_TEXT];
    size_t len = 0;
    for (const char *at = path + (*path == '/'); *at && len < sizeof(text) - 1; at++) {
        int high = *at == '%' ? hex(at[1]) : -1;
        int low = high >= 0 ? hex(at[2]) : -1;
        text[len] = low >= 0 ? (char)(high << 4 | low) : *at;
        at += low >= 0 ? 2 : 0;
        if ((unsigned char)text[len] < ' ' || text[len] == 0x7f)
            text[len] = '?';
        len++;
    }
    text[len] = '\0';
    utf8_copy(text, title, PLAYLIST_TITLE);
}

// "1:02:03, 1280x720"; a list says "?" where it does not know, and words such as "live".
static void list_detail(struct text seconds, struct text sizes, char out[PLAYLIST_TITLE])
{
    char words[24], size[32];
    struct scan s = text_scan(seconds);
    int64_t whole;
    text_copy(seconds, words, sizeof(words));
    text_copy(sizes, size, sizeof(size));
    size[strcspn(size, ",")] = '\0';
    if (scan_int(&s, INT32_MAX, &whole)) {
        int hours = (int)(whole / 3600), minutes = (int)(whole / 60 % 60), rest = (int)(whole % 60);
        if (hours)
            snprintf(words, sizeof(words), "%d:%02d:%02d", hours, minutes, rest);
        else
            snprintf(words, sizeof(words), "%d:%02d", minutes, rest);
    }
    bool has_words = words[0] && words[0] != '?', has_size = size[0] && size[0] != '?';
    char text[PLAYLIST_TITLE + 16];
    snprintf(text, sizeof(text), "%s%s%s", has_words ? words : "",
             has_words && has_size ? ", " : "", has_size ? size : "");
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    utf8_copy(text, out, PLAYLIST_TITLE);
}

int playlist_read_list(struct playlist *p, struct text list, const struct url *server)
{
    struct scan in = list.at ? text_scan(list) : (struct scan){0};
    for (struct scan line; scan_line(&in, &line);) {
        struct text path = text_of_scan(scan_until(&line, '\t'));
        struct text seconds = text_of_scan(scan_until(&line, '\t'));
        struct text sizes = text_of_scan(scan_until(&line, '\t'));
        struct url url;
        char title[PLAYLIST_TITLE], name[URL_MAX_TEXT];
        if (!path.len || path.at[0] != '/' || path.len >= sizeof(name) ||
            read_url(text_scan(path), server, &url) != NULL)
            continue;
        memcpy(url.key, server->key, sizeof(url.key));
        text_copy(path, name, sizeof(name));
        path_title(name, title);
        int err = playlist_add(p, &url, title);
        if (err)
            return err == ERR_FULL ? 0 : err;
        list_detail(seconds, sizes, p->channels[p->count - 1].detail);
    }
    return 0;
}
