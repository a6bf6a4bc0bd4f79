// SPDX-License-Identifier: GPL-2.0-or-later
// The text of the window: a script's head up to an empty line, then an event a line, drawn at a few
// times, and the first line as a line of the window.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "player/ui/text_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct text_script *script, *line;
    static struct text_image image;
    static struct subtitle_cue cues[8];
    static char text[16384], head[SUBTITLE_HEAD];
    if (!script) {
        script = text_script_new();
        line = text_script_new();
        assert(script && line);
    }
    size = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    char *events = strstr(text, "\n\n");
    if (events)
        *events++ = '\0';
    strncpy(head, text, sizeof(head) - 1);
    text_script_head(script, head);
    int count = 0;
    for (char *at = events ? events + 1 : NULL, *end; at && count < 8; at = end) {
        end = strchr(at, '\n');
        if (end)
            *end++ = '\0';
        cues[count].end = 2 * USEC_PER_SEC;
        strncpy(cues[count++].text, at, SUBTITLE_BYTES - 1);
    }
    text_script_frame(script, 160, 90, 320, 180, 0);
    text_script_cues(script, cues, count);
    for (usec_t at = 0; at < 2 * USEC_PER_SEC; at += 700 * USEC_PER_MSEC) {
        assert(text_script_draw(script, at, &image) != TEXT_FAILED);
        assert(image.area.w <= 160 && image.area.h <= 90);
    }
    assert(text_script_line(line, head, 20, &image) == TEXT_CHANGED);
    return 0;
}
