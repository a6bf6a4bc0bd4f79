// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_docs.h"

#include <stdio.h>
#include <string.h>

enum { ROFF_LINE = 72 };

// Writes text so that roff shows a hyphen as a minus and a backslash as itself.
static void put_roff(struct put *out, const char *text)
{
    for (; *text; text++) {
        const char *as = *text == '\\' ? "\\e" : *text == '-' ? "\\-" : NULL;
        if (as)
            put_format(out, "%s", as);
        else
            put_format(out, "%c", *text);
    }
}

// Writes words in lines such that roff interprets no line as a request.
static void put_roff_lines(struct put *out, const char *text)
{
    char word[128];
    for (int at = 0; *text; text += *text == ' ') {
        int len = (int)strcspn(text, " ");
        bool begins = at == 0 || at + 1 + len > ROFF_LINE;
        if (at)
            put_format(out, begins ? "\n" : " ");
        if (begins && strchr(".'", *text))
            put_format(out, "\\&");
        snprintf(word, sizeof(word), "%.*s", len, text);
        put_roff(out, word);
        at = begins ? len : at + 1 + len;
        text += len;
    }
}

static void put_roff_font(struct put *out, char font, const char *text)
{
    put_format(out, "\\f%c", font);
    put_roff(out, text);
    put_format(out, "\\fR");
}

static void put_man_values(const struct option_row *row, struct put *out)
{
    const char *help;
    const char *word;
    bool any = false;
    for (int i = 0; (word = option_row_word(row, i, &help)); i++) {
        if (!help)
            continue;
        put_format(out, "%s.TP\n", any ? "" : ".RS\n");
        any = true;
        put_roff_font(out, 'B', word);
        put_format(out, "\n");
        put_roff_lines(out, help);
        put_format(out, "\n");
    }
    if (any)
        put_format(out, ".RE\n");
}

static void put_man_row(const struct option_row *row, struct put *out)
{
    char name[64];
    put_format(out, ".TP\n");
    if (row->letter) {
        snprintf(name, sizeof(name), "-%c", row->letter);
        put_roff_font(out, 'B', name);
        put_format(out, ", ");
    }
    snprintf(name, sizeof(name), "--%s", row->name);
    if (!row->operand)
        put_roff_font(out, 'B', name);
    if (row->argument) {
        put_format(out, "%s", row->operand ? "" : " ");
        put_roff_font(out, row->kind == OPTION_NOTE ? 'B' : 'I', row->argument);
    }
    put_format(out, "\n");
    put_roff_lines(out, row->help);
    if (row->fallback) {
        put_format(out, "\n(default: ");
        put_roff_font(out, 'B', row->fallback);
        put_format(out, ")");
    }
    put_format(out, "\n");
    put_man_values(row, out);
}

void option_docs_man(const struct option_table *t, struct put *out)
{
    for (const struct option_row *row = t->rows; row->name; row++) {
        if (row->section)
            put_format(out, ".SS %s\n", row->section);
        put_man_row(row, out);
    }
}

static bool is_list(const struct option_row *row)
{
    size_t len = strlen(row->argument);
    return strcmp(row->argument, "LIST") == 0 ||
           (len > 4 && strcmp(row->argument + len - 4, ",...") == 0);
}

static bool has_words(const struct option_row *row)
{
    const char *help;
    return option_row_word(row, 0, &help);
}

static bool is_file(const struct option_row *row)
{
    const char *help;
    const char *word;
    bool file = row->kind == OPTION_FILE || strncmp(row->argument, "FILE", 4) == 0;
    for (int i = 0; (word = option_row_word(row, i, &help)); i++)
        file = file || strncmp(word, "FILE", 4) == 0;
    return file;
}

