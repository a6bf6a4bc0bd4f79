// SPDX-License-Identifier: GPL-2.0-or-later
// A request's path, query and range, one a line.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "server/policy/http_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char *lines[4] = {text};
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    for (int i = 0; i < 3; i++) {
        char *end = strchr(lines[i], '\n');
        lines[i + 1] = end ? end + 1 : text + size;
        if (end)
            *end = '\0';
    }
    struct http_target t;
    struct http_reload reload;
    struct http_range range;
    if (http_target_parse(lines[0], &t) == 0) {
        assert(t.mount > 0 && t.mount < strlen(lines[0]) && lines[0][t.mount] == '/');
        assert(strlen(t.name) < HTTP_MAX_NAME && strlen(t.token) < HTTP_MAX_TOKEN);
        assert(t.number >= 0 && t.number <= HTTP_MAX_NUMBER && t.part >= 0 &&
               t.part <= HTTP_MAX_PART);
    }
    if (http_reload_parse(lines[1], lines[2], &reload) == 0)
        assert(reload.number >= -1 && reload.part >= -1);
    if (http_range_parse(lines[3], size, &range) == 0)
        assert(range.bytes > 0 && range.begin < size && range.bytes <= size - range.begin);
    free(text);
    return 0;
}
