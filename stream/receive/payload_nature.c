// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/payload_nature.h"

#include "media/rtp/h264.h"
#include "media/rtp/hevc_payload.h"
#include "media/rtp/jpeg_payload.h"
#include "media/rtp/nal_unpack.h"
#include "media/rtp/vp9_payload.h"

enum {
    SEI_RECOVERY_POINT = 6,
    FIRST_SLICE = 0x80, // H.264: first_mb_in_slice is 0, as ue(v) begins with a 1 bit; HEVC's flag
};

// The nature of a unit by its first bytes, of which all after the header may be missing.
typedef struct payload_nature unit_reader(const uint8_t *head, size_t len);

static struct payload_nature h264_unit(const uint8_t *head, size_t len)
{
    int type = head[0] & H264_NAL_TYPE;
    bool vcl = type >= H264_SLICE && type <= H264_IDR;
    bool recovery = type == H264_SEI && len > 1 && head[1] == SEI_RECOVERY_POINT;
    return (struct payload_nature){.vcl = vcl,
                                   .begins = vcl ? len > 1 && (head[1] & FIRST_SLICE)
                                                 : type >= H264_SEI && type <= H264_DELIMITER,
                                   .key = type == H264_IDR || type == H264_SPS || recovery,
                                   .reference = vcl && (head[0] & H264_NAL_REF_IDC)};
}

static struct payload_nature hevc_unit(const uint8_t *head, size_t len)
{
    enum { SLICE_AT = HEVC_NAL_HEADER };
    if (len < HEVC_NAL_HEADER || !(head[1] & HEVC_NAL_TID))
        return (struct payload_nature){0};
    int type = hevc_nal_type_of(head[0]);
    bool vcl = type <= HEVC_LAST_SLICE;
    bool irap = type >= HEVC_FIRST_IRAP && type <= HEVC_LAST_IRAP;
    bool recovery = type == HEVC_SEI && len > SLICE_AT && head[SLICE_AT] == SEI_RECOVERY_POINT;
    bool leads = (type >= HEVC_VPS && type <= HEVC_DELIMITER) || type == HEVC_SEI;
    bool unused = type <= HEVC_LAST_NON_REFERENCE && type % 2 == 0;
    return (struct payload_nature){.vcl = vcl,
                                   .begins = vcl ? len > SLICE_AT && (head[SLICE_AT] & FIRST_SLICE)
                                                 : leads,
                                   .key = irap || recovery,
                                   .reference = vcl && !unused};
}

static bool is_empty(const struct payload_nature *n)
{
    return !n->vcl && !n->begins && !n->key;
}

// What the first unit says of a begin counts.
static void add(struct payload_nature *all, struct payload_nature n)
{
    all->begins = is_empty(all) ? n.begins : all->begins;
    all->vcl |= n.vcl;
    all->key |= n.key;
    all->reference |= n.reference;
}

static struct nature_scan begun(void)
{
    return (struct nature_scan){.awaited = sizeof(((struct nature_scan *)0)->head)};
}

// Adds the unit that has come, wholly or in part.
static void add_unit(const struct nature_scan *s, unit_reader *unit, struct payload_nature *all)
{
    if (s->awaited < sizeof(s->head))
        add(all, unit(s->head, sizeof(s->head) - s->awaited));
}

// Reads bytes of a unit.
static void scan_bytes(struct nature_scan *s, unit_reader *unit, const uint8_t *data, size_t len,
                       struct payload_nature *all)
{
    while (len > 0) {
        size_t behind = nal_code_end(&s->zeros, data, len);
        size_t part = behind ? behind : len;
        for (size_t i = 0; i < part && s->awaited > 0; i++)
            s->head[sizeof(s->head) - s->awaited--] = data[i];
        if (behind) {
            add_unit(s, unit, all);
            *s = begun();
        }
        data += part;
        len -= part;
    }
}

static void whole_unit(unit_reader *unit, const uint8_t *data, size_t len,
                       struct payload_nature *all)
{
    struct nature_scan s = begun();
    scan_bytes(&s, unit, data, len, all);
    add_unit(&s, unit, all);
}

