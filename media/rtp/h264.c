// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/h264.h"

#include <stdbool.h>

#include "common/base/err.h"
#include "media/rtp/nal_bits.h"

enum { COLOUR_444 = 3, MAX_BIT_DEPTH = 14 };

static void put_bit(uint8_t *data, size_t *at, uint32_t bit)
{
    data[*at / 8] |= (uint8_t)((bit & 1) << (7 - *at % 8));
    ++*at;
}

static void put_ue(uint8_t *data, size_t *at, uint32_t v)
{
    int bits = 32 - __builtin_clz(v + 1);
    for (int i = 1; i < bits; i++)
        put_bit(data, at, 0);
    for (int i = bits - 1; i >= 0; i--)
        put_bit(data, at, (v + 1) >> i);
}

// Skips a scaling list, 7.3.2.1.1.1.
static void skip_scaling_list(struct nal_bits *b, int size)
{
    int last = 8;
    for (int i = 0; i < size && b->at <= b->count; i++) {
        int next = (last + (int)((uint32_t)nal_bits_se(b) & 0xff)) & 0xff;
        if (next == 0)
            return;
        last = next;
    }
}

static bool profile_has_chroma_format(uint32_t profile)
{
    static const uint8_t profiles[] = {100, 110, 122, 244, 44,  83, 86,
                                       118, 128, 138, 139, 134, 135};
    for (size_t i = 0; i < sizeof(profiles); i++)
        if (profiles[i] == profile)
            return true;
    return false;
}

// Returns a length in bits that is out of range if its field is.
static int take_bit_depth(struct nal_bits *b)
{
    uint32_t minus8 = nal_bits_ue(b);
    return minus8 <= MAX_BIT_DEPTH - 8 ? (int)minus8 + 8 : MAX_BIT_DEPTH + 1;
}

// Reads the beginning of an SPS up to log2_max_frame_num_minus4, 7.3.2.1.1.
static struct h264_format take_format(struct nal_bits *b)
{
    struct h264_format f = {.chroma_format = 1, .luma_bits = 8, .chroma_bits = 8};
    nal_bits_take(b, 8); // NAL unit header
    uint32_t profile = nal_bits_take(b, 8);
    nal_bits_take(b, 16); // constraint flags, level_idc
    nal_bits_ue(b);       // seq_parameter_set_id
    if (!profile_has_chroma_format(profile))
        return f;
    uint32_t chroma_format = nal_bits_ue(b);
    f.chroma_format = chroma_format <= COLOUR_444 ? (int)chroma_format : COLOUR_444 + 1;
    if (f.chroma_format == COLOUR_444)
        nal_bits_bit(b); // separate_colour_plane_flag
    f.luma_bits = take_bit_depth(b);
    f.chroma_bits = take_bit_depth(b);
    nal_bits_bit(b); // qpprime_y_zero_transform_bypass_flag
    bool matrices = nal_bits_bit(b);
    for (int i = 0; matrices && i < (f.chroma_format == COLOUR_444 ? 12 : 8); i++)
        if (nal_bits_bit(b))
            skip_scaling_list(b, i < 6 ? 16 : 64);
    return f;
}

// Skips the fields between log2_max_frame_num_minus4 and gaps_in_frame_num_value_allowed_flag.
static void skip_to_gaps_flag(struct nal_bits *b)
{
    uint32_t poc_type = nal_bits_ue(b);
    if (poc_type == 0) {
        nal_bits_ue(b); // log2_max_pic_order_cnt_lsb_minus4
    } else if (poc_type == 1) {
        nal_bits_bit(b); // delta_pic_order_always_zero_flag
        nal_bits_se(b);  // offset_for_non_ref_pic
        nal_bits_se(b);  // offset_for_top_to_bottom_field
        uint32_t cycle = nal_bits_ue(b);
        for (uint32_t i = 0; i < cycle && b->at <= b->count; i++)
            nal_bits_se(b);
    }
    nal_bits_ue(b); // max_num_ref_frames
}

