// SPDX-License-Identifier: GPL-2.0-or-later
// A small table of options for the tests.
#ifndef WEIR_TESTS_OPTION_ROWS_H
#define WEIR_TESTS_OPTION_ROWS_H

#include <cstdio>

#include "common/base/err.h"
#include "common/options/option_table.h"

struct option_rows_options {
    const char *source, *file, *picture;
    int rate;
    bool loop;
    int twice; // how often
    usec_t wait, delay;
    uint64_t seed;
    option_tristate retry;
    option_rows_options *section; // for the lines of the section [source NAME]
};

inline void *option_rows_section(void *options, const char *name, char *reason, size_t cap)
{
    auto *o = static_cast<option_rows_options *>(options);
    if (!o->section)
        snprintf(reason, cap, "\"%s\" is unknown", name);
    else if (!o->section->rate)
        o->section->rate = o->rate; // as they are now
    return o->section;
}

inline const char *option_rows_source(void *, const char *value, char *, size_t)
{
    return *value ? nullptr : "expects something";
}

inline const char *option_rows_twice(void *options, const char *value, char *, size_t)
{
    static_cast<option_rows_options *>(options)->twice++;
    return *value == 'x' || *value == 'y' ? nullptr : "expects x or y";
}

inline const char *option_rows_word(int i, const char **help)
{
    static const char *const words[] = {"x", "y"};
    *help = i == 0 ? "the first letter" : nullptr;
    return i < 2 ? words[i] : nullptr;
}

// Makes a row of the kind; `more` sets its other fields.
template <typename More>
option_row option_rows_make(const char *name, const char *argument, option_kind kind, size_t at,
                            const char *help, More more)
{
    option_row row{};
    row.name = name;
    row.argument = argument;
    row.kind = kind;
    row.at = at;
    row.help = help;
    more(row);
    return row;
}

inline option_row option_rows_make(const char *name, const char *argument, option_kind kind,
                                   size_t at, const char *help)
{
    return option_rows_make(name, argument, kind, at, help, [](option_row &) {});
}

#define AT(member) offsetof(option_rows_options, member)

inline const option_row option_rows[] = {
    option_rows_make("source", "SOURCE", OPTION_TEXT, AT(source), "what it is",
                     [](option_row &row) {
                         row.section = "Source";
                         row.operand = true;
                         row.fallback = "nothing";
                         row.read = option_rows_source;
                     }),
    option_rows_make("rate", "N", OPTION_INT, AT(rate), "how fast",
                     [](option_row &row) {
                         row.section = "Numbers";
                         row.letter = 'r';
                         row.fallback = "4";
                         row.min = 1;
                         row.max = 10;
                     }),
    option_rows_make(
        "wait", "SECONDS", OPTION_SECONDS, AT(wait),
        "how long, which takes so many words to tell that they do not fit in one line of it",
        [](option_row &row) { row.max = 3600; }),
    option_rows_make("delay", "MS", OPTION_MSEC, AT(delay), "how late; 50 is little",
                     [](option_row &row) {
                         row.min = 50;
                         row.max = 30000;
                     }),
    option_rows_make("file", "FILE", OPTION_FILE, AT(file), "where",
                     [](option_row &row) {
                         row.section = "Words";
                         row.in_section = true;
                     }),
    option_rows_make("picture", "FILE.png", OPTION_PNG, AT(picture), "a picture"),
    option_rows_make("loop", nullptr, OPTION_SWITCH, AT(loop), "again",
                     [](option_row &row) { row.letter = 'l'; }),
    option_rows_make("twice", "LETTER", OPTION_CUSTOM, 0, "letters",
                     [](option_row &row) {
                         row.repeats = true;
                         row.in_section = true;
                         row.read = option_rows_twice;
                         row.value = option_rows_word;
                     }),
    option_rows_make("retry", nullptr, OPTION_TRISTATE, AT(retry), "try again"),
    option_rows_make("no-retry", nullptr, OPTION_OPPOSITE, 0, "give up",
                     [](option_row &row) { row.opposite = "retry"; }),
    option_rows_make("seed", "N", OPTION_SEED, AT(seed), "of chance"),
    option_rows_make("key", "a=N", OPTION_NOTE, 0, "how many",
                     [](option_row &row) {
                         row.section = "Keys";
                         row.operand = true;
                     }),
    option_rows_make("command", "COMMAND", OPTION_NOTE, 0, "the first word",
                     [](option_row &row) {
                         row.operand = true;
                         row.value = option_rows_word;
                     }),
    option_rows_make("config", "FILE", OPTION_CONFIG, 0, "options from a file"),
    option_rows_make("help", nullptr, OPTION_HELP, 0, "print this",
                     [](option_row &row) { row.letter = 'h'; }),
    {},
};
#undef AT

inline const option_table option_rows_table = {
    "weir-send", "[OPTION]... [SOURCE]", "Does it.", "do it", "The end.\n",
    option_rows, option_rows_section};

#endif
