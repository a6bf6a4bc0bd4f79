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

// RFC 6184, 5.7.1: each unit follows a size of two bytes.
static bool stap_is_valid(const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data + 1, len - 1);
    bool any = false;
    while (bytes_left(&in) > 0) {
        if (bytes_left(&in) < 3)
            return false;
        size_t size = bytes_u16(&in);
        if (size == 0 || size > bytes_left(&in) || !is_nal(in.at, size))
            return false;
        bytes_take(&in, size);
        any = true;
    }
    return any;
}

// RFC 6184, 5.8: start and end bit exclude each other; the body may be empty. Type 0 is the first
// byte of a start code, whose other bytes the first fragment has.
static bool fu_is_valid(const uint8_t *data, size_t len)
{
    if (len < 2 || (data[1] & (H264_FU_START | H264_FU_END)) == (H264_FU_START | H264_FU_END))
        return false;
    if (data[1] & H264_NAL_TYPE)
        return is_nal_header(data[1] & H264_NAL_TYPE);
    unsigned zeros = 1; // the header
    size_t end = nal_code_end(&zeros, data + 2, len - 2 < 3 ? len - 2 : 3);
    return !(data[1] & H264_FU_START) || end >= 2;
}

static bool payload_is_valid(const uint8_t *data, size_t len)
{
    if (len == 0 || data[0] & H264_NAL_FORBIDDEN)
        return false;
    int type = data[0] & H264_NAL_TYPE;
    return type == H264_STAP_A ? stap_is_valid(data, len)
           : type == H264_FU_A ? fu_is_valid(data, len)
                               : is_nal(data, len);
}

// Returns false if a fragment has no beginning, or if the unit before it has no end.
static bool unpack_fragment(struct unpacker *u, const uint8_t *data, size_t len)
{
    uint8_t header =
        (uint8_t)((data[0] & (H264_NAL_FORBIDDEN | H264_NAL_REF_IDC)) | (data[1] & H264_NAL_TYPE));
    bool start = data[1] & H264_FU_START;
    if (start == u->in_fragments || (!start && header != u->header))
        return false;
    if (start) {
        nal_begin(u);
        nal_put(u, &header, 1);
    }
    nal_put(u, data + 2, len - 2);
    u->header = header;
    u->in_fragments = !(data[1] & H264_FU_END);
    if (!u->in_fragments)
        nal_end(u);
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
        nal_emit(u, data, len);
        return true;
    }
    struct bytes in = bytes_of(data + 1, len - 1);
    while (bytes_left(&in) > 0) {
        size_t size = bytes_u16(&in);
        nal_emit(u, bytes_take(&in, size), size);
    }
    return true;
}

const struct payload_format h264_payload_format = {.is_valid = payload_is_valid, .unpack = unpack};
