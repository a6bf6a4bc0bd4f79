// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/event_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

struct event_lines {
    void (*fn)(void *ctx, const char *line);
    void *ctx;  // borrowed
    FILE *file; // owned; NULL: none
    size_t len; // of the begun line
    bool too_long;
    char line[EVENT_LINES_MAX];
};

static void add(struct event_lines *e, const char *data, size_t len)
{
    e->too_long |= len >= sizeof(e->line) - e->len;
    if (e->too_long)
        return;
    memcpy(e->line + e->len, data, len);
    e->len += len;
}

static void end_line(struct event_lines *e)
{
    e->line[e->len] = '\0';
    if (e->too_long)
        log_warn("an event of more than %d bytes is dropped", EVENT_LINES_MAX - 1);
    else
        e->fn(e->ctx, e->line);
    e->len = 0;
    e->too_long = false;
}

static ssize_t on_write(void *cookie, const char *data, size_t len)
{
    struct event_lines *e = cookie;
    const char *at = data, *end = data + len;
    for (const char *newline; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        add(e, at, (size_t)(newline - at));
        end_line(e);
    }
    add(e, at, (size_t)(end - at));
    // 0 is an error to the writer, with the file's errno.
    bool written = !e->file || (fwrite(data, 1, len, e->file) == len && fflush(e->file) == 0);
    return written ? (ssize_t)len : 0;
}

static int on_close(void *cookie)
{
    struct event_lines *e = cookie;
    int err = e->file ? fclose(e->file) : 0;
    free(e);
    return err;
}

FILE *event_lines_open(void (*fn)(void *ctx, const char *line), void *ctx, FILE *file)
{
    struct event_lines *e = calloc(1, sizeof(*e));
    FILE *stream = NULL;
    if (e)
        stream = fopencookie(e, "w", (cookie_io_functions_t){.write = on_write, .close = on_close});
    if (!stream) {
        free(e);
        if (file)
            fclose(file);
        return NULL;
    }
    e->fn = fn;
    e->ctx = ctx;
    e->file = file;
    return stream;
}
