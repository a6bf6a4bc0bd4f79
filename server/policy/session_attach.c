// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/session_attach.h"

#include <stdio.h>

void session_attach_init(struct session_attach *a, const uint8_t random[SESSION_ATTACH_BYTES],
                         bool is_secure)
{
    *a = (struct session_attach){.is_secure = is_secure};
    for (size_t i = 0; i < SESSION_ATTACH_BYTES; i++)
        snprintf(a->secret + 2 * i, 3, "%02x", random[i]);
}

static bool is_right(const struct session_attach *a, struct text secret)
{
    unsigned differs = 0;
    if (secret.len != RTSP_ATTACH_SECRET || !a->secret[0])
        return false;
    for (size_t i = 0; i < RTSP_ATTACH_SECRET; i++)
        differs |= (unsigned)(secret.at[i] ^ a->secret[i]);
    return differs == 0;
}

int session_attach_check(struct session_attach *a, struct text secret, bool is_secure, usec_t now)
{
    if (!is_right(a, secret) || (a->is_secure && !is_secure))
        return 454;
    return request_budget_take(&a->budget, request_limit_of_attach(), now) ? 200 : 503;
}
