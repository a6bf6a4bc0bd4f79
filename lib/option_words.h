// SPDX-License-Identifier: GPL-2.0-or-later
// The options of a configuration of libweir, read as a program's command line is. getopt_long() has
// one state for the process: so threads read their options one after the other, and getopt(3)'s
// variables are those of before afterwards.
#ifndef WEIR_LIB_OPTION_WORDS_H
#define WEIR_LIB_OPTION_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/program/command_line.h"

#ifdef __cplusplus
extern "C" {
#endif

struct option_words; // opaque

// Copies `words`, ends with NULL, or NULL: none; and `last`, or NULL: none. `program`: a literal.
// NULL: no memory.
struct option_words *option_words_new(const char *program, const char *const *words,
                                      const char *last);
void option_words_free(struct option_words *w); // NULL is fine

typedef enum options_result option_words_parse_fn(int argc, char **argv, void *options, FILE *out,
                                                  char *error, size_t cap);
// Has `parse` read the words, in which `options` may point afterwards. Returns true; or false, with
// the reason in `error`: also of an option that prints, such as --help. Then `options` has nothing
// that is to be freed.
bool option_words_parse(struct option_words *w, option_words_parse_fn *parse, void *options,
                        char *error, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
