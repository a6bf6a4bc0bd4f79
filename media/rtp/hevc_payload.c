// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/hevc_payload.h"

#include "common/base/bytes.h"
#include "media/rtp/nal_unpack.h"

enum { FU_HEAD = HEVC_NAL_HEADER + 1 };

// Returns true if the unit begins with the header of a NAL unit that a payload may carry. RFC 7798,
// 1.1.4: the forbidden bit marks errors, and TID is not 0. A start code may be before it
// (nal_unpack.h).
static bool is_nal(const uint8_t *data, size_t len)
{
    bool is_header = len >= HEVC_NAL_HEADER && !(data[0] & HEVC_NAL_FORBIDDEN) &&
                     (data[1] & HEVC_NAL_TID) && hevc_nal_type_of(data[0]) <= HEVC_SINGLE_MAX;
    return is_header || nal_is_coded(data, len);
}

// RFC 7798, 4.4.2: units, each after a size of two bytes. There should be two; zero bytes after the
// last are padding.
static bool ap_is_valid(const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data + HEVC_NAL_HEADER, len - HEVC_NAL_HEADER);
    int units = 0;
    for (; bytes_left(&in) >= 2; units++) {
        size_t size = bytes_u16(&in);
        if (size == 0)
            break;
        if (size > bytes_left(&in) || !is_nal(in.at, size))
            return false;
        bytes_take(&in, size);
    }
    return units > 0 && nal_is_padding(in.at, bytes_left(&in));
}

// RFC 7798, 4.4.3; a start bit next to an end bit is forbidden, but cameras send a whole unit so.
// Type 0 without TID is the first two bytes of a start code, whose other bytes the first fragment
// has.
static bool fu_is_valid(const uint8_t *data, size_t len)
{
    if (len <= FU_HEAD || (data[2] & HEVC_FU_TYPE) > HEVC_SINGLE_MAX)
        return false;
    if (data[1] & HEVC_NAL_TID)
        return true;
    unsigned zeros = 2; // the header
    size_t end = nal_code_end(&zeros, data + FU_HEAD, len - FU_HEAD < 2 ? len - FU_HEAD : 2);
    return !(data[2] & HEVC_FU_TYPE) && (!(data[2] & HEVC_FU_START) || end > 0);
}

// Types that are not defined (RFC 7798, 4.4: above FU; PACI's extensions are of no use here) are
// ignored, and a payload without bytes.
static bool is_ignored(const uint8_t *data, size_t len)
{
    return !len || (len >= HEVC_NAL_HEADER && !(data[0] & HEVC_NAL_FORBIDDEN) &&
                    hevc_nal_type_of(data[0]) > HEVC_FU);
}

static bool payload_is_valid(const uint8_t *data, size_t len)
{
    if (is_ignored(data, len))
        return true;
    if (len < HEVC_NAL_HEADER || data[0] & HEVC_NAL_FORBIDDEN)
        return false;
    int type = hevc_nal_type_of(data[0]);
    if (type == HEVC_FU)
        return fu_is_valid(data, len);
    return type == HEVC_AP ? (data[1] & HEVC_NAL_TID) && ap_is_valid(data, len) : is_nal(data, len);
}

// Some cameras set no end bit: then what follows the fragments ends the unit. Returns false if a
// fragment has no beginning.
static bool unpack_fragment(struct unpacker *u, const uint8_t *data, size_t len)
{
    uint8_t type = data[2] & HEVC_FU_TYPE;
    bool start = data[2] & HEVC_FU_START;
    if (!start && (!u->in_fragments || type != u->header))
        return false;
    if (start) {
        uint8_t header[HEVC_NAL_HEADER] = {
            (uint8_t)((data[0] & HEVC_NAL_LAYER_HIGH) | type << HEVC_NAL_TYPE_SHIFT), data[1]};
        nal_finish(u);
        nal_begin(u);
        nal_put(u, header, sizeof(header));
    }
    nal_put(u, data + FU_HEAD, len - FU_HEAD);
    u->header = type;
    u->in_fragments = true;
    if (data[2] & HEVC_FU_END)
        nal_finish(u);
    return true;
}

static bool unpack(struct unpacker *u, const uint8_t *data, size_t len)
{
    if (is_ignored(data, len))
        return true;
    int type = hevc_nal_type_of(data[0]);
    if (type == HEVC_FU)
        return unpack_fragment(u, data, len);
    nal_finish(u);
    if (type != HEVC_AP) {
        nal_emit(u, data, len);
        return true;
    }
    struct bytes in = bytes_of(data + HEVC_NAL_HEADER, len - HEVC_NAL_HEADER);
    for (size_t size; bytes_left(&in) >= 2 && (size = bytes_u16(&in)) > 0;)
        nal_emit(u, bytes_take(&in, size), size);
    return true;
}

const struct payload_format hevc_payload_format = {
    .is_valid = payload_is_valid, .unpack = unpack, .finish = nal_finish};
