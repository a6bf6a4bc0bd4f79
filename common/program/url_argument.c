// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/url_argument.h"

#include <stdio.h>
#include <string.h>

const char *url_argument_read(const char *value, char line[URL_ARGUMENT_MAX])
{
    if (value[0] != '@')
        return value;
    FILE *file = fopen(value + 1, "re");
    bool got = file && fgets(line, URL_ARGUMENT_MAX, file);
    if (file)
        fclose(file);
    size_t len = got ? strcspn(line, "\r\n") : 0;
    if (!got || (!line[len] && len + 1 >= URL_ARGUMENT_MAX))
        return NULL;
    line[len] = '\0';
    return line;
}
