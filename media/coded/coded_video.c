// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/coded_video.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/wire/base64.h"
#include "media/rtp/h264.h"

enum { START_CODE = 4, CONFIG_HEAD = 6, SPS_HEAD = 4, COUNT_OF_SPS = 0x1f };

static const uint8_t start_code[START_CODE] = {0, 0, 0, 1};

// NAL units of an access unit; pointers into its bytes.
struct unit_list {
    int count;
    const uint8_t *at[CODED_FRAME_MAX_NALS];
    size_t len[CODED_FRAME_MAX_NALS];
};

static enum h264_nal_type type_of(const struct unit_list *l, int i)
{
    return h264_nal_type_of(l->at[i][0]);
}

static bool is_set(enum h264_nal_type type)
{
    return type == H264_SPS || type == H264_PPS;
}

static bool is_slice(enum h264_nal_type type)
{
    return type >= H264_SLICE && type <= H264_IDR;
}

// ---- Cutting

static int add_unit(struct unit_list *l, const uint8_t *at, size_t len)
{
    if (len == 0)
        return 0;
    if (at[0] & H264_NAL_FORBIDDEN)
        return ERR_MALFORMED;
    if (l->count == CODED_FRAME_MAX_NALS)
        return ERR_TOO_BIG;
    l->at[l->count] = at;
    l->len[l->count++] = len;
    return 0;
}

// Returns the next start code of three bytes at or after `at`; `end`: there is none.
static const uint8_t *next_code(const uint8_t *at, const uint8_t *end)
{
    if (end - at < 3)
        return end;
    for (const uint8_t *p = at + 2; p < end; p++) {
        p = memchr(p, 1, (size_t)(end - p));
        if (!p)
            break;
        if (p[-1] == 0 && p[-2] == 0)
            return p - 2;
    }
    return end;
}

// Returns the end of a unit that is followed by a start code of four bytes.
static const uint8_t *end_of(const uint8_t *unit, const uint8_t *end)
{
    const uint8_t *next = next_code(unit, end);
    return next == end ? end : next - 1;
}

// Annex B, B.1.1: zero bytes before a start code belong to no NAL unit.
static int cut_codes(const uint8_t *data, size_t len, struct unit_list *l)
{
    const uint8_t *end = bytes_after(data, len), *at = next_code(data, end);
    for (const uint8_t *p = data; p < at; p++)
        if (*p)
            return ERR_MALFORMED;
    while (at < end) {
        const uint8_t *begin = at + 3, *next = next_code(begin, end), *stop = next;
        while (stop > begin && stop[-1] == 0)
            stop--;
        int err = add_unit(l, begin, (size_t)(stop - begin));
        if (err)
            return err;
        at = next;
    }
    return 0;
}

static int cut_lengths(const uint8_t *data, size_t len, int length_bytes, struct unit_list *l)
{
    struct bytes in = bytes_of(data, len);
    while (bytes_left(&in)) {
        size_t unit = 0;
        if (bytes_left(&in) < (size_t)length_bytes)
            return ERR_MALFORMED;
        for (int i = 0; i < length_bytes; i++)
            unit = unit << 8 | bytes_u8(&in);
        if (unit > bytes_left(&in))
            return ERR_MALFORMED;
        int err = add_unit(l, bytes_take(&in, unit), unit);
        if (err)
            return err;
    }
    return 0;
}

static int cut(const struct coded_units *u, const uint8_t *data, size_t len, struct unit_list *l)
{
    l->count = 0;
    if (len > CODED_VIDEO_MAX_FRAME)
        return ERR_TOO_BIG;
    return u->length_bytes ? cut_lengths(data, len, u->length_bytes, l) : cut_codes(data, len, l);
}

// ---- Parameter sets

// Reads Exp-Golomb (H.264, 9.1) from the first bytes of a NAL unit; at most 8 zero bits before it.
static int ue_of(const uint8_t *at, size_t len)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++)
        bits = bits << 8 | (i < len ? at[i] : 0);
    int zeros = bits ? __builtin_clz(bits) : 32;
    return zeros > 8 ? -1 : (int)(bits >> (31 - 2 * zeros)) - 1;
}

// Returns the id of a parameter set; < 0: malformed.
static int id_of(const uint8_t *unit, size_t len)
{
    size_t head = h264_nal_type_of(unit[0]) == H264_SPS ? SPS_HEAD : 1;
    return len > head ? ue_of(unit + head, len - head) : -1;
}

