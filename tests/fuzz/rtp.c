// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that decode are encoded again and must decode to the same. First byte: the ids of the
// extensions.
#include <assert.h>
#include <string.h>

#include "common/wire/rtp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct rtp_ext_ids ids = {data[0] >> 4, data[0] & 15, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
    struct rtp_packet p, q;
    if (rtp_decode(data + 1, size - 1, ids, &p) != 0)
        return 0;
    static uint8_t renumbered[65536];
    if (size <= sizeof(renumbered)) {
        memcpy(renumbered, data + 1, size - 1);
        bool has_number = rtp_set_flow_number(renumbered, size - 1, ids, p.feedback.number);
        assert(has_number == p.feedback.has_number);
    }
    assert(p.payload >= data + 13 && p.payload + p.payload_len <= data + size);
    uint8_t out[RTP_MAX_HEADER], again[RTP_MAX_HEADER];
    size_t len = rtp_encode(&p, out);
    assert(len <= sizeof(out));
    struct rtp_ext_ids ours = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID,
                               RTP_EXT_MADE_ID};
    int err = rtp_decode(out, len, ours, &q);
    assert(err == 0 && q.has_adu == p.has_adu && q.has_capture == p.has_capture);
    assert(rtp_encode(&q, again) == len && memcmp(out, again, len) == 0);
    return 0;
}
