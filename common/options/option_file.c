// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

// Programs that read such files. One file may have sections for all.
static const char *const programs[] = {"weir-send", "weir-play", "weir-proxy"};

#define SOURCE "source"

struct reading {
    const struct option_table *table;
    const char *name;
    struct option_settings *out;
    int line;
    bool ours;           // true in a section for this program
    const char *section; // of [source NAME]; NULL: in none
    char *error;
    size_t cap;
};

__attribute__((format(printf, 2, 3))) static int bad(struct reading *r, const char *format, ...)
{
    int n = snprintf(r->error, r->cap, "%s:%d: ", r->name, r->line);
    va_list args;
    va_start(args, format);
    if (n >= 0 && (size_t)n < r->cap)
        vsnprintf(r->error + n, r->cap - (size_t)n, format, args);
    va_end(args);
    return ERR_MALFORMED;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// Ends the name in place: it is in text[begin..).
static int read_source_section(struct reading *r, struct scan name, char *text, size_t begin)
{
    if (scan_end(&name))
        return bad(r, "expects the name of a source: [source NAME]");
    r->section = text + begin;
    text[begin + scan_left(&name)] = '\0';
    r->ours = r->table->section != NULL;
    return 0;
}

static int read_section(struct reading *r, struct scan line, char *text, size_t begin)
{
    const char *start = line.at;
    scan_char(&line, '[');
    struct scan name = scan_until(&line, ']');
    bool closed = name.end < line.at;
    struct scan rest = scan_trimmed(line);
    bool ends = scan_end(&rest) || *rest.at == '#';
    bool known = false;
    r->section = NULL;
    struct scan source = name;
    if (closed && ends && scan_word(&source, SOURCE) &&
        (scan_end(&source) || is_blank(*source.at))) {
        source = scan_trimmed(source);
        return read_source_section(r, source, text, begin + (size_t)(source.at - start));
    }
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        known = known || scan_is(name, programs[i]);
    if (!known || !closed || !ends)
        return bad(r, "expects a section [%s], [%s], [%s] or [" SOURCE " NAME]", programs[0],
                   programs[1], programs[2]);
    r->ours = scan_is(name, r->table->program);
    return 0;
}

// Unescapes in place; *from is the opening quote. Returns the position after the closing quote;
// NULL: none.
static char *unquote(char *from, const char *end)
{
    char *to = from;
    for (const char *at = from + 1; at < end; at++) {
        if (*at == '"') {
            *to = '\0';
            return from + (at + 1 - from);
        }
        if (*at == '\\' && at + 1 < end && strchr("\"\\n", at[1]))
            *to++ = *++at == 'n' ? '\n' : *at;
        else
            *to++ = *at;
    }
    return NULL;
}

// Ends an unquoted value: at the end of the line, or before a comment.
static void end_plain(char *from, char *end)
{
    char *stop = from;
    while (stop < end && !(*stop == '#' && (stop == from || stop[-1] == ' ' || stop[-1] == '\t')))
        stop++;
    while (stop > from && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    *stop = '\0';
}

static int read_value(struct reading *r, const struct option_row *row, char *from, char *end)
{
    if (from < end && *from == '"') {
        char *behind = unquote(from, end);
        if (!behind)
            return bad(r, "the value of \"%s\" has no closing quote", row->name);
        struct scan rest = scan_trimmed(scan_of(behind, (size_t)(end - behind)));
        if (!scan_end(&rest) && *rest.at != '#')
            return bad(r, "only a comment may follow the quoted value of \"%s\"", row->name);
    } else {
        end_plain(from, end);
    }
    struct option_setting s = option_setting_of(r->table, row, from, r->line);
    s.section = r->section;
    for (int i = 0; i < r->out->count && !row->repeats; i++)
        if (option_setting_is_of(&r->out->items[i], s.row, s.section))
            return bad(r, "\"%s\" is also in line %d; it can be given once", s.row->name,
                       r->out->items[i].line);
    if (r->out->count == OPTION_SETTINGS_MAX)
        return bad(r, "at most %d options", OPTION_SETTINGS_MAX);
    r->out->items[r->out->count++] = s;
    return 0;
}

// Reports an unknown option, with the nearest name, or with all names.
static int unknown(struct reading *r, const char *name)
{
    char near[96];
    option_table_near(r->table, name, "", near, sizeof(near));
    if (near[0])
        return bad(r, "\"%s\" is not an option of %s%s", name, r->table->program, near);
    int err = bad(r, "\"%s\" is not an option of %s; available:", name, r->table->program);
    for (const struct option_row *row = r->table->rows; row->name; row++) {
        size_t len = strlen(r->error);
        if (option_row_in_file(row))
            snprintf(r->error + len, r->cap - len, " %s", row->name);
    }
    return err;
}

static int read_option(struct reading *r, struct scan line, char *text, size_t begin)
{
    struct scan rest = line;
    struct scan word = scan_trimmed(scan_until(&rest, '='));
    char name[40];
    size_t len = scan_left(&word);
    if (rest.at == line.end && (scan_end(&line) || line.end[-1] != '='))
        return bad(r, "expects NAME = VALUE, a [SECTION], or a comment after #");
    if (len == 0 || len >= sizeof(name))
        return bad(r, "expects the name of an option before the =");
    if (!r->ours)
        return 0;
    snprintf(name, sizeof(name), "%.*s", (int)len, word.at);
    const struct option_row *row = option_table_find(r->table, name);
    if (!row)
        return unknown(r, name);
    if (!option_row_in_file(row))
        return bad(r, "\"%s\" is allowed on the command line only", name);
    if (r->section && !row->in_section)
        return bad(r, "\"%s\" applies to the whole program: set it before the sections of sources",
                   name);
    scan_space(&rest);
    char *at = text + begin + (rest.at - line.at);
    return read_value(r, row, at, at + scan_left(&rest));
}

int option_file_read(const struct option_table *t, const char *name, char *text, size_t len,
                     struct option_settings *out, char *error, size_t cap)
{
    struct reading r = {
        .table = t, .name = name, .out = out, .ours = true, .error = error, .cap = cap};
    out->count = 0;
    struct scan all = scan_of(text, len);
    struct scan line;
    int err = 0;
    // A byte order mark, which some editors write at the start of UTF-8.
    scan_word(&all, "\xef\xbb\xbf");
    while (!err && scan_line(&all, &line)) {
        r.line++;
        if (memchr(line.at, '\0', scan_left(&line)))
            return bad(&r, "contains a NUL byte: expects text");
        scan_space(&line);
        if (scan_end(&line) || *line.at == '#')
            continue;
        size_t begin = (size_t)(line.at - text);
        err = *line.at == '[' ? read_section(&r, line, text, begin)
                              : read_option(&r, line, text, begin);
    }
    return err;
}
