// SPDX-License-Identifier: GPL-2.0-or-later
// Subtitles: a script's head, an event, and the lines of the protocol. What is read can be written
// and read again.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "media/coded/subtitle_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct subtitle_cue *c)
{
    char line[SUBTITLE_LINE];
    struct subtitle_cue back;
    int len = subtitle_cue_encode(c, line, sizeof(line));
    size_t head = strlen("ass: ");
    assert(len > (int)head);
    assert(subtitle_cue_decode((struct text){line + head, (size_t)len - head}, &back));
    assert(back.begin / 1000 == c->begin / 1000 && strcmp(back.text, c->text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char head[SUBTITLE_HEAD], again[SUBTITLE_HEAD], text[SUBTITLE_BYTES + 64], body[32768];
    static struct subtitle_set set, back;
    const char *bytes = (const char *)data;
    struct subtitle_request request;
    struct subtitle_cue c = {.end = 1};
    (void)subtitle_head(bytes, size, head);
    assert(subtitle_head(head, strlen(head), again) && strlen(again) <= strlen(head));
    size_t len = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
    memcpy(text, data, len);
    text[len] = '\0';
    if (subtitle_event(text, c.text))
        check(&c);
    set.head[0] = '\0';
    subtitle_set_decode((struct text){bytes, size}, &set);
    for (int i = 0; i < set.count; i++)
        check(&set.cues[i]);
    len = subtitle_set_encode(set.head, set.cues, set.count, body, sizeof(body));
    back.head[0] = '\0';
    subtitle_set_decode((struct text){body, len}, &back);
    assert(back.count <= set.count);
    if (subtitle_request_decode((struct text){bytes, size}, &request))
        assert(request.track > 0 && request.track <= SUBTITLE_TRACKS);
    return 0;
}
