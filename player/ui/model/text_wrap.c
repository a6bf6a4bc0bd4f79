// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/text_wrap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Returns the length of the longest beginning of `text` that ends before a space and fits.
static size_t fitting(const char *text, int width, text_width_fn *measure, void *ctx)
{
    char line[TEXT_WRAP_BYTES];
    size_t best = 0;
    for (size_t end = strcspn(text, " ");; end += 1 + strcspn(text + end + 1, " ")) {
        snprintf(line, sizeof(line), "%.*s", (int)end, text);
        if (best && (end >= sizeof(line) || measure(ctx, line) > width))
            return best;
        best = end;
        if (!text[end])
            return best;
    }
}

void text_wrap(struct wrapped_text *out, const char *text, int width, text_width_fn *measure,
               void *ctx)
{
    out->count = 0;
    while (*text && out->count < TEXT_WRAP_LINES) {
        bool last = out->count == TEXT_WRAP_LINES - 1;
        size_t len = last ? strlen(text) : fitting(text, width, measure, ctx);
        snprintf(out->line[out->count++], TEXT_WRAP_BYTES, "%.*s", (int)len, text);
        text += len;
        text += strspn(text, " ");
    }
}
