// SPDX-License-Identifier: GPL-2.0-or-later
// A program's options, described once. One table of rows serves the reader of the command line and
// of the configuration file, --help, the manual page and shell completion.
#ifndef WEIR_OPTIONS_OPTION_TABLE_H
#define WEIR_OPTIONS_OPTION_TABLE_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/log_filter.h"
#include "common/base/usec.h"

DECLS_BEGIN

// The type of a value, and of the field at the row's offset.
enum option_kind {
    OPTION_CUSTOM,   // what `read` does, which is given the address of the field
    OPTION_SWITCH,   // bool; no value, or true or false
    OPTION_TRISTATE, // enum option_tristate; the same values
    OPTION_OPPOSITE, // no value of its own: `opposite` turned round
    OPTION_TEXT,     // const char *, borrowed
    OPTION_FILE,     // the same, not empty
    OPTION_PNG,      // the same, ends in .png
    OPTION_INT,      // int, `min` to `max`
    OPTION_SECONDS,  // usec_t, from seconds with a fraction, `min` to `max`
    OPTION_MSEC,     // usec_t, from whole milliseconds, `min` to `max`
    OPTION_LOG,      // struct log_filter, from its own words
    OPTION_LOG_ALL,  // the same, a switch: that of the level `min`
    OPTION_SEED,     // uint64_t, below 9e17
    OPTION_WORD,     // enum: the number of one of the row's `words`
    // Those of the command line alone.
    OPTION_CONFIG,
    OPTION_PRINT_CONFIG,
    OPTION_VERSION,
    OPTION_HELP,
    OPTION_NOTE, // documentation only: an extra help row for a part of an operand
};

// A switch whose default depends on other options. The program sets OPTION_UNSET before it reads.
enum option_tristate { OPTION_UNSET = -1, OPTION_OFF, OPTION_ON };

// Reads `value` into the options, whose offset is 0 for all rows but those of OPTION_CUSTOM.
// Returns NULL, or the fault with the allowed values, which may be in `why`. A switch's value is
// NULL; the function is not called for a switch that is false.
typedef const char *option_read(void *options, const char *value, char *why, size_t cap);

// Returns the `i`th word that a value may be, and its meaning (may be NULL); NULL after the last.
typedef const char *option_value(int i, const char **help);

struct option_word {
    const char *word, *help; // `help`: its meaning, or NULL
};

struct option_row {
    const char *section; // heading that begins at this row; otherwise NULL
    const char
        *name;    // long name, without dashes; for an operand, its name in the configuration file
    char letter;  // '\0': none
    bool operand; // true: given without a name on the command line
    bool repeats; // true: may be given more than once, and the values add up
    const char *argument; // placeholder of the value; NULL: a switch
    const char *help;     // sentences, wrapped when printed
    const char *fallback; // the default, if a value can express it
    enum option_kind kind;
    size_t at; // offset in the options
    double min, max;
    option_read *read; // also after another kind was read: NULL, or what more is wrong
    // What a value, or each part of a LIST, may be: one of `words`, which end with {NULL, NULL}, or
    // what `value` returns. Both NULL: not from a list.
    const struct option_word *words;
    option_value *value;
    const char *opposite; // of OPTION_OPPOSITE: the name of the switch that it turns off
    bool hides_user;      // a URL: no message contains the part before its '@', or a key
    bool in_section;      // may also be set in a section of the table (option_table.section)
};

// The rows of the log options; `filter` and `json` are offsets. The table's --quiet follows.
// clang-format off
#define OPTION_ROWS_LOG(filter, json, usual)                                                      \
    {.section = "General", .name = "log", .argument = "LEVEL[,MODULE=LEVEL...]",                  \
     .kind = OPTION_LOG, .at = (filter), .fallback = (usual),                                     \
     .help = "min level of messages on stderr: error, warn, info or debug; MODULE=LEVEL sets the "      \
             "level of one module (session, transport, encoder ...)"},                         \
    {.name = "log-json", .kind = OPTION_SWITCH, .at = (json),                                     \
     .help = "write each message as a JSON object on one line"},                                                  \
    {.name = "verbose", .letter = 'v', .kind = OPTION_LOG_ALL, .at = (filter),                    \
     .min = LOG_DEBUG, .help = "--log debug"}
// clang-format on

