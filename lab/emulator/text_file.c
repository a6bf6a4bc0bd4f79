// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"

// Grows the buffer while reading, as a pipe has no size.
static int read_all(FILE *file, char **text, size_t *len)
{
    size_t cap = 0;
    for (;;) {
        if (*len + 1 >= cap) {
            cap = cap ? 2 * cap : 64 * 1024;
            char *grown = realloc(*text, cap);
            if (!grown)
                return ERR_NO_MEMORY;
            *text = grown;
        }
        size_t n = fread(*text + *len, 1, cap - *len - 1, file);
        *len += n;
        (*text)[*len] = '\0';
        if (*len > TEXT_FILE_MAX)
            return ERR_TOO_BIG;
        if (n == 0)
            return ferror(file) ? ERR_IO : 0;
    }
}

int text_file_read(const char *path, char **text, size_t *len)
{
    *text = NULL;
    *len = 0;
    FILE *file = fopen(path, "rbe");
    int err = file ? read_all(file, text, len) : ERR_IO;
    if (err)
        log_error("cannot read %s: %s", path, err == ERR_IO ? strerror(errno) : err_text(err));
    if (file)
        fclose(file);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}
