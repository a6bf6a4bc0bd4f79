// SPDX-License-Identifier: GPL-2.0-or-later
// Subtitles: a SubRip file, a packet of each format, and the lines of the protocol. What is read
// can be written and read again.
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
    size_t head = strlen("subtitle: ");
    assert(len > (int)head);
    assert(subtitle_cue_decode((struct text){line + head, (size_t)len - head}, &back));
    assert(back.begin / 1000 == c->begin / 1000 && strcmp(back.text, c->text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct subtitle_cue cues[SUBTITLE_CUES];
    struct subtitle_request request;
    struct subtitle_list *l = subtitle_list_new();
    assert(l);
    int added = subtitle_list_add_srt(l, text, size);
    assert(added >= 0 || added == ERR_FULL);
    int found = subtitle_list_find(l, 0, SUBTITLE_LAST, cues, SUBTITLE_CUES);
    assert(found <= SUBTITLE_CUES && (added <= 0 || found > 0));
    for (int i = 0; i < found; i++)
        check(&cues[i]);
    subtitle_list_free(l);
    for (int f = SUBTITLE_FORMAT_NONE; f <= SUBTITLE_FORMAT_MOV; f++) {
        struct subtitle_cue c = {.end = 1};
        subtitle_plain((enum subtitle_format)f, text, size, c.text);
        check(&c);
    }
    struct subtitle_cue c;
    if (subtitle_cue_decode((struct text){text, size}, &c))
        check(&c);
    if (subtitle_request_decode((struct text){text, size}, &request))
        assert(request.track > 0 && request.track <= SUBTITLE_TRACKS);
    return 0;
}
