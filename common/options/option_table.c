// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_table.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "common/base/scan.h"

enum { LONG_ONLY = 256 }; // results of getopt_long(): from here on, a row's index
static const int64_t SEED_MAX = 900000000000000000 - 1; // scan_int()'s bound is INT64_MAX / 10

// Fills the arrays for getopt_long(). `letters` begins with ':', which makes a missing value
// distinguishable.
static void make_getopt(const struct option_table *t, struct option *list, char *letters,
                        size_t letters_cap)
{
    struct put put = put_into(letters, letters_cap);
    put_format(&put, ":");
    int count = 0;
    for (int i = 0; t->rows[i].name; i++) {
        const struct option_row *row = &t->rows[i];
        assert(i < OPTION_ROWS_MAX);
        if (row->operand)
            continue;
        int has = row->argument             ? required_argument
                  : option_row_in_file(row) ? optional_argument // for --loop=false
                                            : no_argument;
        list[count++] = (struct option){row->name, has, NULL, LONG_ONLY + i};
        if (row->letter)
            put_format(&put, "%c%s", row->letter, row->argument ? ":" : "");
    }
    list[count] = (struct option){0};
    assert(!put.full);
}

static const struct option_row *row_of(const struct option_table *t, int answer)
{
    if (answer >= LONG_ONLY)
        return &t->rows[answer - LONG_ONLY];
    const struct option_row *row = t->rows;
    while (row->letter != answer)
        row++;
    return row;
}

static int add(const struct option_table *t, struct option_settings *out,
               const struct option_row *row, const char *value, char *error, size_t cap)
{
    if (out->count == OPTION_SETTINGS_MAX)
        return err_say(error, cap, ERR_MALFORMED, "at most %d options", OPTION_SETTINGS_MAX);
    out->items[out->count++] = option_setting_of(t, row, value, 0);
    return 0;
}

// Returns the word that contains the letter: getopt_long() moves past a word only with its last
// byte.
static const char *word_of(char letter, int argc, char **argv)
{
    bool within = optind < argc && argv[optind][0] == '-' && strchr(argv[optind], letter);
    return argv[within ? optind : optind - 1];
}

// An unknown letter is in optopt, negative if it is a byte of a multi-byte character. An unknown or
// ambiguous word, or one with an unexpected value, was the last element of argv.
static int unknown(const struct option_table *t, int argc, char **argv, char *error, size_t cap)
{
    const char *word = argv[optind - 1];
    if (optopt > 0 && optopt < LONG_ONLY)
        return err_say(error, cap, ERR_MALFORMED, "unknown option '-%c'", optopt);
    if (optopt < 0)
        return err_say(error, cap, ERR_MALFORMED, "unknown option '%s'",
                       word_of((char)optopt, argc, argv));
    char name[64];
    char near[96];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    option_table_near(t, name, "--", near, sizeof(near));
    return err_say(error, cap, ERR_MALFORMED, "unknown option '%s'%s", word, near);
}

bool option_row_hides(const struct option_row *row, const char *value)
{
    // An operand may be no URL: test:640x360@30.
    bool is_url = !row->operand || strstr(value, "://") || strstr(value, "rtsp");
    bool has_user = is_url && *value != '@' && strchr(value, '@');
    bool has_key = *value != '@' && strstr(value, row->operand ? "?key=" : "key=");
    return row->hides_user && (has_user || has_key);
}

// Returns the part of a value that may be shown: of a URL with a password, however malformed, only
// the part from its last '@', and nothing of one with a key.
static const char *value_shown(const struct option_row *row, const char *value, const char **dots)
{
    bool hides = option_row_hides(row, value);
    const char *at = hides ? strrchr(value, '@') : NULL;
    bool has_key = hides && strstr(value, "key=");
    *dots = at || has_key ? "..." : "";
    return has_key ? "" : at ? at : value;
}

static int scan_operands(const struct option_table *t, int argc, char **argv,
                         struct option_settings *out, char *error, size_t cap)
{
    const struct option_row *row = t->rows;
    while (row->name && (!row->operand || row->kind == OPTION_NOTE))
        row++;
    if (optind < argc && !row->name)
        return err_say(error, cap, ERR_MALFORMED, "expects options only, not \"%s\"", argv[optind]);
    if (optind + 1 < argc && !row->repeats) {
        const char *dots;
        const char *shown = value_shown(row, argv[optind + 1], &dots);
        return err_say(error, cap, ERR_MALFORMED, "expects one %s, but '%s%s' is a second one",
                       row->argument, dots, shown);
    }
    for (int i = optind; i < argc; i++) {
        int err = add(t, out, row, argv[i], error, cap);
        if (err)
            return err;
    }
    return 0;
}

