// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/file_source.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "server/stored/stored_table.h"

struct file_source {
    struct group_source base; // first
    struct stored_file *file; // owned
    struct film_table *table; // owned; NULL: the file has none
};

static const struct stored_info *file_info(const struct group_source *s)
{
    return stored_file_info(((const struct file_source *)s)->file);
}

static int file_read(struct group_source *s, int64_t group, unsigned sizes,
                     struct stored_group **out)
{
    (void)sizes; // a file has a group's sizes side by side
    return stored_file_read(((struct file_source *)s)->file, group, out);
}

static int file_table(struct group_source *s, const struct film_table **out)
{
    *out = ((const struct file_source *)s)->table;
    return *out ? 0 : ERR_NOT_FOUND;
}

static void file_free(struct group_source *s)
{
    film_table_free(((struct file_source *)s)->table);
    stored_file_free(((struct file_source *)s)->file);
    free(s);
}

struct group_source *file_source_open(const char *path, struct media_guard *guard, int *err)
{
    static const struct group_source_ops ops = {
        .info = file_info, .table = file_table, .read = file_read, .free = file_free};
    struct file_source *s = malloc(sizeof(*s));
    *err = ERR_NO_MEMORY;
    if (!s)
        return NULL;
    *s = (struct file_source){.base.ops = &ops, .file = stored_file_open(path, guard, err)};
    if (s->file) {
        s->table = stored_table_read(s->file, path);
        return &s->base;
    }
    free(s);
    return NULL;
}
