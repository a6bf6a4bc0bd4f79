// SPDX-License-Identifier: GPL-2.0-or-later
// A request that parses is within its bounds, and encodes to the same bytes.
#include <assert.h>
#include <string.h>

#include "common/base/err.h"
#include "lab/traffic/model/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request r;
    int used = request_parse((const char *)data, size, &r);
    assert(used != ERR_AGAIN || size < REQUEST_MAX);
    if (used < 0)
        return 0;
    assert(used > 0 && used <= REQUEST_MAX && (size_t)used <= size);
    if (r.kind == REQUEST_GET)
        assert(r.bytes >= 0 && r.bytes <= REQUEST_BYTES_MAX && strlen(r.cc) < REQUEST_CC);
    else
        assert(r.port >= 1 && r.port <= 65535 && r.size >= 1 && r.size <= REQUEST_SIZE_MAX &&
               r.rate_bps >= REQUEST_RATE_MIN && r.rate_bps <= REQUEST_RATE_MAX);
    if (r.kind == REQUEST_PARETO)
        assert(r.on_us >= REQUEST_PERIOD_MIN && r.on_us <= REQUEST_PERIOD_MAX &&
               r.off_us >= REQUEST_PERIOD_MIN && r.off_us <= REQUEST_PERIOD_MAX &&
               r.shape >= REQUEST_SHAPE_MIN && r.shape <= REQUEST_SHAPE_MAX && r.seed >= 0 &&
               r.seed <= REQUEST_SEED_MAX);
    char out[REQUEST_MAX];
    int len = request_encode(&r, out);
    assert(len == used && memcmp(out, data, (size_t)len) == 0);
    return 0;
}
