// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/decode_gate.h"

static void forget(struct decode_gate *g)
{
    for (int i = 0; i < DECODE_GATE_SEEN; i++)
        g->seen[i] = -1;
}

void decode_gate_init(struct decode_gate *g)
{
    *g = (struct decode_gate){0};
    forget(g);
}

static bool is_seen(const struct decode_gate *g, int64_t number)
{
    bool seen = false;
    for (int i = 0; i < DECODE_GATE_SEEN && !seen; i++)
        seen = g->seen[i] == number;
    return number >= 0 && seen;
}

bool decode_gate_pass(struct decode_gate *g, int64_t number, int64_t depends_on, bool key)
{
    if (!key && !is_seen(g, depends_on)) {
        g->has_lost = true;
        return false;
    }
    if (key)
        forget(g);
    g->has_lost = false;
    g->seen[g->at] = number;
    g->at = (g->at + 1) % DECODE_GATE_SEEN;
    return true;
}

void decode_gate_lost(struct decode_gate *g)
{
    forget(g);
    g->has_lost = true;
}

bool decode_gate_wants_key(struct decode_gate *g, usec_t now)
{
    if (!g->has_lost || (g->has_requested && now - g->requested < DECODE_GATE_AGAIN))
        return false;
    g->has_requested = true;
    g->requested = now;
    return true;
}
