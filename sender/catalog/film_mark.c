// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/film_mark.h"

#include <limits.h>
#include <stdio.h>

#include "media/stored/stored_file.h"

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct film_mark film_mark_of(const char *path, const struct stat *st, struct media_guard *guard)
{
    char beside[PATH_MAX + sizeof(STORED_SUFFIX)];
    struct stat prepared;
    snprintf(beside, sizeof(beside), "%s" STORED_SUFFIX, path);
    return (struct film_mark){
        .device = st->st_dev,
        .inode = st->st_ino,
        .bytes = st->st_size,
        .changed_ns = ns_of(st->st_mtim),
        .prepared_ns = media_guard_find(guard, beside, &prepared) ? ns_of(prepared.st_mtim) : 0};
}

bool film_mark_is_same(const struct film_mark *a, const struct film_mark *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
           a->changed_ns == b->changed_ns && a->prepared_ns == b->prepared_ns;
}
