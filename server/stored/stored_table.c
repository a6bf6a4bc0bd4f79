// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_table.h"

#include "common/base/err.h"
#include "common/base/log.h"

struct film_table *stored_table_read(const struct stored_file *f, const char *path)
{
    size_t bytes;
    struct film_table *t = NULL;
    const uint8_t *data = stored_file_table(f, &bytes);
    const struct stored_info *info = stored_file_info(f);
    int err = data ? film_table_decode(data, bytes, &t) : 0;
    if (!err && t)
        err = film_table_check(t, &info->sdp.ladder, stored_info_groups(info), info->plan.gop);
    if (!err)
        return t;
    log_warn("%s: its table of sizes is not used (%s)", path, err_text(err));
    film_table_free(t);
    return NULL;
}
