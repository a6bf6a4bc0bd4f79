// SPDX-License-Identifier: GPL-2.0-or-later
// A trace that parses has times that never fall and a length; the first opportunity from any
// instant is found, also across the end of a round. For a trace that does not parse, the line is
// reported, and nothing is allocated.
#include <assert.h>

#include "lab/link/rate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace t;
    size_t line;
    int err = trace_parse(&t, (const char *)data, size, &line);
    if (err != 0) {
        assert(!t.at_ms && line >= 1 && line <= size + 1);
        return 0;
    }
    assert(t.count > 0 && t.length_ms > 0 && t.at_ms[t.count - 1] == t.length_ms);
    assert(trace_mean_bps(&t) > 0);
    for (uint64_t i = 1; i < 3 * t.count; i++) {
        usec_t at = trace_at(&t, i), before = trace_at(&t, i - 1);
        assert(at >= before);
        if (at > before)
            assert(trace_first_from(&t, before + 1) == i && trace_first_from(&t, at) == i);
    }
    trace_destroy(&t);
    return 0;
}
