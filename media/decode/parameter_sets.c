// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/decode/parameter_sets.h"

#include <libavutil/base64.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "media/rtp/h264.h"
#include "media/rtp/hevc.h"
#include "media/rtp/hevc_payload.h"

enum { START_CODE = 4, FRAME_TAIL = 64, MAX_SET = 1024, MAX_SETS = 4 * MAX_SET };

size_t parameter_sets_decode(const char *sprop, uint8_t *out, size_t cap)
{
    static const uint8_t start_code[START_CODE] = {0, 0, 0, 1};
    size_t used = 0;
    while (*sprop) {
        char text[MAX_SET];
        size_t len = strcspn(sprop, ",");
        if (len >= sizeof(text) || used + START_CODE >= cap)
            return 0;
        memcpy(text, sprop, len);
        text[len] = '\0';
        size_t room = cap - used - START_CODE;
        int got =
            av_base64_decode(out + used + START_CODE, text, (int)(room < MAX_SET ? room : MAX_SET));
        if (len && got <= 0)
            return 0;
        if (len) { // some servers end the list with a comma
            memcpy(out + used, start_code, START_CODE);
            used += START_CODE + (size_t)got;
        }
        sprop += len + (sprop[len] == ',');
    }
    return used;
}

static bool is_start_code(const uint8_t *at)
{
    return at[0] == 0 && at[1] == 0 && at[2] == 0 && at[3] == 1;
}

const uint8_t *parameter_sets_next(const uint8_t *sets, size_t len, size_t *at, size_t *unit_len)
{
    size_t begin = *at;
    while (begin + START_CODE < len && !is_start_code(sets + begin))
        begin++;
    if (begin + START_CODE >= len)
        return NULL;
    begin += START_CODE;
    size_t end = begin;
    while (end + START_CODE <= len && !is_start_code(sets + end))
        end++;
    *at = end = end + START_CODE <= len ? end : len;
    *unit_len = end - begin;
    return sets + begin;
}

void parameter_sets_encode(const uint8_t *sets, size_t len, char *sprop, size_t cap)
{
    size_t at = 0, unit_len, used = 0;
    sprop[0] = '\0';
    for (const uint8_t *unit; (unit = parameter_sets_next(sets, len, &at, &unit_len)) != NULL;) {
        char text[2 * MAX_SET];
        bool fits = unit_len && unit_len <= MAX_SET &&
                    av_base64_encode(text, sizeof(text), unit, (int)unit_len);
        size_t needs = fits ? strlen(text) + 1 + (used > 0) : 0;
        if (!fits || used + needs > cap) {
            sprop[0] = '\0';
            return;
        }
        used += (size_t)snprintf(sprop + used, cap - used, "%s%s", used ? "," : "", text);
    }
}

// Returns the offset of the next start code at or after `from`; f->bytes if there is none.
static size_t next_unit(const struct received_frame *f, size_t from)
{
    for (size_t i = from; i + START_CODE < f->bytes; i++) {
        if (is_start_code(f->data + i))
            return i;
    }
    return f->bytes;
}

enum set_kind { NO_SET, SPS = 1, PPS = 2, VPS = 4 }; // bits

static enum set_kind kind_of(enum sdp_codec codec, uint8_t header)
{
    if (codec == SDP_HEVC) {
        enum hevc_nal_type type = hevc_nal_type_of(header);
        return type == HEVC_SPS ? SPS : type == HEVC_PPS ? PPS : type == HEVC_VPS ? VPS : NO_SET;
    }
    enum h264_nal_type type = h264_nal_type_of(header);
    return type == H264_SPS ? SPS : type == H264_PPS ? PPS : NO_SET;
}

bool parameter_sets_may_reorder(enum sdp_codec codec, const uint8_t *sets, size_t len)
{
    size_t at = 0, unit_len;
    for (const uint8_t *unit; (unit = parameter_sets_next(sets, len, &at, &unit_len)) != NULL;)
        if (unit_len && kind_of(codec, unit[0]) == SPS)
            return codec == SDP_HEVC ? hevc_may_reorder(unit, unit_len)
                                     : h264_may_reorder(unit, unit_len);
    return true;
}

static bool has_sets(enum sdp_codec codec)
{
    return codec == SDP_H264 || codec == SDP_HEVC;
}

size_t parameter_sets_learn(enum sdp_codec codec, const struct received_frame *f, uint8_t *sets,
                            size_t len, size_t cap)
{
    uint8_t found[MAX_SETS];
    size_t used = 0;
    unsigned kinds = 0, needs = codec == SDP_HEVC ? SPS | PPS | VPS : SPS | PPS;
    if (!f->key || !has_sets(codec))
        return len;
    for (size_t i = next_unit(f, 0), next; i < f->bytes; i = next) {
        next = next_unit(f, i + START_CODE);
        enum set_kind kind = kind_of(codec, f->data[i + START_CODE]);
        if (!kind)
            continue;
        if (next - i > sizeof(found) - used)
            return len;
        memcpy(found + used, f->data + i, next - i);
        used += next - i;
        kinds |= kind;
    }
    if (kinds != needs || used > cap)
        return len;
    memcpy(sets, found, used);
    return used;
}

int parameter_sets_prepend(enum sdp_codec codec, struct received_frame *f, const uint8_t *sets,
                           size_t len)
{
    if (!len || !f->key || !has_sets(codec))
        return 0;
    for (size_t i = next_unit(f, 0); i < f->bytes; i = next_unit(f, i + START_CODE))
        if (kind_of(codec, f->data[i + START_CODE]) == SPS)
            return 0;
    uint8_t *data = malloc(len + f->bytes + FRAME_TAIL);
    if (!data)
        return ERR_NO_MEMORY;
    memcpy(data, sets, len);
    memcpy(data + len, f->data, f->bytes);
    memset(data + len + f->bytes, 0, FRAME_TAIL);
    free(f->data);
    f->data = data;
    f->bytes += len;
    return 0;
}
