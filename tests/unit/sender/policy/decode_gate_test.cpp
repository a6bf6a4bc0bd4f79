// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/decode_gate.h"

#include <catch2/catch.hpp>

TEST_CASE("decode_gate: what depends on a lost frame is left out up to the next key frame")
{
    struct row {
        int64_t number, depends_on;
        bool key, decoded;
    };
    const row table[] = {
        {1, 0, false, false}, // no key frame yet
        {2, -1, true, true},    {3, 2, false, true},
        {4, 3, false, true},    {6, 5, false, false}, // 5 is lost
        {7, 6, false, false},   {8, 4, false, true},  // repaired by an older one
        {9, 8, false, true},    {11, 10, false, false},
        {12, -1, false, false},                        // on nothing that is known
        {13, -1, true, true},   {14, 9, false, false}, // from before the key frame
        {15, 13, false, true},
    };
    decode_gate g;
    decode_gate_init(&g);
    for (const row &r : table) {
        INFO(r.number);
        CHECK(decode_gate_pass(&g, r.number, r.depends_on, r.key) == r.decoded);
    }
    decode_gate_lost(&g); // 15 does not decode
    CHECK_FALSE(decode_gate_pass(&g, 16, 15, false));
    CHECK(decode_gate_pass(&g, 17, -1, true));
}

TEST_CASE("decode_gate: a key frame is requested while frames are left out, once a second")
{
    decode_gate g;
    decode_gate_init(&g);
    CHECK_FALSE(decode_gate_wants_key(&g, 1));
    CHECK(decode_gate_pass(&g, 1, -1, true));
    CHECK_FALSE(decode_gate_wants_key(&g, 1));
    int requests = 0;
    for (usec_t now = 5; now < 5 + 3 * USEC_PER_SEC; now += 40000) {
        CHECK_FALSE(decode_gate_pass(&g, now, now - 1, false));
        requests += decode_gate_wants_key(&g, now);
    }
    CHECK(requests == 3);
    CHECK(decode_gate_pass(&g, 7, -1, true));
    CHECK_FALSE(decode_gate_wants_key(&g, 100 * USEC_PER_SEC));
    decode_gate_lost(&g);
    CHECK(decode_gate_wants_key(&g, 100 * USEC_PER_SEC));
}