struct sink { // writes a NAL unit and inserts the 03 bytes
    uint8_t *out;
    size_t cap;
    size_t used; // above `cap` if the output did not fit
    int zeros;
};

static void store(struct sink *s, uint8_t byte)
{
    if (s->used < s->cap)
        s->out[s->used] = byte;
    s->used += s->used <= s->cap;
}

static void put_byte(struct sink *s, uint8_t byte)
{
    if (s->zeros >= 2 && byte <= 3) {
        store(s, 3);
        s->zeros = 0;
    }
    store(s, byte);
    s->zeros = byte == 0 ? s->zeros + 1 : 0;
}

static int sink_result(const struct sink *s)
{
    return s->used > s->cap ? ERR_FULL : (int)s->used;
}

// Sets gaps_in_frame_num_value_allowed_flag and gives frame_num `more` additional bits.
static int rewrite_sps(const uint8_t *nal, size_t len, int more, int *frame_num_bits, uint8_t *out,
                       size_t cap)
{
    if (len > H264_MAX_SPS)
        return ERR_TOO_BIG;
    if (len < 5 || h264_nal_type_of(nal[0]) != H264_SPS)
        return ERR_MALFORMED;
    uint8_t rbsp[H264_MAX_SPS];
    struct nal_bits b = {.data = rbsp, .count = nal_unescape(nal, len, rbsp, sizeof(rbsp)) * 8};
    // The data ends before the last 1 bit, rbsp_stop_one_bit.
    while (b.count > 0 && !(rbsp[(b.count - 1) / 8] >> (7 - (b.count - 1) % 8) & 1))
        b.count--;
    b.count -= b.count > 0;

    (void)take_format(&b);
    size_t before = b.at;
    uint32_t log2_minus4 = nal_bits_ue(&b);
    size_t after = b.at;
    skip_to_gaps_flag(&b);
    // log2_max_frame_num is at most 16, 7.4.2.1.1.
    if (b.at >= b.count || log2_minus4 > 12 - (uint32_t)more)
        return ERR_MALFORMED;
    *frame_num_bits = (int)log2_minus4 + 4;

    uint8_t wider[H264_MAX_SPS + 2] = {0};
    size_t bits = 0;
    for (struct nal_bits c = {.data = rbsp, .count = before}; c.at < before;)
        put_bit(wider, &bits, nal_bits_bit(&c));
    put_ue(wider, &bits, log2_minus4 + (uint32_t)more);
    for (struct nal_bits c = {.data = rbsp, .count = b.count, .at = after}; c.at < b.count;) {
        bool flag = c.at == b.at;
        put_bit(wider, &bits, nal_bits_bit(&c) | flag);
    }
    put_bit(wider, &bits, 1);

    struct sink sink = {.out = out, .cap = cap};
    for (size_t i = 0; i < (bits + 7) / 8; i++)
        put_byte(&sink, wider[i]);
    return sink_result(&sink);
}

int h264_widen_sps(const uint8_t *nal, size_t len, int *frame_num_bits, uint8_t *out, size_t cap)
{
    return rewrite_sps(nal, len, H264_WIDER, frame_num_bits, out, cap);
}

int h264_allow_gaps(const uint8_t *nal, size_t len, uint8_t *out, size_t cap)
{
    int frame_num_bits;
    return rewrite_sps(nal, len, 0, &frame_num_bits, out, cap);
}

// Opens an SPS, whose bytes without the inserted 03 go to `rbsp`. Returns 0, ERR_TOO_BIG or
// ERR_MALFORMED.
static int open_sps(const uint8_t *nal, size_t len, uint8_t rbsp[H264_MAX_SPS],
                    struct nal_bits *out)
{
    if (len > H264_MAX_SPS)
        return ERR_TOO_BIG;
    if (len < 5 || h264_nal_type_of(nal[0]) != H264_SPS)
        return ERR_MALFORMED;
    *out = (struct nal_bits){.data = rbsp, .count = nal_unescape(nal, len, rbsp, H264_MAX_SPS) * 8};
    return 0;
}

