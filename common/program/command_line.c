// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/command_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/options/option_file.h"
#include "common/options/option_print.h"

// Returns the last setting of the kind, or NULL.
static const struct option_setting *find(const struct option_settings *given, enum option_kind kind)
{
    const struct option_setting *found = NULL;
    for (int i = 0; i < given->count; i++)
        if (given->items[i].row->kind == kind)
            found = &given->items[i];
    return found;
}

// Reads the file, with room for the extra byte that option_file_read() requires. Returns NULL on
// failure: `error` contains the reason.
static char *read_text(const char *name, size_t *len, char *error, size_t cap)
{
    FILE *file = fopen(name, "rbe");
    char *text = file ? malloc(OPTION_FILE_MAX + 1) : NULL;
    if (text) {
        errno = 0;
        *len = fread(text, 1, OPTION_FILE_MAX + 1, file);
    }
    if (!text || ferror(file) || *len > OPTION_FILE_MAX) {
        err_say(error, cap, ERR_IO, "--config '%s': cannot be read: %s", name,
                text && !ferror(file) ? "is larger than 64 KiB" : strerror(errno));
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static bool has_row(const struct option_settings *given, const struct option_row *row)
{
    for (int i = 0; i < given->count; i++)
        if (given->items[i].row == row)
            return true;
    return false;
}

// Puts the settings of the file that the command line does not override before those of the command
// line.
static int merge(struct option_settings *given, const struct option_settings *in_file, char *error,
                 size_t cap)
{
    struct option_settings all = {.count = 0};
    for (int i = 0; i < in_file->count; i++)
        if (!has_row(given, in_file->items[i].row))
            all.items[all.count++] = in_file->items[i];
    for (int i = 0; i < given->count; i++) {
        if (all.count == OPTION_SETTINGS_MAX)
            return err_say(error, cap, ERR_MALFORMED, "at most %d options", OPTION_SETTINGS_MAX);
        all.items[all.count++] = given->items[i];
    }
    *given = all;
    return 0;
}

static int add_file(const struct option_table *t, const char *name, struct option_settings *given,
                    char **file, char *error, size_t cap)
{
    size_t len;
    struct option_settings in_file;
    *file = read_text(name, &len, error, cap);
    if (!*file)
        return ERR_IO;
    int err = option_file_read(t, name, *file, len, &in_file, error, cap);
    return err ? err : merge(given, &in_file, error, cap);
}

static int apply_one(const struct option_table *t, const struct option_setting *s,
                     const char *file_name, void *options, char *error, size_t cap)
{
    int n = s->line ? snprintf(error, cap, "%s:%d: ", file_name, s->line) : 0;
    size_t prefix = n < 0 || (size_t)n >= cap ? 0 : (size_t)n;
    char *reason = prefix ? error + prefix : error; // `error` may be NULL, if `cap` is 0
    void *to = s->section ? t->section(options, s->section, reason, cap - prefix) : options;
    return to ? option_setting_apply(s, to, reason, cap - prefix) : ERR_MALFORMED;
}

// Those in sections come last: what they change is made of all others.
static int apply(const struct option_table *t, const struct option_settings *given,
                 const char *file_name, void *options, char *error, size_t cap)
{
    int err = 0;
    for (int in_section = 0; in_section < 2; in_section++)
        for (int i = 0; i < given->count && !err; i++)
            if ((given->items[i].section != NULL) == in_section)
                err = apply_one(t, &given->items[i], file_name, options, error, cap);
    return err;
}

static enum options_result print_text(const struct option_table *t,
                                      const struct option_settings *given, enum option_kind what,
                                      FILE *to, struct put put, char *error, size_t cap)
{
    if (what == OPTION_HELP)
        option_print_help(t, &put);
    else if (what == OPTION_VERSION)
        put_format(&put, "%s " WEIR_VERSION "\n", t->program);
    else
        option_print_config(t, given, &put);
    if (put.full) {
        err_say(error, cap, ERR_FULL, "the options' values are too long to be printed");
        return OPTIONS_BAD;
    }
    if (fputs(put.out, to) >= 0 && fflush(to) == 0)
        return OPTIONS_DONE;
    err_say(error, cap, ERR_IO, "cannot print: %s", strerror(errno));
    return OPTIONS_BAD;
}

static enum options_result print(const struct option_table *t, const struct option_settings *given,
                                 enum option_kind what, FILE *to, char *error, size_t cap)
{
    char *text = malloc(OPTION_PRINT_MAX); // too large for the stack
    if (!text) {
        err_say(error, cap, ERR_NO_MEMORY, "out of memory");
        return OPTIONS_BAD;
    }
    enum options_result result =
        print_text(t, given, what, to, put_into(text, OPTION_PRINT_MAX), error, cap);
    free(text);
    return result;
}

enum options_result command_line_read(const struct option_table *t, int argc, char **argv,
                                      void *options, char **file, FILE *to, char *error, size_t cap)
{
    struct option_settings given;
    *file = NULL;
    if (option_table_scan(t, argc, argv, &given, error, cap) != 0)
        return OPTIONS_BAD;
    if (find(&given, OPTION_HELP))
        return print(t, &given, OPTION_HELP, to, error, cap);
    if (find(&given, OPTION_VERSION))
        return print(t, &given, OPTION_VERSION, to, error, cap);
    const struct option_setting *config = find(&given, OPTION_CONFIG);
    const char *name = config ? config->value : NULL;
    enum options_result result = OPTIONS_BAD;
    if ((!name || add_file(t, name, &given, file, error, cap) == 0) &&
        apply(t, &given, name, options, error, cap) == 0)
        result = find(&given, OPTION_PRINT_CONFIG)
                     ? print(t, &given, OPTION_PRINT_CONFIG, to, error, cap)
                     : OPTIONS_RUN;
    if (result != OPTIONS_RUN) {
        free(*file);
        *file = NULL;
    }
    return result;
}
