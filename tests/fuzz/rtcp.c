// SPDX-License-Identifier: GPL-2.0-or-later
// Walks a compound; writes every packet of a kind that we send, and reads it back.
#include <assert.h>
#include <string.h>

#include "common/wire/rtcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rtcp_item item, back;
    size_t at = 0, before = 0;
    rtcp_is(data, size);
    while (rtcp_next(data, size, &at, &item) == 1) {
        assert(at >= before + 4 && at <= size);
        before = at;
        if (item.kind == RTCP_IS_OTHER)
            continue;
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = 0, read = 0;
        int err = rtcp_append(&item, out, sizeof(out), &len);
        assert(err == 0);
        int got = rtcp_next(out, len, &read, &back);
        assert(got == 1 && read == len && back.kind == item.kind && back.ssrc == item.ssrc);
        assert(strcmp(back.reason, item.reason) == 0);
        assert(strcmp(back.cname, item.cname) == 0 && back.nack_count == item.nack_count &&
               back.report_count == item.report_count);
        assert(back.ssrc_count == item.ssrc_count && back.max_rate.bps == item.max_rate.bps);
        assert(memcmp(back.ssrcs, item.ssrcs, sizeof(item.ssrcs)) == 0);
    }
    return 0;
}
