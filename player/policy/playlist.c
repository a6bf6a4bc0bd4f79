// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/playlist.h"

#include <stdbool.h>
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
