// SPDX-License-Identifier: GPL-2.0-or-later
// What decodes has a valid ladder or none, and encodes to something that decodes and encodes to the
// same text.
#include <assert.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/sdp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sdp s, back;
    static char out[2 * SDP_MAX_BYTES], again[2 * SDP_MAX_BYTES];
    if (sdp_decode((const char *)data, size, &s) != 0)
        return 0;
    assert(s.ladder.level_count == 0 || ladder_is_valid(&s.ladder));
    int len = sdp_encode(&s, false, out, sizeof(out));
    assert(len > 0 && (size_t)len == strlen(out));
    int err = sdp_decode(out, (size_t)len, &back);
    assert(err == 0);
    int len_again = sdp_encode(&back, false, again, sizeof(again));
    assert(len_again == len && memcmp(out, again, (size_t)len) == 0);
    return 0;
}
