// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_udp_ack.h"

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/seq.h"
#include "common/wire/mtp_header.h"

enum { MAGIC = 5, IS_ACK = 0x80, HAS_ECHO = 0x40, HAS_MARK = 0x20, RESERVED = 0x10, COUNT = 0x0f };

size_t mtp_udp_ack_encode(const struct mtp_ack *ack, uint64_t token, uint8_t out[MTP_UDP_ACK_MAX])
{
    assert(ack->window >= 0 && ack->window <= UINT16_MAX);
    assert(ack->count >= 0 && ack->count <= MTP_ACK_RANGES);
    out[0] = MAGIC << 4 | MTP_VERSION;
    out[1] =
        (uint8_t)(IS_ACK | (ack->has_echo ? HAS_ECHO : 0) | (ack->ece ? HAS_MARK : 0) | ack->count);
    store_be16(out + 2, (uint16_t)ack->window);
    store_be64(out + 4, token);
    store_be32(out + 12, (uint32_t)ack->cum);
    store_be32(out + 16, ack->has_echo ? ack->echo_us : 0);
    uint8_t *at = out + MTP_UDP_ACK_HEAD;
    for (int i = 0; i < ack->count; i++, at += 4) {
        const struct mtp_range *r = &ack->ranges[i];
        assert(r->begin > ack->cum && r->end > r->begin && r->end - ack->cum <= UINT16_MAX);
        store_be16(at, (uint16_t)(r->begin - ack->cum));
        store_be16(at + 2, (uint16_t)(r->end - ack->cum));
    }
    return (size_t)(at - out);
}

int mtp_udp_ack_decode(const uint8_t *data, size_t len, uint64_t token, int64_t cum,
                       struct mtp_ack *ack)
{
    struct bytes b = bytes_of(data, len);
    if (len < MTP_UDP_ACK_HEAD)
        return ERR_MALFORMED;
    uint8_t first = bytes_u8(&b);
    uint8_t second = bytes_u8(&b);
    if (first >> 4 != MAGIC || !(second & IS_ACK))
        return ERR_MALFORMED;
    if ((first & 15) != MTP_VERSION)
        return ERR_UNSUPPORTED;
    *ack = (struct mtp_ack){.window = bytes_u16(&b),
                            .has_echo = second & HAS_ECHO,
                            .ece = second & HAS_MARK,
                            .count = second & COUNT};
    bool is_ours = bytes_u64(&b) == token;
    ack->cum = seq32_extend(cum, bytes_u32(&b));
    ack->echo_us = bytes_u32(&b);
    if (second & RESERVED || ack->count > MTP_ACK_RANGES ||
        bytes_left(&b) != 4 * (size_t)ack->count || (!ack->has_echo && ack->echo_us))
        return ERR_MALFORMED;
    for (int i = 0; i < ack->count; i++) {
        uint16_t begin = bytes_u16(&b);
        uint16_t end = bytes_u16(&b);
        if (begin == 0 || end <= begin)
            return ERR_MALFORMED;
        ack->ranges[i] = (struct mtp_range){ack->cum + begin, ack->cum + end};
    }
    return is_ours ? 0 : ERR_NOT_FOUND;
}