// Reads an SPS up to vui_parameters_present_flag. Returns 0, or ERR_MALFORMED.
static int take_size(struct nal_bits *b, int *width, int *height)
{
    int chroma_format = take_format(b).chroma_format;
    nal_bits_ue(b); // log2_max_frame_num_minus4
    skip_to_gaps_flag(b);
    nal_bits_bit(b); // gaps_in_frame_num_value_allowed_flag
    int64_t columns = (int64_t)nal_bits_ue(b) + 1, rows = (int64_t)nal_bits_ue(b) + 1;
    bool is_frame_only = nal_bits_bit(b);
    if (!is_frame_only)
        nal_bits_bit(b); // mb_adaptive_frame_field_flag
    nal_bits_bit(b);     // direct_8x8_inference_flag
    int64_t cut[4] = {0};
    bool is_cut = nal_bits_bit(b);
    for (int i = 0; is_cut && i < 4; i++)
        cut[i] = nal_bits_ue(b);
    int64_t unit_x = chroma_format == 1 || chroma_format == 2 ? 2 : 1; // table 6-1
    int64_t unit_y = (chroma_format == 1 ? 2 : 1) * (is_frame_only ? 1 : 2);
    int64_t w = columns * 16 - unit_x * (cut[0] + cut[1]);
    int64_t h = rows * 16 * (is_frame_only ? 1 : 2) - unit_y * (cut[2] + cut[3]);
    if (b->at > b->count || w < 1 || h < 1 || w > H264_MAX_SIDE || h > H264_MAX_SIDE)
        return ERR_MALFORMED;
    *width = (int)w;
    *height = (int)h;
    return 0;
}

int h264_sps_size(const uint8_t *nal, size_t len, int *width, int *height)
{
    uint8_t rbsp[H264_MAX_SPS];
    struct nal_bits b;
    int err = open_sps(nal, len, rbsp, &b);
    return err ? err : take_size(&b, width, height);
}

int h264_sps_format(const uint8_t *nal, size_t len, struct h264_format *out)
{
    uint8_t rbsp[H264_MAX_SPS];
    struct nal_bits b;
    int err = open_sps(nal, len, rbsp, &b);
    if (err)
        return err;
    *out = take_format(&b);
    return b.at > b.count || out->chroma_format > COLOUR_444 || out->luma_bits > MAX_BIT_DEPTH ||
                   out->chroma_bits > MAX_BIT_DEPTH
               ? ERR_MALFORMED
               : 0;
}

// E.1.2
static void skip_hrd(struct nal_bits *b)
{
    uint32_t last = nal_bits_ue(b); // cpb_cnt_minus1
    nal_bits_take(b, 8);            // bit_rate_scale, cpb_size_scale
    for (uint32_t i = 0; i <= last && b->at <= b->count; i++) {
        nal_bits_ue(b);
        nal_bits_ue(b);
        nal_bits_bit(b);
    }
    nal_bits_take(b, 20); // four lengths
}

// Skips the VUI from aspect_ratio_info_present_flag up to bitstream_restriction_flag, E.1.1.
static void skip_to_restriction(struct nal_bits *b)
{
    enum { EXTENDED_SAR = 255 };
    if (nal_bits_bit(b) && nal_bits_take(b, 8) == EXTENDED_SAR)
        nal_bits_take(b, 32);
    if (nal_bits_bit(b)) // overscan_info_present_flag
        nal_bits_bit(b);
    if (nal_bits_bit(b)) { // video_signal_type_present_flag
        nal_bits_take(b, 4);
        if (nal_bits_bit(b)) // colour_description_present_flag
            nal_bits_take(b, 24);
    }
    if (nal_bits_bit(b)) { // chroma_loc_info_present_flag
        nal_bits_ue(b);
        nal_bits_ue(b);
    }
    if (nal_bits_bit(b)) { // timing_info_present_flag
        nal_bits_take(b, 32);
        nal_bits_take(b, 32);
        nal_bits_bit(b);
    }
    bool has_nal_hrd = nal_bits_bit(b);
    if (has_nal_hrd)
        skip_hrd(b);
    bool has_vcl_hrd = nal_bits_bit(b);
    if (has_vcl_hrd)
        skip_hrd(b);
    if (has_nal_hrd || has_vcl_hrd)
        nal_bits_bit(b); // low_delay_hrd_flag
    nal_bits_bit(b);     // pic_struct_present_flag
}

