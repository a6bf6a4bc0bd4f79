// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the files that weir-sim's command line names: words, traces, frame sizes.
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "lab/emulator/text_file.h"
#include "lab/simulator/options.h"

struct words {
    char **list;
    int count;
};

static int add_word(struct words *w, char *word, char *error, size_t cap)
{
    if (w->count == SIM_OPTIONS_WORDS)
        return err_say(error, cap, ERR_RANGE, "at most %d words", SIM_OPTIONS_WORDS);
    w->list[w->count++] = word;
    return 0;
}

// Terminates the words in place.
static int split(char *text, struct words *w, char *error, size_t cap)
{
    for (char *at = text; *at;) {
        if (*at == '#') {
            at += strcspn(at, "\n");
        } else if (strchr(" \t\r\n", *at)) {
            at++;
        } else {
            int err = add_word(w, at, error, cap);
            if (err)
                return err;
            at += strcspn(at, " \t\r\n");
            if (*at)
                *at++ = '\0';
        }
    }
    return 0;
}

static int read_words(struct sim_options *o, const char *name, struct words *w, char *error,
                      size_t cap)
{
    size_t len;
    if (!name || o->file)
        return err_say(error, cap, ERR_MALFORMED,
                       "--scenario requires a FILE and can be given once");
    int err = text_file_read(name, &o->file, &len);
    if (err)
        return err; // logged by text_file_read()
    if (strlen(o->file) != len)
        return err_say(error, cap, ERR_MALFORMED, "%.200s: not a text file", name);
    return split(o->file, w, error, cap);
}

int sim_options_expand(struct sim_options *o, int argc, char **argv, char **words, char *error,
                       size_t cap)
{
    struct words w = {.list = words};
    for (int i = 0; i < argc; i++) {
        bool is_file = strcmp(argv[i], "--scenario") == 0;
        int err = is_file ? read_words(o, argv[i + 1], &w, error, cap)
                          : add_word(&w, argv[i], error, cap);
        if (err)
            return err;
        i += is_file;
    }
    words[w.count] = NULL;
    return w.count;
}

static int load_trace(const struct link_spec *spec, char **owned, const char **text, size_t *len)
{
    int err = spec->trace[0] ? text_file_read(spec->trace, owned, len) : 0;
    *text = *owned;
    return err;
}

static int load_sizes(struct group *g, char *error, size_t cap)
{
    char *text;
    size_t len;
    size_t line;
    if (!g->sizes_path[0])
        return 0;
    int err = text_file_read(g->sizes_path, &text, &len);
    if (err)
        return err; // logged by text_file_read()
    err = frame_sizes_parse(text, len, &g->sizes, &line);
    free(text);
    return err ? err_say(error, cap, err, "%.200s, line %zu: %s", g->sizes_path, line,
                         err_text(err))
               : 0;
}

int sim_options_load(struct sim_options *o, char *error, size_t cap)
{
    struct scenario *sc = &o->scenario;
    int err = 0;
    for (int i = 0; i < sc->group_count && !err; i++)
        err = load_sizes(&sc->groups[i], error, cap);
    if (!err)
        err = load_trace(&sc->right, &o->traces[0], &sc->right_trace, &sc->right_trace_len);
    if (!err)
        err = load_trace(&sc->left, &o->traces[1], &sc->left_trace, &sc->left_trace_len);
    return err;
}
