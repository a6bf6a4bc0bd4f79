// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_probe.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/mtp/mtp_receiver.h"

namespace
{

const usec_t MS = USEC_PER_MSEC;
const usec_t START = 1000 * MS;

struct heard {
    usec_t after; // the first packet
    int64_t cum;
    std::vector<mtp_range> ranges;
};

mtp_ack ack_of(const heard &h)
{
    mtp_ack a = {};
    a.cum = h.cum;
    a.window = 1000;
    for (const mtp_range &r : h.ranges)
        a.ranges[a.count++] = r;
    return a;
}

std::vector<mtp_header> flight_of(mtp_probe *p)
{
    std::vector<mtp_header> all;
    mtp_out o;
    while (mtp_probe_pull(p, &o, START))
        all.push_back({o.flags, o.len, (uint32_t)o.number, (uint32_t)o.slot, (uint32_t)o.time});
    return all;
}

} // namespace

TEST_CASE("mtp_probe: the result, and when it is known")
{
    const struct {
        const char *what;
        std::vector<heard> acks;
        mtp_probe_answer answer;
        usec_t known; // after the first packet
    } table[] = {
        {"a free path",
         {{40 * MS, 1, {}}, {40 * MS, 1, {{2, 3}}}, {41 * MS, 4, {}}},
         MTP_PROBE_OVER,
         41 * MS},
        {"slot 2 is lost", {{40 * MS, 1, {}}, {40 * MS, 2, {{3, 4}}}}, MTP_PROBE_OVER, 40 * MS},
        {"a terminating proxy",
         {{40 * MS, 1, {}}, {41 * MS, 1, {{2, 3}}}, {42 * MS, 1, {{2, 5}}}},
         MTP_PROBE_BEYOND,
         (42 + 20 + 50) * MS},
        {"the same, the bare acknowledgement comes last",
         {{40 * MS, 1, {{2, 5}}}, {42 * MS, 1, {}}},
         MTP_PROBE_BEYOND,
         (42 + 20 + 50) * MS},
        {"nothing passes after a hole",
         {{40 * MS, 1, {}}, {44 * MS, 1, {}}},
         MTP_PROBE_UP_TO,
         (44 + 20 + 50) * MS},
        {"nothing comes", {}, MTP_PROBE_NOTHING, 500 * MS},
        {"the handshake's", {{1 * MS, 0, {}}}, MTP_PROBE_NOTHING, 500 * MS},
        {"a long path", {{480 * MS, 1, {}}}, MTP_PROBE_UP_TO, 500 * MS},
        {"lies",
         {{1 * MS, 6, {}}, {1 * MS, -1, {}}, {40 * MS, 1, {{2, 9}, {3, 2}}}},
         MTP_PROBE_UP_TO,
         (40 + 20 + 50) * MS},
    };
    for (const auto &r : table) {
        INFO(r.what);
        mtp_probe p;
        mtp_probe_init(&p);
        CHECK(mtp_probe_next_timeout(&p) == USEC_NEVER);
        flight_of(&p);
        usec_t known = -1;
        for (const heard &h : r.acks) {
            mtp_ack a = ack_of(h);
            CHECK(START + h.after < mtp_probe_next_timeout(&p));
            if (mtp_probe_ack(&p, &a, START + h.after))
                known = h.after;
        }
        CHECK(mtp_probe_result(&p) == r.answer);
        CHECK((known >= 0 ? known : mtp_probe_next_timeout(&p) - START) == r.known);
    }
}

TEST_CASE("mtp_probe: an acknowledgement before the flight is ignored")
{
    mtp_probe p;
    mtp_probe_init(&p);
    mtp_ack a = ack_of({0, 4, {}});
    CHECK_FALSE(mtp_probe_ack(&p, &a, START));
    CHECK(mtp_probe_result(&p) == MTP_PROBE_NOTHING);
}

// All 32 loss patterns: a free path is recognised if at most one packet is lost, and the probe
// accepts every acknowledgement that a viewer sends.
TEST_CASE("mtp_probe: a free path is recognised although any one packet is lost")
{
    mtp_probe sent;
    mtp_probe_init(&sent);
    std::vector<mtp_header> flight = flight_of(&sent);
    REQUIRE(flight.size() == 5);
    for (unsigned lost = 0; lost < 32; lost++) {
        mtp_probe p = sent;
        mtp_receiver r;
        mtp_receiver_init(&r, 1000);
        bool known = false;
        for (unsigned i = 0; i < flight.size(); i++) {
            if (lost >> i & 1)
                continue;
            CHECK(flight[i].length == 0);
            CHECK(mtp_receiver_packet(&r, &flight[i]) != MTP_BEYOND);
            mtp_ack a;
            mtp_receiver_ack(&r, &a);
            known |= mtp_probe_ack(&p, &a, START + 40 * MS);
        }
        INFO("lost " << lost);
        CHECK(known == (mtp_probe_result(&p) == MTP_PROBE_OVER));
        if (!(lost & (lost - 1)))
            CHECK(known);
        bool marks = (lost & 4) == 0 || (lost & 16) == 0;
        bool zero = (lost & 1) == 0 || (lost & 8) == 0;
        if (!marks || (!zero && ((lost & 4) || (lost & 16)) && (lost & 2)))
            CHECK_FALSE(known);
    }
}
