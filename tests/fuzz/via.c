// SPDX-License-Identifier: GPL-2.0-or-later
// A viewer's Via header: what is passed on is this proxy's entry after the viewer's, and never of a
// request that names it.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "proxy/policy/via.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char name[] = "weir-proxy-0123456789abcdef";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char received[2 * VIA_MAX] = "";
    char out[VIA_MAX], again[VIA_MAX];
    memcpy(received, data, size < sizeof(received) ? size : sizeof(received) - 1);
    int err = via_append(received, name, out);
    assert(err == 0 || err == ERR_AGAIN || err == ERR_TOO_BIG);
    if (err)
        return 0;
    size_t len = strlen(out), own = strlen(name), before = strlen(received);
    assert(len >= own && strcmp(out + len - own, name) == 0);
    assert(strncmp(out, received, before) == 0);
    assert(via_append(out, name, again) == ERR_AGAIN); // it has come back
    return 0;
}