// Puts a parameter set in the place of the one with its type and id, or at the end. A start code
// within it, which 7.4.1 forbids, would divide it where the sets are read again.
static int learn(struct coded_units *u, const uint8_t *unit, size_t len)
{
    enum h264_nal_type type = h264_nal_type_of(unit[0]);
    int id = id_of(unit, len);
    if (id < 0 || next_code(unit, unit + len) != unit + len)
        return ERR_MALFORMED;
    const uint8_t *end = u->sets + u->sets_bytes;
    for (uint8_t *at = u->sets; at < end;) {
        const uint8_t *begin = at + START_CODE;
        const uint8_t *next = end_of(begin, end);
        size_t known = (size_t)(next - begin);
        if (known == len && memcmp(begin, unit, len) == 0)
            return 0;
        if (h264_nal_type_of(*begin) == type && id_of(begin, known) == id) {
            memmove(at, next, (size_t)(end - next));
            u->sets_bytes -= START_CODE + known;
            break;
        }
        at += START_CODE + known;
    }
    if (u->sets_bytes + START_CODE + len > sizeof(u->sets))
        return ERR_TOO_BIG;
    memcpy(u->sets + u->sets_bytes, start_code, START_CODE);
    memcpy(u->sets + u->sets_bytes + START_CODE, unit, len);
    u->sets_bytes += START_CODE + len;
    return 0;
}

static int learn_all(struct coded_units *u, const struct unit_list *l)
{
    for (int i = 0; i < l->count; i++) {
        int err = is_set(type_of(l, i)) ? learn(u, l->at[i], l->len[i]) : 0;
        if (err)
            return err;
    }
    return 0;
}

static bool has(const struct unit_list *l, enum h264_nal_type type)
{
    for (int i = 0; i < l->count; i++)
        if (type_of(l, i) == type)
            return true;
    return false;
}

// Reads the list of `count` parameter sets, each behind its length of two bytes.
static int read_sets(struct coded_units *u, struct bytes *in, int count)
{
    for (int i = 0; i < count; i++) {
        size_t len = bytes_left(in) < 2 ? SIZE_MAX : bytes_u16(in);
        if (len == 0 || len > bytes_left(in))
            return ERR_MALFORMED;
        const uint8_t *unit = bytes_take(in, len);
        int err = is_set(h264_nal_type_of(unit[0])) ? learn(u, unit, len) : ERR_MALFORMED;
        if (err)
            return err;
    }
    return 0;
}

int coded_units_init(struct coded_units *u, const uint8_t *config, size_t len)
{
    *u = (struct coded_units){.reference = -1};
    return coded_units_configure(u, config, len);
}

int coded_units_configure(struct coded_units *u, const uint8_t *config, size_t len)
{
    struct unit_list l = {0};
    u->sets_bytes = 0;
    u->length_bytes = 0;
    if (len == 0)
        return 0;
    if (config[0] != 1) {
        int err = cut_codes(config, len, &l);
        return err ? err : learn_all(u, &l);
    }
    if (len <= CONFIG_HEAD)
        return ERR_MALFORMED;
    struct bytes in = bytes_of(config + CONFIG_HEAD, len - CONFIG_HEAD);
    int err = read_sets(u, &in, config[CONFIG_HEAD - 1] & COUNT_OF_SPS);
    if (!err)
        err = bytes_left(&in) ? read_sets(u, &in, bytes_u8(&in)) : ERR_MALFORMED;
    u->length_bytes = (config[4] & 3) + 1;
    return err;
}

int coded_units_describe(const struct coded_units *u, struct coded_video *out)
{
    const uint8_t *end = u->sets + u->sets_bytes;
    size_t used = 0;
    bool sps = false, pps = false;
    out->sprop[0] = '\0';
    for (const uint8_t *at = u->sets; at < end;) {
        const uint8_t *unit = at + START_CODE;
        size_t len = (size_t)(end_of(unit, end) - unit);
        if (used + 1 + BASE64_TEXT(len) > sizeof(out->sprop))
            return ERR_NOT_FOUND;
        if (used)
            out->sprop[used++] = ',';
        used += base64_encode(unit, len, BASE64_STANDARD, out->sprop + used);
        pps |= h264_nal_type_of(*unit) == H264_PPS;
        if (h264_nal_type_of(*unit) == H264_SPS && !sps) {
            snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%02x%02x%02x", unit[1],
                     unit[2], unit[3]);
            sps = true;
        }
        at = unit + len;
    }
    return sps && pps ? 0 : ERR_NOT_FOUND;
}

