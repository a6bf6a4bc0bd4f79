// SPDX-License-Identifier: GPL-2.0-or-later
// A program's options, described once: what reads the command line and the configuration file, and
// what prints --help, the manual page and shell completion, all go by one table of rows.
#ifndef WEIR_OPTIONS_OPTION_TABLE_H
#define WEIR_OPTIONS_OPTION_TABLE_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/log_filter.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a value is read, and what stands at the row's offset.
enum option_kind {
    OPTION_CUSTOM,   // what `read` does
    OPTION_SWITCH,   // bool; no value, or true or false
    OPTION_TRISTATE, // enum option_tristate; the same values
    OPTION_OPPOSITE, // no value of its own: `opposite` turned round
    OPTION_TEXT,     // const char *, borrowed
    OPTION_FILE,     // the same, not empty
    OPTION_PNG,      // the same, ends in .png
    OPTION_INT,      // int, `least` to `most`
    OPTION_SECONDS,  // usec_t, from seconds with a fraction, `least` to `most`
    OPTION_MSEC,     // usec_t, from whole milliseconds, `least` to `most`
    OPTION_LOG,      // struct log_filter, from its own words
    OPTION_LOG_ALL,  // the same, a switch: that of the level `least`
    OPTION_SEED,     // uint64_t, below 9e17
    // Those of the command line alone.
    OPTION_CONFIG,
    OPTION_PRINT_CONFIG,
    OPTION_VERSION,
    OPTION_HELP,
    OPTION_NOTE, // nothing to be said by itself: an `operand` that explains a part of a value
};

// A switch whose default depends on other options. The program sets OPTION_UNSET before it reads.
enum option_tristate { OPTION_UNSET = -1, OPTION_OFF, OPTION_ON };

// Into the options; NULL, or what is wrong with the value and what is allowed, which may be put
// into `why`. A switch's value is NULL; one that is false is not told.
typedef const char *option_read(void *options, const char *value, char *why, size_t cap);

// The `i`th word that a value may be, and what it means (may be NULL); NULL behind the last.
typedef const char *option_value(int i, const char **help);

struct option_row {
    const char *section;  // a heading that begins here; else NULL
    const char *name;     // long, without dashes; an operand's in the configuration file
    char letter;          // '\0': none
    bool operand;         // stands on the command line by itself
    bool repeats;         // may be given more than once, and adds up
    const char *argument; // what stands for the value; NULL: a switch
    const char *help;     // sentences; lines are broken when it is printed
    const char *fallback; // what holds when nothing is said, if a value can say it
    enum option_kind kind;
    size_t at; // offset in the options
    double least, most;
    option_read *read;    // also after another kind was read: NULL, or what more is wrong
    option_value *value;  // of a value, or of each part of a LIST; NULL: not from a list
    const char *opposite; // of OPTION_OPPOSITE: the name of the switch that it turns off
    bool hides_user;      // a URL: what stands before its '@' is in no message
};

// Those of the log, `filter` and `json` their offsets; the table's --quiet follows.
// clang-format off
#define OPTION_ROWS_LOG(filter, json, usual)                                                      \
    {.section = "General", .name = "log", .argument = "LEVEL[,MODULE=LEVEL...]",                  \
     .kind = OPTION_LOG, .at = (filter), .fallback = (usual),                                     \
     .help = "which messages go to stderr: error, warn, info or debug; of a module of the program "    \
             "(session, transport, encoder ...) more or less than that"},                         \
    {.name = "log-json", .kind = OPTION_SWITCH, .at = (json),                                     \
     .help = "tell it as a JSON object a line"},                                                  \
    {.name = "verbose", .letter = 'v', .kind = OPTION_LOG_ALL, .at = (filter),                    \
     .least = LOG_DEBUG, .help = "--log debug"}
// clang-format on

// The last rows of every table, under a heading of their own or in the section before.
// clang-format off
#define OPTION_ROWS_CONFIG                                                                        \
    {.name = "config", .argument = "FILE", .kind = OPTION_CONFIG,                                 \
     .help = "read options from this file, one NAME = VALUE a line; those of the command line "   \
             "go before"},                                                                        \
    {.name = "print-config", .kind = OPTION_PRINT_CONFIG,                                         \
     .help = "print the options that hold, as a file for --config, and end"}
#define OPTION_ROWS_HELP                                                                          \
    {.name = "version", .letter = 'V', .kind = OPTION_VERSION, .help = "print the version"},      \
    {.name = "help", .letter = 'h', .kind = OPTION_HELP, .help = "print this"},                   \
    {.name = NULL}
// clang-format on

struct option_table {
    const char *program; // "weir-send"
    const char *usage;   // the words behind it
    const char *about;   // of --help: what the program does
    const char *brief;   // the same in one line, for the manual page's name
    const char *rest;    // of --help, behind the options; complete lines
    const struct option_row *rows;
};

// One thing that was said; `line` of the configuration file, 0: on the command line.
struct option_setting {
    const struct option_row *row;
    const char *value; // NULL: a switch that is on
    int line;
};

enum { OPTION_SETTINGS_MAX = 256, OPTION_ROWS_MAX = 96 };

struct option_settings {
    struct option_setting items[OPTION_SETTINGS_MAX];
    int count;
};

// Reads the whole command line, in the order of getopt_long. 0, or ERR_MALFORMED: `error` says what
// is wrong. Values are borrowed from argv.
int option_table_scan(const struct option_table *t, int argc, char **argv,
                      struct option_settings *out, char *error, size_t cap);

// Whether the row can stand in a configuration file.
bool option_row_in_file(const struct option_row *row);

// NULL when there is none of that name.
const struct option_row *option_table_find(const struct option_table *t, const char *name);

// The user gave `row` that value. A switch's opposite becomes a setting of the switch, so that the
// last of both holds; one that is neither true nor false stays, and option_setting_apply() refuses
// it.
struct option_setting option_setting_of(const struct option_table *t, const struct option_row *row,
                                        const char *value, int line);

// "; did you mean NAME?", each name behind `dashes`, or "" when nothing is near.
void option_table_near(const struct option_table *t, const char *name, const char *dashes,
                       char *out, size_t cap);

// One into the options. 0, or ERR_MALFORMED: `error` says what is wrong, without a file's name.
int option_setting_apply(const struct option_setting *s, void *options, char *error, size_t cap);

// For `read`: NULL, or what is wanted.
const char *option_seconds_read(const char *value, double least, double most, usec_t *out,
                                char *why, size_t cap);
const char *option_int_read(const char *value, double least, double most, int *out, char *why,
                            size_t cap);

#ifdef __cplusplus
}
#endif
#endif
