// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/push_audio.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

static bool has(const struct push_audio *a, enum sdp_audio_codec codec)
{
    for (int i = 0; i < a->count; i++)
        if (a->codecs[i] == codec)
            return true;
    return false;
}

int push_audio_parse(const char *text, struct push_audio *out)
{
    struct push_audio a = {0};
    size_t len = strlen(text);
    struct scan in = scan_of(text, len);
    if (!len || text[len - 1] == ',')
        return ERR_MALFORMED;
    while (!scan_end(&in)) {
        struct scan name = scan_until(&in, ',');
        bool is_aac = scan_is(name, "aac");
        enum sdp_audio_codec codec = is_aac ? SDP_AUDIO_AAC : SDP_AUDIO_OPUS;
        if ((!is_aac && !scan_is(name, "opus")) || has(&a, codec))
            return ERR_MALFORMED;
        a.codecs[a.count++] = codec;
    }
    *out = a;
    return 0;
}