// ---- Access units

static int look(const struct unit_list *l, struct coded_unit_facts *out)
{
    *out = (struct coded_unit_facts){.nals = l->count};
    bool has_slice = false;
    for (int i = 0; i < l->count; i++) {
        enum h264_nal_type type = type_of(l, i);
        if (!is_slice(type))
            continue;
        has_slice = true;
        out->idr |= type == H264_IDR;
        out->reference |= (l->at[i][0] & H264_NAL_REF_IDC) != 0;
    }
    return has_slice ? 0 : ERR_MALFORMED;
}

int coded_units_look(const struct coded_units *u, const uint8_t *data, size_t len,
                     struct coded_unit_facts *out)
{
    struct unit_list l;
    int err = cut(u, data, len, &l);
    return err ? err : look(&l, out);
}

static void put(struct coded_frame *f, size_t *used, const uint8_t *unit, size_t len)
{
    memcpy(f->data + *used, start_code, START_CODE);
    memcpy(f->data + *used + START_CODE, unit, len);
    f->nals[f->nal_count++] = (struct nal){(uint32_t)(*used + START_CODE), (uint32_t)len};
    *used += START_CODE + len;
}

// Adds the parameter sets that the list lacks, before the first slice or SEI.
static int add_sets(const struct coded_units *u, struct unit_list *l)
{
    struct unit_list sets = {0}, with = {0};
    if (has(l, H264_SPS) && has(l, H264_PPS))
        return 0;
    int err = cut_codes(u->sets, u->sets_bytes, &sets);
    if (!err && !(has(&sets, H264_SPS) && has(&sets, H264_PPS)))
        err = ERR_MALFORMED;
    int first = l->count && type_of(l, 0) == H264_DELIMITER;
    for (int i = 0; i < first && !err; i++)
        err = add_unit(&with, l->at[i], l->len[i]);
    for (int i = 0; i < sets.count && !err; i++)
        err = add_unit(&with, sets.at[i], sets.len[i]);
    for (int i = first; i < l->count && !err; i++) // `sets` has those of the list
        err = is_set(type_of(l, i)) ? 0 : add_unit(&with, l->at[i], l->len[i]);
    *l = with;
    return err;
}

static int frame_of(const struct unit_list *l, struct coded_frame **out)
{
    size_t bytes = 0, used = 0;
    for (int i = 0; i < l->count; i++)
        bytes += START_CODE + l->len[i];
    struct coded_frame *f = coded_frame_new(bytes);
    if (!f)
        return ERR_NO_MEMORY;
    for (int i = 0; i < l->count; i++)
        put(f, &used, l->at[i], l->len[i]);
    *out = f;
    return 0;
}

void coded_units_break(struct coded_units *u)
{
    u->begun = false;
}

static int take(struct coded_units *u, const uint8_t *data, size_t len, int64_t number,
                int64_t slot, struct coded_frame **out)
{
    struct unit_list l;
    struct coded_unit_facts facts;
    int64_t reorder = slot - number;
    int err = cut(u, data, len, &l);
    if (!err)
        err = look(&l, &facts);
    if (!err)
        err = learn_all(u, &l);
    if (err)
        return err;
    if (!facts.idr && !u->begun)
        return ERR_AGAIN;
    if (reorder < -CODED_VIDEO_MAX_REORDER || reorder > CODED_VIDEO_MAX_REORDER ||
        (facts.idr && reorder))
        return ERR_MALFORMED;
    if (facts.idr)
        err = add_sets(u, &l);
    if (!err)
        err = frame_of(&l, out);
    if (err)
        return err;
    struct coded_frame *f = *out;
    f->number = number;
    f->reorder = (int)reorder;
    f->key = facts.idr;
    f->depends_on = facts.idr ? -1 : u->reference;
    if (facts.reference)
        u->reference = number;
    u->begun = true;
    return 0;
}

int coded_units_take(struct coded_units *u, const uint8_t *data, size_t len, int64_t number,
                     int64_t slot, struct coded_frame **out)
{
    int err = take(u, data, len, number, slot, out);
    if (err && err != ERR_AGAIN)
        coded_units_break(u);
    return err;
}
