// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/arguments.h"

#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// getopt_long(3) has one state for the whole process.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int count(const char *const *texts)
{
    int n = 0;
    while (texts && texts[n])
        n++;
    return n;
}

static bool add(struct arguments *a, const char *text)
{
    char *copy = strdup(text);
    if (copy)
        a->argv[a->argc++] = copy;
    return copy;
}

static bool fill(struct arguments *a, const struct arguments_parts *p)
{
    int most = 1 + count(p->first) + count(p->options) + 2;
    a->argv = calloc((size_t)most + 1, sizeof(*a->argv));
    bool ok = a->argv && add(a, p->program);
    for (int i = 0; ok && i < count(p->first); i++)
        ok = add(a, p->first[i]);
    for (int i = 0; ok && i < count(p->options); i++)
        ok = add(a, p->options[i]);
    if (ok && p->operand)
        ok = add(a, "--") && add(a, p->operand);
    return ok;
}

int arguments_parse(const struct arguments_parts *parts, struct arguments *out, void *options,
                    char *error, size_t cap)
{
    char *printed = NULL;
    size_t len;
    *out = (struct arguments){0};
    FILE *to = open_memstream(&printed, &len);
    if (!to || !fill(out, parts)) {
        snprintf(error, cap, "out of memory");
        goto free_arguments;
    }
    pthread_mutex_lock(&lock);
    char *arg = optarg; // the program may be reading its own command line
    int at = optind, prints = opterr, letter = optopt;
    enum options_result result = parts->parse(out->argc, out->argv, options, to, error, cap);
    optarg = arg;
    optind = at;
    opterr = prints;
    optopt = letter;
    pthread_mutex_unlock(&lock);
    fclose(to);
    free(printed);
    if (result == OPTIONS_RUN)
        return 0;
    if (result == OPTIONS_DONE)
        snprintf(error, cap,
                 "--help, --version and --print-config are options of the command line only");
    arguments_free(out);
    return -1;

free_arguments:
    if (to)
        fclose(to);
    free(printed);
    arguments_free(out);
    return -1;
}

void arguments_free(struct arguments *a)
{
    for (int i = 0; i < a->argc; i++)
        free(a->argv[i]);
    free(a->argv);
    *a = (struct arguments){0};
}
