// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/stored/stored_file.h"
#include "sender/catalog/folder_list.h"
#include "sender/prepare/prepare_film.h"
#include "sender/prepare/prepare_stop.h"

enum { MAX_FILMS = 100000 };

struct films {
    char **names; // owned, as are the strings
    int count;
    bool is_short; // of memory, or there are more than MAX_FILMS
};

static bool add_film(void *ctx, const char *path, const char *real, const struct stat *st)
{
    struct films *f = ctx;
    (void)path;
    (void)st;
    if (stored_file_is(real)) // its original is gone
        return true;
    char **names =
        f->count < MAX_FILMS ? realloc(f->names, (size_t)(f->count + 1) * sizeof(*names)) : NULL;
    if (names)
        f->names = names;
    char *name = names ? strdup(real) : NULL;
    f->is_short = !name;
    if (name)
        f->names[f->count++] = name;
    return name != NULL;
}

// Prepares what is not up to date, and goes on after a film that fails. Returns the exit code.
static int prepare_folder(const struct options *o)
{
    char root[PATH_MAX];
    struct films films = {0};
    int prepared = 0, done = 0, failed = 0;
    if (!realpath(o->source, root)) {
        log_error("%s: the folder cannot be read", o->source);
        return EXIT_FAILURE;
    }
    folder_list_walk(root, add_film, &films);
    for (int i = 0; i < films.count && !films.is_short; i++) {
        char label[64];
        snprintf(label, sizeof(label), "film %d of %d: ", i + 1, films.count);
        if (prepare_film_is_done(o, films.names[i])) {
            log_debug("%s%s is up to date", label, films.names[i]);
            done++;
        } else if (prepare_film(o, films.names[i], label) == 0) {
            prepared++;
        } else {
            failed++;
        }
    }
    if (films.is_short)
        log_error("%s: too many films (at most %d), or too little memory", o->source, MAX_FILMS);
    else
        log_info("%s: %d film%s: %d prepared, %d up to date, %d failed", o->source, films.count,
                 films.count == 1 ? "" : "s", prepared, done, failed);
    for (int i = 0; i < films.count; i++)
        free(films.names[i]);
    free(films.names);
    return failed || films.is_short ? EXIT_FAILURE : EXIT_SUCCESS;
}

int prepare_run(const struct options *o)
{
    struct stat st;
    bool terminal = o->log.filter.level >= LOG_INFO && isatty(STDERR_FILENO);
    if (prepare_stop_watch(terminal) != 0) {
        log_error("cannot start a thread");
        return EXIT_FAILURE;
    }
    if (stat(o->source, &st) == 0 && S_ISDIR(st.st_mode))
        return prepare_folder(o);
    if (prepare_film_is_done(o, o->source)) {
        log_info("%s" STORED_SUFFIX " is up to date", o->source);
        return EXIT_SUCCESS;
    }
    return prepare_film(o, o->source, "") == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
