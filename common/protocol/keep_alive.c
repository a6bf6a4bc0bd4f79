// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/keep_alive.h"

#define PARAMETERS_INTERVAL USEC_PER_SEC
#define ALIVE_INTERVAL      (5 * USEC_PER_SEC)

enum request_kind keep_alive_request(const struct keep_alive *k, const struct server_dialect *d,
                                     const char **body)
{
    *body = NULL;
    if (d->knows_weir_parameters) {
        *body = "clock\r\ntransport\r\nlevel\r\n";
        return REQUEST_MEASURES;
    }
    if (k->denies_get_parameter)
        return REQUEST_OPTIONS;
    return k->has_get_parameter != k->other ? REQUEST_MEASURES : REQUEST_OPTIONS;
}

void keep_alive_unanswered(struct keep_alive *k)
{
    k->other = !k->other;
}

void keep_alive_asked(struct keep_alive *k, const struct server_dialect *d, usec_t silence,
                      usec_t now)
{
    usec_t interval = d->knows_weir_parameters ? PARAMETERS_INTERVAL
                                               : usec_min(k->session_timeout / 3, ALIVE_INTERVAL);
    k->due = now + usec_min(interval, silence / 2);
    k->other ^= k->in_turn;
}

bool keep_alive_expired(const struct keep_alive *k, usec_t silence, usec_t now)
{
    usec_t lasted = now - k->begun;
    return k->session_timeout && lasted >= k->session_timeout * 9 / 10 &&
           lasted <= k->session_timeout * 3 / 2 + silence;
}
