// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/option_words.h"

#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

struct option_words {
    int count;
    char **words; // owned, as each word is; ends with NULL
};

struct option_words *option_words_new(const char *program, const char *const *words,
                                      const char *last)
{
    int given = 0;
    while (words && words[given])
        given++;
    struct option_words *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->words = calloc((size_t)given + 3, sizeof(*w->words));
    bool ok = w->words && (w->words[w->count++] = strdup(program));
    for (int i = 0; ok && i < given; i++)
        ok = (w->words[w->count++] = strdup(words[i])) != NULL;
    if (ok && last)
        ok = (w->words[w->count++] = strdup(last)) != NULL;
    if (ok)
        return w;
    option_words_free(w);
    return NULL;
}

void option_words_free(struct option_words *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->count; i++)
        free(w->words[i]);
    free(w->words);
    free(w);
}

static enum options_result parse_with(const struct option_words *w, option_words_parse_fn *parse,
                                      void *options, FILE *to, char *error, size_t cap)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards getopt_long()'s state
    pthread_mutex_lock(&lock);
    char *arg = optarg;
    int at = optind, prints = opterr, last = optopt;
    enum options_result result = parse(w->count, w->words, options, to, error, cap);
    optarg = arg;
    optind = at;
    opterr = prints;
    optopt = last;
    pthread_mutex_unlock(&lock);
    return result;
}

bool option_words_parse(struct option_words *w, option_words_parse_fn *parse, void *options,
                        char *error, size_t cap)
{
    char text[1024] = "";
    struct log_errors errors = {{0}}, *before = log_errors_kept();
    FILE *nowhere = fopen("/dev/null", "we");
    if (!nowhere) {
        snprintf(error, cap, "cannot open /dev/null");
        return false;
    }
    log_errors_keep(&errors);
    enum options_result result = parse_with(w, parse, options, nowhere, text, sizeof(text));
    log_errors_keep(before);
    fclose(nowhere);
    if (result == OPTIONS_DONE)
        snprintf(error, cap, "--help, --version and --print-config print: they are the program's");
    else if (result == OPTIONS_BAD)
        snprintf(error, cap, "%s", *text ? text : errors.first);
    return result == OPTIONS_RUN;
}