int option_table_scan(const struct option_table *t, int argc, char **argv,
                      struct option_settings *out, char *error, size_t cap)
{
    struct option list[OPTION_ROWS_MAX + 1];
    char letters[2 * OPTION_ROWS_MAX];
    make_getopt(t, list, letters, sizeof(letters));
    out->count = 0;
    optind = 0; // glibc: restarts the scan, also at a second call
    opterr = 0;
    int answer;
    while ((answer = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        if (answer == ':')
            return err_say(error, cap, ERR_MALFORMED, "%s requires a value", argv[optind - 1]);
        if (answer == '?')
            return unknown(t, argc, argv, error, cap);
        int err = add(t, out, row_of(t, answer), optarg, error, cap);
        if (err)
            return err;
    }
    return scan_operands(t, argc, argv, out, error, cap);
}

bool option_row_in_file(const struct option_row *row)
{
    return row->kind < OPTION_CONFIG;
}

const struct option_row *option_table_find(const struct option_table *t, const char *name)
{
    for (const struct option_row *row = t->rows; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

// A switch without a value is true. Returns false if the value is neither true nor false.
static bool switch_read(const char *value, bool *out)
{
    *out = !value || strcmp(value, "true") == 0;
    return *out || strcmp(value, "false") == 0;
}

struct option_setting option_setting_of(const struct option_table *t, const struct option_row *row,
                                        const char *value, int line)
{
    bool on;
    if (row->kind == OPTION_OPPOSITE && switch_read(value, &on)) {
        row = option_table_find(t, row->opposite);
        value = on ? "false" : "true";
    }
    return (struct option_setting){.row = row, .value = value, .line = line};
}

bool option_setting_is_of(const struct option_setting *s, const struct option_row *row,
                          const char *section)
{
    bool same = s->section && section ? strcmp(s->section, section) == 0 : s->section == section;
    return s->row == row && same;
}

// Levenshtein's distance: letters to put in, leave out or change; returns at most `max` + 1.
static int distance(const char *a, const char *b, int max)
{
    enum { WORD = 32 };
    size_t len = strlen(b);
    int row[WORD + 1];
    if (len > WORD || strlen(a) > WORD)
        return max + 1;
    for (size_t j = 0; j <= len; j++)
        row[j] = (int)j;
    for (; *a; a++) {
        int corner = row[0]++;
        for (size_t j = 1; j <= len; j++) {
            int best = corner + (*a != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[len];
}

void option_table_near(const struct option_table *t, const char *name, const char *dashes,
                       char *out, size_t cap)
{
    const struct option_row *nearest = NULL;
    // A third of the letters may differ; more would match unrelated short words.
    int best = (int)strlen(name) / 3 + 1;
    for (const struct option_row *row = t->rows; row->name; row++) {
        if (dashes[0] ? row->operand : !option_row_in_file(row))
            continue;
        bool begins = strlen(name) >= 3 && strncmp(row->name, name, strlen(name)) == 0;
        int d = begins ? 1 : distance(name, row->name, best);
        if (d < best || (d == best && !nearest && best > 1)) {
            best = d;
            nearest = row;
        }
    }
    out[0] = '\0';
    if (nearest)
        snprintf(out, cap, "; did you mean \"%s%s\"?", dashes, nearest->name);
}

// The option's name as the user wrote it: bare in a configuration file, with dashes on the command
// line.
static const char *setting_label(const struct option_setting *s, char *out, size_t cap)
{
    if (s->line)
        snprintf(out, cap, "%s", s->row->name);
    else if (s->row->operand)
        snprintf(out, cap, "%s", s->row->argument);
    else
        snprintf(out, cap, "--%s", s->row->name);
    return out;
}

static bool number_read(const char *value, bool whole, double min, double max, double *out)
{
    char *end;
    // Rejects what strtol() and strtod() also accept: leading white space, 0x, inf, nan.
    if (value[strspn(value, whole ? "+-0123456789" : "+-.0123456789eE")])
        return false;
    errno = 0;
    *out = whole ? (double)strtol(value, &end, 10) : strtod(value, &end);
    return end != value && !*end && !errno && isfinite(*out) && *out >= min && *out <= max;
}

const char *option_seconds_read(const char *value, double min, double max, usec_t *out,
                                char *reason, size_t cap)
{
    double seconds;
    if (!number_read(value, false, min, max, &seconds)) {
        snprintf(reason, cap, "expects %g to %.10g seconds", min, max);
        return reason;
    }
    *out = (usec_t)llround(seconds * 1e6);
    return NULL;
}

const char *option_int_read(const char *value, double min, double max, int *out, char *reason,
                            size_t cap)
{
    double number;
    if (!number_read(value, true, min, max, &number)) {
        snprintf(reason, cap, "expects a number from %.10g to %.10g", min, max);
        return reason;
    }
    *out = (int)number;
    return NULL;
}

static const char *msec_read(const struct option_row *row, const char *value, usec_t *out,
                             char *reason, size_t cap)
{
    double number;
    if (!number_read(value, true, row->min, row->max, &number)) {
        snprintf(reason, cap, "expects %.10g to %.10g milliseconds", row->min, row->max);
        return reason;
    }
    *out = (usec_t)number * USEC_PER_MSEC;
    return NULL;
}

static const char *seed_read(const char *value, uint64_t *out)
{
    struct scan s = scan_of(value, strlen(value));
    int64_t number;
    if (!scan_int(&s, SEED_MAX, &number) || !scan_end(&s))
        return "expects a whole number below 9e17";
    *out = (uint64_t)number;
    return NULL;
}

static const char *name_read(enum option_kind kind, const char *value, const char **out)
{
    size_t len = strlen(value);
    if (kind == OPTION_FILE && !len)
        return "the file's name is empty";
    if (kind == OPTION_PNG && (len < 5 || strcmp(value + len - 4, ".png") != 0))
        return "expects a file's name that ends in .png";
    *out = value;
    return NULL;
}

const char *option_row_word(const struct option_row *row, int i, const char **help)
{
    if (row->value)
        return row->value(i, help);
    *help = row->words ? row->words[i].help : NULL;
    return row->words ? row->words[i].word : NULL;
}

static const char *word_read(const struct option_row *row, const char *value, int *out,
                             char *reason, size_t cap)
{
    const struct option_word *words = row->words;
    struct put put = put_into(reason, cap);
    put_format(&put, "expects");
    for (*out = 0; words[*out].word; (*out)++) {
        int i = *out;
        if (strcmp(value, words[i].word) == 0)
            return NULL;
        put_format(&put, "%s %s", i == 0 ? "" : words[i + 1].word ? "," : " or", words[i].word);
    }
    return reason;
}

// Returns NULL, or the expected value.
static const char *value_read(const struct option_row *row, const char *value, void *options,
                              char *reason, size_t cap)
{
    void *at = (char *)options + row->at;
    switch (row->kind) {
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_PNG:
        return name_read(row->kind, value, at);
    case OPTION_INT:
        return option_int_read(value, row->min, row->max, at, reason, cap);
    case OPTION_SECONDS:
        return option_seconds_read(value, row->min, row->max, at, reason, cap);
    case OPTION_MSEC:
        return msec_read(row, value, at, reason, cap);
    case OPTION_LOG:
        return log_filter_parse(value, at) == 0
                   ? NULL
                   : "expects LEVEL[,MODULE=LEVEL...], levels error, warn, info or debug";
    case OPTION_LOG_ALL:
        *(struct log_filter *)at = log_all((enum log_level)row->min);
        return NULL;
    case OPTION_SEED:
        return seed_read(value, at);
    case OPTION_WORD:
        return word_read(row, value, at, reason, cap);
    default:
        return NULL;
    }
}

int option_setting_apply(const struct option_setting *s, void *options, char *error, size_t cap)
{
    char label[64];
    char reason[512];
    const char *wrong = NULL;
    const char *value = s->value;
    void *at = (char *)options + s->row->at;
    bool on;
    if (!s->row->argument) {
        if (!switch_read(value, &on))
            wrong = "expects true or false";
        else if (s->row->kind == OPTION_SWITCH)
            *(bool *)at = on; // said more than once, the last one holds
        else if (s->row->kind == OPTION_TRISTATE)
            *(enum option_tristate *)at = on ? OPTION_ON : OPTION_OFF;
        if (!wrong && !on)
            return 0;
        value = NULL;
    }
    if (!wrong)
        wrong = value_read(s->row, value, options, reason, sizeof(reason));
    if (!wrong && s->row->read)
        wrong = s->row->read(s->row->kind == OPTION_CUSTOM ? at : options, value, reason,
                             sizeof(reason));
    if (!wrong)
        return 0;
    const char *dots;
    const char *shown = value_shown(s->row, s->value, &dots);
    return err_say(error, cap, ERR_MALFORMED, "%s '%s%s': %s",
                   setting_label(s, label, sizeof(label)), dots, shown, wrong);
}
