// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_print.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN = 27, VALUES = 8, LINE = 512 };

// Writes the words of `text` from column `at` on; further lines begin with `indent`, padded to
// `column`.
static void wrap(struct put *out, const char *text, int at, const char *indent, int column)
{
    bool first = true; // true at the start of a line
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

// Writes `head`, then `text` in the column to the right of it.
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
    for (int i = 0; (word = option_row_word(row, i, &help)); i++) {
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

// Returns true if setting `i` is in effect: it is the last one of its option in its section, or one
// of a list.
static bool holds(const struct option_settings *given, int i)
{
    const struct option_setting *s = &given->items[i];
    for (int j = i + 1; j < given->count && !s->row->repeats; j++)
        if (option_setting_is_of(&given->items[j], s->row, s->section))
            return false;
    return true;
}

// Returns true if `said` is printed at `row`. All log options are printed together, in their order,
// as each modifies the ones before it.
static bool stands_at(const struct option_row *row, const struct option_row *given)
{
    bool log = given->kind == OPTION_LOG || given->kind == OPTION_LOG_ALL;
    return log ? row->kind == OPTION_LOG : row == given;
}

static void put_one(struct put *out, const struct option_setting *s)
{
    const char *at = s->value ? strrchr(s->value, '@') : NULL;
    if (s->value && option_row_hides(s->row, s->value)) {
        put_format(out, "# The user and the password are not printed.\n#%s = ...%s\n", s->row->name,
                   at ? at : "");
        return;
    }
    put_format(out, "%s = ", s->row->name);
    put_value(out, s->value ? s->value : "true");
}

static void put_setting(struct put *out, const struct option_row *row,
                        const struct option_settings *given)
{
    bool is_said = false;
    for (int i = 0; i < given->count; i++) {
        const struct option_setting *s = &given->items[i];
        if (s->section || !stands_at(row, s->row) || !holds(given, i))
            continue;
        is_said = true;
        put_one(out, s);
    }
    if (!is_said)
        put_format(out, "#%s = %s\n", row->name,
                   row->fallback                  ? row->fallback
                   : row->argument                ? row->argument
                   : row->kind == OPTION_TRISTATE ? "true|false"
                                                  : "false");
}

// Prints the section that setting `first` is the first one of.
static void put_section(struct put *out, const struct option_settings *given, int first)
{
    const char *name = given->items[first].section;
    put_format(out, "\n[source %s]\n", name);
    for (int i = first; i < given->count; i++) {
        const struct option_setting *s = &given->items[i];
        if (option_setting_is_of(s, s->row, name) && holds(given, i))
            put_one(out, s);
    }
}

static bool begins_section(const struct option_settings *given, int i)
{
    const char *name = given->items[i].section;
    for (int j = 0; j < i && name; j++)
        if (given->items[j].section && strcmp(given->items[j].section, name) == 0)
            return false;
    return name != NULL;
}

void option_print_config(const struct option_table *t, const struct option_settings *given,
                         struct put *out)
{
    put_format(out,
               "# Options of %s, for --config. A # before a NAME = VALUE leaves the default.\n"
               "[%s]\n",
               t->program, t->program);
    for (const struct option_row *row = t->rows; row->name; row++) {
        if (!option_row_in_file(row) || row->kind == OPTION_OPPOSITE)
            continue; // a switch is printed once, under its own name
        put_format(out, "\n# ");
        wrap(out, row->help, 2, "# ", 2);
        put_setting(out, row, given);
    }
    for (int i = 0; i < given->count; i++)
        if (begins_section(given, i))
            put_section(out, given, i);
}