// The row of the state directory (state_dir.h); `member` is the offset of a const char *, NULL if
// it is not given.
// clang-format off
#define OPTION_ROW_STATE_DIR(member)                                                              \
    {.name = "state-dir", .argument = "DIR", .kind = OPTION_FILE, .at = (member),                 \
     .help = "where keys and secrets are kept (default: $STATE_DIRECTORY, $XDG_STATE_HOME/weir, " \
             "or ~/.local/state/weir)"}
// clang-format on

// The last rows of every table, in a section of their own or in the preceding one.
// clang-format off
#define OPTION_ROWS_CONFIG                                                                        \
    {.name = "config", .argument = "FILE", .kind = OPTION_CONFIG,                                 \
     .help = "read options from this file, one NAME = VALUE a line; options on the command line " \
             "take precedence"},                                                                        \
    {.name = "print-config", .kind = OPTION_PRINT_CONFIG,                                         \
     .help = "print the options in effect, as a file for --config, and exit"}
#define OPTION_ROWS_HELP                                                                          \
    {.name = "version", .letter = 'V', .kind = OPTION_VERSION, .help = "print the version"},      \
    {.name = "help", .letter = 'h', .kind = OPTION_HELP, .help = "print this"},                   \
    {.name = NULL}
// clang-format on

// Returns the `i`th word that a value of the row may be, and its meaning; NULL after the last.
const char *option_row_word(const struct option_row *row, int i, const char **help);

struct option_table {
    const char *program; // "weir-send"
    const char *usage;   // the words after the program's name
    const char *about;   // shown by --help: what the program does
    const char *brief;   // `about` in one line, for the manual page's name
    const char *rest;    // shown by --help after the options; complete lines
    const struct option_row *rows;
    // The configuration file may have sections [source NAME], for what belongs to one of several
    // sources. Returns the options that such a section's lines apply to, after all other settings
    // were applied; NULL: `reason` contains the fault. `name` is borrowed from the file's text.
    // NULL: the program has no such sections and ignores them.
    void *(*section)(void *options, const char *name, char *reason, size_t cap);
};

// One option that was set; `line` in the configuration file, 0: on the command line.
struct option_setting {
    const struct option_row *row;
    const char *value; // NULL: a switch without a value
    int line;
    const char *section; // NAME of the section [source NAME], borrowed; NULL: in none
};

enum { OPTION_SETTINGS_MAX = 256, OPTION_ROWS_MAX = 96 };

struct option_settings {
    struct option_setting items[OPTION_SETTINGS_MAX];
    int count;
};

// Reads the whole command line, in the order of getopt_long. Returns 0, or ERR_MALFORMED: `error`
// contains the fault. Values are borrowed from argv.
int option_table_scan(const struct option_table *t, int argc, char **argv,
                      struct option_settings *out, char *error, size_t cap);

// Returns true if the row may occur in a configuration file.
bool option_row_in_file(const struct option_row *row);

// Returns NULL if no row has that name.
const struct option_row *option_table_find(const struct option_table *t, const char *name);

// Returns the setting of `row` with that value. A switch's opposite becomes a setting of the
// switch, so that the last of both is in effect. An opposite that is neither true nor false does
// not change, and option_setting_apply() refuses it.
struct option_setting option_setting_of(const struct option_table *t, const struct option_row *row,
                                        const char *value, int line);

// Returns true if the setting is of this row and in this section (NULL: in none).
bool option_setting_is_of(const struct option_setting *s, const struct option_row *row,
                          const char *section);

// Writes "; did you mean NAME?", each name after `dashes`, or "" if no name is similar.
void option_table_near(const struct option_table *t, const char *name, const char *dashes,
                       char *out, size_t cap);

// Applies one setting to the options. Returns 0, or ERR_MALFORMED: `error` contains the fault,
// without the file's name.
int option_setting_apply(const struct option_setting *s, void *options, char *error, size_t cap);

// For `read`: NULL, or what is wanted.
const char *option_seconds_read(const char *value, double min, double max, usec_t *out, char *why,
                                size_t cap);
const char *option_int_read(const char *value, double min, double max, int *out, char *why,
                            size_t cap);

// Returns true if the value is a URL with the name of a user or with a key, of a row that hides
// them.
// "@FILE" is none, whatever its name. The value of an operand may also be the name of a file or a
// device: it has a user if there is a ':' before its last '@'.
bool option_row_hides(const struct option_row *row, const char *value);

DECLS_END
#endif
