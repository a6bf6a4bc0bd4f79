// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/media_guard.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/program/file_below.h"

struct media_guard {
    atomic_int references;
    atomic_bool stopped;
    _Atomic usec_t deadline;
    char *root; // owned, constant; NULL: files may be anywhere
};

struct media_guard *media_guard_new(usec_t deadline)
{
    struct media_guard *g = malloc(sizeof(*g));
    if (!g)
        return NULL;
    atomic_init(&g->references, 1);
    atomic_init(&g->stopped, false);
    atomic_init(&g->deadline, deadline);
    g->root = NULL;
    return g;
}

struct media_guard *media_guard_new_below(const char *root, usec_t deadline)
{
    struct media_guard *g = media_guard_new(deadline);
    if (g && !(g->root = strdup(root))) {
        free(g);
        return NULL;
    }
    return g;
}

struct media_guard *media_guard_ref(struct media_guard *g)
{
    if (g)
        atomic_fetch_add(&g->references, 1);
    return g;
}

void media_guard_unref(struct media_guard *g)
{
    if (!g || atomic_fetch_sub(&g->references, 1) > 1)
        return;
    free(g->root);
    free(g);
}

void media_guard_stop(struct media_guard *g)
{
    if (g)
        atomic_store(&g->stopped, true);
}

void media_guard_until(struct media_guard *g, usec_t deadline)
{
    if (g)
        atomic_store(&g->deadline, deadline);
}

int media_guard_check(struct media_guard *g)
{
    if (!g)
        return 0;
    if (atomic_load(&g->stopped))
        return ERR_CLOSED;
    usec_t deadline = atomic_load(&g->deadline);
    return deadline != USEC_NEVER && clock_now() >= deadline ? ERR_TIMED_OUT : 0;
}

int media_guard_open(struct media_guard *g, const char *path, struct stat *st)
{
    return file_below_open(g ? g->root : NULL, path, st);
}

bool media_guard_find(struct media_guard *g, const char *path, struct stat *st)
{
    char real[PATH_MAX];
    return file_below_find(g ? g->root : NULL, path, real, st);
}