// Reads units, each after a size of two bytes and `between` others, as far as the sizes are right.
static struct payload_nature aggregation(unit_reader *unit, const uint8_t *data, size_t len,
                                         size_t between)
{
    struct payload_nature all = {0};
    size_t head = 2 + between;
    while (len > head) {
        size_t size = (size_t)data[0] << 8 | data[1];
        if (size == 0 || size > len - head)
            break;
        whole_unit(unit, data + head, size, &all);
        data += head + size;
        len -= head + size;
    }
    return all;
}

// A fragment of a unit with `header`. The unit's nature comes with its first bytes, and once more
// with its type in each fragment: the first may be missing. `fu`: the FU header.
static struct payload_nature fragment(struct nature_scan *s, unit_reader *unit,
                                      const uint8_t *header, size_t header_len, uint8_t fu,
                                      const uint8_t *data, size_t len)
{
    struct payload_nature all = {0};
    bool is_first = fu & H264_FU_START; // the bits are HEVC's, too
    if (is_first) {
        *s = begun();
        scan_bytes(s, unit, header, header_len, &all);
    }
    scan_bytes(s, unit, data, len, &all);
    if (is_first || s->awaited == 0 || (fu & H264_FU_END))
        add_unit(s, unit, &all);
    struct payload_nature type = unit(header, header_len);
    all.vcl |= type.vcl;
    all.key |= type.key;
    all.reference |= type.reference;
    all.begins &= is_first;
    return all;
}

static struct payload_nature read_h264(struct nature_scan *s, const uint8_t *data, size_t len)
{
    struct payload_nature all = {0};
    if (len < 2)
        return all;
    int type = data[0] & H264_NAL_TYPE;
    struct h264_units units = h264_units_of(type);
    size_t head = units.head ? units.head : h264_fragment_head(type);
    if (len < head)
        return all;
    if (units.head)
        return aggregation(h264_unit, data + head, len - head, units.between);
    if (head) { // the unit's header is split over two bytes (RFC 6184, 5.8)
        uint8_t header = (uint8_t)((data[0] & ~H264_NAL_TYPE) | (data[1] & H264_NAL_TYPE));
        return fragment(s, h264_unit, &header, 1, data[1], data + head, len - head);
    }
    whole_unit(h264_unit, data, len, &all);
    return all;
}

static struct payload_nature read_hevc(struct nature_scan *s, const uint8_t *data, size_t len)
{
    struct payload_nature all = {0};
    if (len <= HEVC_NAL_HEADER)
        return all;
    int type = hevc_nal_type_of(data[0]);
    if (type == HEVC_AP)
        return aggregation(hevc_unit, data + HEVC_NAL_HEADER, len - HEVC_NAL_HEADER, 0);
    if (type == HEVC_FU) {
        const uint8_t header[] = {(uint8_t)((data[0] & HEVC_NAL_LAYER_HIGH) |
                                            (data[2] & HEVC_FU_TYPE) << HEVC_NAL_TYPE_SHIFT),
                                  data[1]};
        return fragment(s, hevc_unit, header, sizeof(header), data[2], data + 3, len - 3);
    }
    whole_unit(hevc_unit, data, len, &all);
    return all;
}

// VP9 Bitstream Specification, 6.2: frame_marker (2 bits), the profile (2, and one more of profile
// 3), show_existing_frame, frame_type: 0 is a key frame's.
static bool vp9_is_key(uint8_t first)
{
    bool has_reserved = (first & 0x30) == 0x30;
    return !(first & (has_reserved ? 0x06 : 0x0c));
}

static struct payload_nature read_vp9(struct nature_scan *s, const uint8_t *data, size_t len)
{
    (void)s;
    struct vp9_descriptor d;
    int head = vp9_descriptor_read(data, len, &d);
    if (head < 0)
        return (struct payload_nature){0};
    bool begins = d.first && d.size_id == 0;
    return (struct payload_nature){.vcl = true,
                                   .begins = begins,
                                   .key = begins && !d.predicted && vp9_is_key(data[head]),
                                   .reference = true};
}

static struct payload_nature read_jpeg(struct nature_scan *s, const uint8_t *data, size_t len)
{
    (void)s;
    return (struct payload_nature){
        .vcl = true, .begins = jpeg_payload_begins(data, len), .key = true, .reference = true};
}

nature_reader *nature_reader_of(enum sdp_codec codec)
{
    return codec == SDP_HEVC   ? read_hevc
           : codec == SDP_VP9  ? read_vp9
           : codec == SDP_JPEG ? read_jpeg
                               : read_h264;
}
