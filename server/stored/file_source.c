// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/file_source.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "media/stored/stored_file.h"

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

// A table that lies is not used: viewers then do without.
static void read_table(struct file_source *s, const char *path)
{
    size_t bytes;
    const uint8_t *data = stored_file_table(s->file, &bytes);
    const struct stored_info *info = stored_file_info(s->file);
    int err = data ? film_table_decode(data, bytes, &s->table) : 0;
    if (!err && s->table)
        err =
            film_table_check(s->table, &info->sdp.ladder, stored_info_groups(info), info->plan.gop);
    if (!err)
        return;
    log_warn("%s: its table of sizes is not used (%s)", path, err_text(err));
    film_table_free(s->table);
    s->table = NULL;
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
        read_table(s, path);
        return &s->base;
    }
    free(s);
    return NULL;
}
