// SPDX-License-Identifier: GPL-2.0-or-later
// MTP on the wire. First byte even: a record; odd: an acknowledgement in UDP. Input that decodes
// encodes to the same bytes, and another token is refused.
#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/mtp/mtp_udp_ack.h"
#include "common/wire/mtp_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void record(const uint8_t *data, size_t size)
{
    struct mtp_header h;
    const uint8_t *payload;
    static uint8_t again[65536 + MTP_RECORD_HEAD];
    uint64_t token = size >= MTP_RECORD_HEAD ? load_be64(data + MTP_HEADER_BYTES) : 0;
    if (mtp_record_decode(data, size, token, &h, &payload) != 0)
        return;
    assert(payload + h.length <= data + size);
    size_t len = mtp_record_encode(&h, token, payload, again);
    assert(len <= size && memcmp(again, data, len) == 0);
    assert(mtp_record_decode(data, size, token ^ 1, &h, &payload) == ERR_NOT_FOUND);
}

static void ack(const uint8_t *data, size_t size)
{
    const int64_t cum = INT64_C(1) << 40;
    struct mtp_ack a;
    uint8_t again[MTP_UDP_ACK_MAX];
    uint64_t token = size >= 12 ? load_be64(data + 4) : 0;
    if (mtp_udp_ack_decode(data, size, token, cum, &a) != 0)
        return;
    assert(a.count >= 0 && a.count <= MTP_ACK_RANGES && a.window >= 0);
    for (int i = 0; i < a.count; i++)
        assert(a.ranges[i].begin > a.cum && a.ranges[i].end > a.ranges[i].begin);
    assert(mtp_udp_ack_encode(&a, token, again) == size && memcmp(again, data, size) == 0);
    assert(mtp_udp_ack_decode(data, size, token ^ 1, cum, &a) == ERR_NOT_FOUND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (data[0] & 1)
        ack(data + 1, size - 1);
    else
        record(data + 1, size - 1);
    return 0;
}