bool h264_may_reorder(const uint8_t *nal, size_t len)
{
    enum { BASELINE = 66, ORDER_OF_DECODING = 2 };
    uint8_t rbsp[H264_MAX_SPS];
    struct nal_bits b;
    int width, height;
    if (open_sps(nal, len, rbsp, &b) != 0)
        return true;
    struct nal_bits order = b;
    (void)take_format(&order);
    nal_bits_ue(&order); // log2_max_frame_num_minus4
    if (rbsp[1] == BASELINE ||
        (nal_bits_ue(&order) == ORDER_OF_DECODING && order.at <= order.count))
        return false;
    if (take_size(&b, &width, &height) != 0 || !nal_bits_bit(&b))
        return true;
    skip_to_restriction(&b);
    if (!nal_bits_bit(&b))
        return true;
    nal_bits_bit(&b); // motion_vectors_over_pic_boundaries_flag
    for (int i = 0; i < 4; i++)
        nal_bits_ue(&b);
    bool is_ordered = nal_bits_ue(&b) == 0; // max_num_reorder_frames
    return b.at > b.count || !is_ordered;
}

bool h264_is_b_slice(const uint8_t *nal, size_t len)
{
    enum { TYPES = 5, B_SLICE = 1 }; // table 7-6
    uint8_t head[16];
    if (len < 2 || h264_nal_type_of(nal[0]) != H264_SLICE)
        return false;
    struct nal_bits b = {
        .data = head, .count = nal_unescape(nal, len, head, sizeof(head)) * 8, .at = 8};
    nal_bits_ue(&b); // first_mb_in_slice
    return nal_bits_ue(&b) % TYPES == B_SLICE && b.at <= b.count;
}

int h264_widen_slice(const uint8_t *nal, size_t len, int frame_num_bits, uint32_t frame_num,
                     uint8_t *out, size_t cap)
{
    // 7.3.3: first_mb_in_slice, slice_type, pic_parameter_set_id, frame_num.
    uint8_t head[24];
    struct nal_bits b = {.data = head, .count = nal_unescape(nal, len, head, sizeof(head)) * 8};
    enum h264_nal_type type = h264_nal_type_of((uint8_t)nal_bits_take(&b, 8));
    for (int i = 0; i < 3; i++)
        nal_bits_ue(&b);
    size_t at = b.at;
    uint32_t low = nal_bits_take(&b, frame_num_bits);
    if ((type != H264_SLICE && type != H264_IDR) || b.at > b.count ||
        low != (frame_num & (((uint32_t)1 << frame_num_bits) - 1)))
        return ERR_MALFORMED;

    uint8_t high = (uint8_t)(frame_num >> frame_num_bits);
    unsigned shift = at % 8;
    struct sink sink = {.out = out, .cap = cap};
    int zeros = 0;
    size_t n = 0; // bytes so far, without inserted 03 bytes
    for (size_t i = 0; i < len; i++) {
        if (nal_is_guard(nal[i], &zeros))
            continue;
        uint8_t byte = nal[i];
        if (n++ == at / 8) {
            put_byte(&sink, (uint8_t)((byte & ~(0xffu >> shift)) | high >> shift));
            byte = (uint8_t)((uint32_t)high << (8 - shift) | (byte & 0xffu >> shift));
        }
        put_byte(&sink, byte);
    }
    return sink_result(&sink);
}