// Returns the length of the text before a placeholder, which begins with an upper-case letter or a
// bracket.
static int fixed_part(const char *word)
{
    return (int)strcspn(word, "[<ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

// Writes the words of a list, with a blank before each but the first. `behind` follows each word.
static void put_more_words(const struct option_row *row, const char *escape, bool *first,
                           struct put *out)
{
    const char *help;
    const char *word;
    const char *behind = strncmp(row->argument, "NAME=", 5) == 0 ? "=" : "";
    for (int i = 0; (word = option_row_word(row, i, &help)); i++) {
        int len = fixed_part(word);
        if (len == 0)
            continue;
        put_format(out, "%s", *first ? "" : " ");
        *first = false;
        for (int j = 0; j < len; j++)
            put_format(out, "%s%c", strchr(escape, word[j]) ? "\\" : "", word[j]);
        put_format(out, "%s", behind);
    }
}

static void put_words(const struct option_row *row, const char *escape, struct put *out)
{
    bool first = true;
    put_more_words(row, escape, &first, out);
}

static bool is_completed(const struct option_row *row)
{
    return row->kind != OPTION_NOTE || has_words(row);
}

static void put_bash_values(const struct option_row *row, struct put *out)
{
    if (is_file(row))
        put_format(out, " files=1");
    if (is_list(row))
        put_format(out, " list=1");
    if (has_words(row)) {
        put_format(out, " words='");
        put_words(row, "", out);
        put_format(out, "'");
    }
    put_format(out, " ;;\n");
}

// Writes the words of all rows that are operands.
static void put_bash_operands(const struct option_table *t, struct put *out)
{
    bool any = false, file = false, first = true;
    for (const struct option_row *row = t->rows; row->name; row++) {
        any = any || (row->operand && is_completed(row));
        file = file || (row->operand && is_file(row));
    }
    if (!any)
        return;
    put_format(out, "    *)%s words='", file ? " files=1" : "");
    for (const struct option_row *row = t->rows; row->name; row++)
        if (row->operand)
            put_more_words(row, "", &first, out);
    put_format(out, "' ;;\n");
}

void option_docs_bash(const struct option_table *t, struct put *out)
{
    for (const struct option_row *row = t->rows; row->name; row++) {
        if (row->operand || !row->argument)
            continue;
        put_format(out, "    --%s", row->name);
        if (row->letter)
            put_format(out, " | -%c", row->letter);
        put_format(out, ")");
        put_bash_values(row, out);
    }
    put_format(out, "    -) words='");
    const char *gap = "";
    for (const struct option_row *row = t->rows; row->name; row++) {
        if (row->operand)
            continue;
        put_format(out, "%s--%s", gap, row->name);
        gap = " ";
    }
    put_format(out, "' ;;\n");
    put_bash_operands(t, out);
}

// Writes the first clause of a help text, escaped for [ ] within ' '.
static void put_zsh_text(const char *text, struct put *out)
{
    enum { LINE = 70 };
    const char *end = text + strcspn(text, ";:(");
    if (end - text > LINE) {
        for (end = text + LINE; end > text && *end != ' ';)
            end--;
    }
    while (end > text && end[-1] == ' ')
        end--;
    for (; text < end; text++) {
        if (*text == '\'')
            put_format(out, "'\\''");
        else
            put_format(out, strchr("[]:\\", *text) ? "\\%c" : "%c", *text);
    }
}

static void put_zsh_values(const struct option_row *row, struct put *out)
{
    put_format(out, ":");
    put_zsh_text(row->argument, out);
    put_format(out, ":");
    if (is_list(row)) {
        put_format(out, "_sequence compadd -S \"\" - ");
        put_words(row, ":", out);
    } else if (has_words(row) && is_file(row)) {
        put_format(out, "{ compadd -S \"\" - ");
        put_words(row, ":", out);
        put_format(out, "; _files }");
    } else if (has_words(row)) {
        put_format(out, "(");
        put_words(row, ":", out);
        put_format(out, ")");
    } else {
        put_format(out, is_file(row) ? "_files" : " ");
    }
}

static void put_zsh_row(const struct option_row *row, struct put *out)
{
    const char *equals = row->argument ? "=" : "";
    put_format(out, "    ");
    if (row->operand) {
        put_format(out, "'%s", row->repeats ? "*" : "1");
    } else {
        if (row->repeats)
            put_format(out, "'*'");
        else if (row->letter)
            put_format(out, "'(-%c --%s)'", row->letter, row->name);
        if (row->letter)
            put_format(out, "{-%c%s,--%s%s}", row->letter, row->argument ? "+" : "", row->name,
                       equals);
        else
            put_format(out, "--%s%s", row->name, equals);
        put_format(out, "'[");
        put_zsh_text(row->help, out);
        put_format(out, "]");
    }
    if (row->argument)
        put_zsh_values(row, out);
    put_format(out, "' \\\n");
}

void option_docs_zsh(const struct option_table *t, struct put *out)
{
    for (const struct option_row *row = t->rows; row->name; row++)
        if (is_completed(row))
            put_zsh_row(row, out);
}
