// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/h264_payload.h"

#include "common/base/bytes.h"
#include "media/rtp/h264.h"

enum { START_CODE = 4 };

// RFC 6184, 5.3: a set forbidden bit marks a unit that has errors.
static bool is_nal_header(uint8_t byte)
{
    int type = byte & H264_NAL_TYPE;
    return !(byte & H264_NAL_FORBIDDEN) && type >= 1 && type <= H264_SINGLE_MAX;
}

// RFC 6184, 5.7.1: each unit follows a size of two bytes.
static bool stap_is_valid(const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data + 1, len - 1);
    bool any = false;
    while (bytes_left(&in) > 0) {
        if (bytes_left(&in) < 3)
            return false;
        size_t size = bytes_u16(&in);
        if (size == 0 || size > bytes_left(&in) || !is_nal_header(*in.at))
            return false;
        bytes_take(&in, size);
        any = true;
    }
    return any;
}

static bool payload_is_valid(const uint8_t *data, size_t len)
{
    if (len == 0 || data[0] & H264_NAL_FORBIDDEN)
        return false;
    int type = data[0] & H264_NAL_TYPE;
    if (type == H264_STAP_A)
        return stap_is_valid(data, len);
    if (type == H264_FU_A) // 5.8: start and end bit exclude each other; the body may be empty
        return len >= 2 &&
               (data[1] & (H264_FU_START | H264_FU_END)) != (H264_FU_START | H264_FU_END) &&
               is_nal_header(data[1] & H264_NAL_TYPE);
    return is_nal_header(data[0]);
}

static void emit_nal(struct unpacker *u, const uint8_t *data, size_t len)
{
    static const uint8_t start_code[START_CODE] = {0, 0, 0, 1};
    unpacker_put(u, start_code, sizeof(start_code));
    unpacker_put(u, data, len);
}

// Returns false if a fragment has no beginning, or if the unit before it has no end.
static bool unpack_fragment(struct unpacker *u, const uint8_t *data, size_t len)
{
    uint8_t header =
        (uint8_t)((data[0] & (H264_NAL_FORBIDDEN | H264_NAL_REF_IDC)) | (data[1] & H264_NAL_TYPE));
    bool start = data[1] & H264_FU_START;
    if (start == u->in_fragments || (!start && header != u->header))
        return false;
    if (start)
        emit_nal(u, &header, 1);
    unpacker_put(u, data + 2, len - 2);
    u->header = header;
    u->in_fragments = !(data[1] & H264_FU_END);
    return true;
}

static bool unpack(struct unpacker *u, const uint8_t *data, size_t len)
{
    int type = data[0] & H264_NAL_TYPE;
    if (type == H264_FU_A)
        return unpack_fragment(u, data, len);
    if (u->in_fragments)
        return false;
    if (type != H264_STAP_A) {
        emit_nal(u, data, len);
        return true;
    }
    struct bytes in = bytes_of(data + 1, len - 1);
    while (bytes_left(&in) > 0) {
        size_t size = bytes_u16(&in);
        emit_nal(u, bytes_take(&in, size), size);
    }
    return true;
}

const struct payload_format h264_payload_format = {.is_valid = payload_is_valid, .unpack = unpack};
