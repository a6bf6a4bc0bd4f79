// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_print.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN = 27, VALUES = 8, LINE = 512 };

// Words of `text` from column `at` on; further lines begin with `indent` and are filled to
// `column`.
static void wrap(struct put *out, const char *text, int at, const char *indent, int column)
{
    bool first = true; // of its line
    while (*text) {
        int len = (int)strcspn(text, " \n");
        if (!first && at + 1 + len > OPTION_PRINT_WIDTH) {
            put_format(out, "\n%-*s", column, indent);
            at = column;
            first = true;
        }
        put_format(out, "%s%.*s", first ? "" : " ", len, text);
        at += len + !first;
        first = false;
        text += len;
        text += *text != '\0';
    }
    put_format(out, "\n");
}

// `head`, then `text` in the column behind it.
static void put_entry(struct put *out, const char *head, const char *text)
{
    if (strlen(head) + 1 < COLUMN)
        put_format(out, "%-*s", COLUMN, head);
    else
        put_format(out, "%s\n%*s", head, COLUMN, "");
    wrap(out, text, COLUMN, "", COLUMN);
}

static void put_values(struct put *out, const struct option_row *row)
{
    const char *help;
    const char *word;
    char head[96];
    for (int i = 0; row->value && (word = row->value(i, &help)); i++) {
        snprintf(head, sizeof(head), "%*s%s", row->operand ? 2 : VALUES, "", word);
        if (help)
            put_entry(out, head, help);
    }
}

static void put_row(struct put *out, const struct option_row *row)
{
    char head[96];
    char text[LINE];
    const char *argument = row->argument ? row->argument : "";
    if (row->operand)
        snprintf(head, sizeof(head), "  %s", argument);
    else if (row->letter)
        snprintf(head, sizeof(head), "  -%c, --%s %s", row->letter, row->name, argument);
    else
        snprintf(head, sizeof(head), "      --%s %s", row->name, argument);
    int len = snprintf(text, sizeof(text), row->fallback ? "%s (default: %s)" : "%s", row->help,
                       row->fallback);
    assert(len >= 0 && (size_t)len < sizeof(text));
    put_entry(out, head, text);
    put_values(out, row);
}

void option_print_help(const struct option_table *t, struct put *out)
{
    put_format(out, "Usage: %s %s\n\n", t->program, t->usage);
    wrap(out, t->about, 0, "", 0);
    for (const struct option_row *row = t->rows; row->name; row++) {
        if (row->section)
            put_format(out, "\n%s:\n", row->section);
        put_row(out, row);
    }
    put_format(out, "\n%s", t->rest);
}

static void put_value(struct put *out, const char *value)
{
    size_t len = strlen(value);
    bool plain = len && !strchr(" \t\"#", value[0]) && !strchr(" \t\r", value[len - 1]) &&
                 !strchr(value, '\n') && !strstr(value, " #") && !strstr(value, "\t#");
    if (plain) {
        put_format(out, "%s\n", value);
        return;
    }
    put_format(out, "\"");
    for (; *value; value++) {
        if (*value == '\n')
            put_format(out, "\\n");
        else
            put_format(out, strchr("\"\\", *value) ? "\\%c" : "%c", *value);
    }
    put_format(out, "\"\n");
}

// Of what is no list the last one holds.
static bool holds(const struct option_settings *said, int i)
{
    const struct option_row *row = said->items[i].row;
    for (int j = i + 1; j < said->count && !row->repeats; j++)
        if (said->items[j].row == row)
            return false;
    return true;
}

// Options of the log change what those before them said: they stand together, in that order.
static bool stands_at(const struct option_row *row, const struct option_row *said)
{
    bool log = said->kind == OPTION_LOG || said->kind == OPTION_LOG_ALL;
    return log ? row->kind == OPTION_LOG : row == said;
}

static void put_setting(struct put *out, const struct option_row *row,
                        const struct option_settings *said)
{
    bool is_said = false;
    for (int i = 0; i < said->count; i++) {
        const struct option_setting *s = &said->items[i];
        if (!stands_at(row, s->row) || !holds(said, i))
            continue;
        is_said = true;
        put_format(out, "%s = ", s->row->name);
        put_value(out, s->value ? s->value : "true");
    }
    if (!is_said)
        put_format(out, "#%s = %s\n", row->name,
                   row->fallback                  ? row->fallback
                   : row->argument                ? row->argument
                   : row->kind == OPTION_TRISTATE ? "true|false"
                                                  : "false");
}

void option_print_config(const struct option_table *t, const struct option_settings *said,
                         struct put *out)
{
    put_format(out,
               "# Options of %s, for --config. A # before a NAME = VALUE leaves the default.\n"
               "[%s]\n",
               t->program, t->program);
    for (const struct option_row *row = t->rows; row->name; row++) {
        if (!option_row_in_file(row) || row->kind == OPTION_OPPOSITE)
            continue; // a switch stands there once, under its own name
        put_format(out, "\n# ");
        wrap(out, row->help, 2, "# ", 2);
        put_setting(out, row, said);
    }
}
