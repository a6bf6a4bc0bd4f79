// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/h264_payload.h"

#include "common/base/bytes.h"
#include "media/rtp/h264.h"
#include "media/rtp/nal_unpack.h"

// RFC 6184, 5.3: a set forbidden bit marks a unit that has errors.
static bool is_nal_header(uint8_t byte)
{
    int type = byte & H264_NAL_TYPE;
    return !(byte & H264_NAL_FORBIDDEN) && type >= 1 && type <= H264_SINGLE_MAX;
}

// A unit may begin with a start code (nal_unpack.h).
static bool is_nal(const uint8_t *data, size_t len)
{
    return is_nal_header(data[0]) || nal_is_coded(data, len);
}

// Reads units, each after a size of two bytes. Zero bytes after the last are padding.
static bool units_are_valid(const uint8_t *data, size_t len, struct h264_units of)
{
    if (len < of.head)
        return false;
    struct bytes in = bytes_of(data + of.head, len - of.head);
    int units = 0;
    for (; bytes_left(&in) >= 2; units++) {
        size_t size = bytes_u16(&in);
        if (size == 0)
            break;
        if (size + of.between > bytes_left(&in) || !is_nal(in.at + of.between, size))
            return false;
        bytes_take(&in, size + of.between);
    }
    return units > 0 && nal_is_padding(in.at, bytes_left(&in));
}

// RFC 6184, 5.8: a start bit next to an end bit is forbidden, but cameras send a whole unit so. The
// body may be empty. Type 0 is the first byte of a start code, whose other bytes the first fragment
// has.
static bool fragment_is_valid(const uint8_t *data, size_t len, size_t head)
{
    if (len < head)
        return false;
    if (data[1] & H264_NAL_TYPE)
        return is_nal_header(data[1] & H264_NAL_TYPE);
    unsigned zeros = 1; // the header
    size_t end = nal_code_end(&zeros, data + head, len - head < 3 ? len - head : 3);
    return !(data[1] & H264_FU_START) || end >= 2;
}

// RFC 6184, 5.2: types that are not defined are ignored. So is a payload without bytes.
static bool is_ignored(const uint8_t *data, size_t len)
{
    int type = len ? data[0] & H264_NAL_TYPE : 0;
    return !len || ((type == 0 || type > H264_FU_B) && !nal_is_coded(data, len));
}

static bool payload_is_valid(const uint8_t *data, size_t len)
{
    if (is_ignored(data, len))
        return true;
    if (data[0] & H264_NAL_FORBIDDEN)
        return false;
    int type = data[0] & H264_NAL_TYPE;
    struct h264_units units = h264_units_of(type);
    size_t fragment = h264_fragment_head(type);
    return units.head ? units_are_valid(data, len, units)
           : fragment ? fragment_is_valid(data, len, fragment)
                      : is_nal(data, len);
}

// Some cameras set no end bit: then what follows the fragments ends the unit. Returns false if a
// fragment has no beginning.
static bool unpack_fragment(struct unpacker *u, const uint8_t *data, size_t len, size_t head)
{
    uint8_t header =
        (uint8_t)((data[0] & (H264_NAL_FORBIDDEN | H264_NAL_REF_IDC)) | (data[1] & H264_NAL_TYPE));
    bool start = data[1] & H264_FU_START;
    if (!start && (!u->in_fragments || header != u->header))
        return false;
    if (start) {
        nal_finish(u);
        nal_begin(u);
        nal_put(u, &header, 1);
    }
    nal_put(u, data + head, len - head);
    u->header = header;
    u->in_fragments = true;
    if (data[1] & H264_FU_END)
        nal_finish(u);
    return true;
}

static bool unpack(struct unpacker *u, const uint8_t *data, size_t len)
{
    if (is_ignored(data, len))
        return true;
    int type = data[0] & H264_NAL_TYPE;
    struct h264_units units = h264_units_of(type);
    size_t fragment = h264_fragment_head(type);
    if (fragment)
        return unpack_fragment(u, data, len, fragment);
    nal_finish(u);
    if (!units.head) {
        nal_emit(u, data, len);
        return true;
    }
    struct bytes in = bytes_of(data + units.head, len - units.head);
    for (size_t size; bytes_left(&in) >= 2 && (size = bytes_u16(&in)) > 0;) {
        bytes_take(&in, units.between);
        nal_emit(u, bytes_take(&in, size), size);
    }
    return true;
}

const struct payload_format h264_payload_format = {
    .is_valid = payload_is_valid, .unpack = unpack, .finish = nal_finish};
