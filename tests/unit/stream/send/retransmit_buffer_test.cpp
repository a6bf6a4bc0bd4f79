// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/retransmit_buffer.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct fixture {
    retransmit_buffer *r = retransmit_buffer_new();
    fixture()
    {
        REQUIRE(r);
    }
    ~fixture()
    {
        retransmit_buffer_free(r);
    }
    fixture(const fixture &) = delete;
    fixture &operator=(const fixture &) = delete;

    void keep(uint16_t seq, usec_t captured)
    {
        const std::string head = "head", body = std::to_string(seq);
        retransmit_buffer_keep(r, seq, captured,
                               {reinterpret_cast<const uint8_t *>(head.data()), head.size()},
                               {reinterpret_cast<const uint8_t *>(body.data()), body.size()});
    }
    // Returns the packets that are retransmitted now, in order.
    std::vector<std::string> sent(usec_t oldest = 0)
    {
        std::vector<std::string> all;
        for (retransmit_buffer_packet p; retransmit_buffer_next(r, oldest, &p);
             retransmit_buffer_done(r))
            all.emplace_back(reinterpret_cast<const char *>(p.bytes), p.len);
        return all;
    }
};

using texts = std::vector<std::string>;

} // namespace

TEST_CASE_METHOD(fixture, "resend: what is asked for comes in the order of asking, once")
{
    CHECK(sent().empty());
    for (uint16_t seq : {65534, 65535, 0, 1})
        keep(seq, 100 * ms);
    CHECK(retransmit_buffer_ask(r, 0, 0));
    CHECK(retransmit_buffer_ask(r, 65534, 0));
    CHECK_FALSE(retransmit_buffer_ask(r, 0, 0)); // it waits
    CHECK_FALSE(retransmit_buffer_ask(r, 2, 0)); // never sent
    CHECK(sent() == texts{"head0", "head65534"});
    CHECK(sent().empty());
    CHECK_FALSE(retransmit_buffer_ask(r, 0, 0)); // lost again
    CHECK(retransmit_buffer_ask(r, 1, 0));
    CHECK(sent() == texts{"head1"});
}

TEST_CASE_METHOD(fixture, "resend: what is too old is given up, asked for or not")
{
    keep(1, 100 * ms);
    keep(2, 200 * ms);
    keep(3, 300 * ms);
    CHECK_FALSE(retransmit_buffer_ask(r, 1, 101 * ms));
    CHECK(retransmit_buffer_ask(r, 2, 101 * ms));
    CHECK(retransmit_buffer_ask(r, 3, 101 * ms));
    CHECK(sent(201 * ms) == texts{"head3"});
    CHECK(retransmit_buffer_ask(r, 2, 200 * ms)); // it was not sent again yet
    CHECK(sent(200 * ms) == texts{"head2"});
}

TEST_CASE_METHOD(fixture, "resend: as many are kept as there is room for")
{
    keep(0, 0);
    CHECK(retransmit_buffer_ask(r, 0, 0));
    for (uint16_t seq = 1; seq <= RETRANSMIT_BUFFER_KEPT; seq++)
        keep(seq, seq * ms);
    CHECK_FALSE(retransmit_buffer_ask(r, 0, 0));
    for (uint16_t seq = 1; seq <= RETRANSMIT_BUFFER_KEPT; seq++)
        CHECK(retransmit_buffer_ask(r, seq, 0));
    CHECK(sent().size() == RETRANSMIT_BUFFER_KEPT);
    const std::vector<uint8_t> large(RETRANSMIT_BUFFER_MAX_PACKET, 7);
    retransmit_buffer_keep(r, 500, 0, {large.data(), 1}, {large.data(), large.size()});
    CHECK_FALSE(retransmit_buffer_ask(r, 500, 0));
    retransmit_buffer_keep(r, 501, 0, {large.data(), 1}, {large.data(), large.size() - 1});
    CHECK(retransmit_buffer_ask(r, 501, 0));
    CHECK(sent()[0].size() == RETRANSMIT_BUFFER_MAX_PACKET);
}

TEST_CASE_METHOD(fixture, "resend: numbers far apart do not stand for each other")
{
    for (uint16_t seq : {7, 8, 7 + 4096, 9})
        keep(seq, 100 * ms);
    CHECK(retransmit_buffer_ask(r, 7 + 4096, 0));
    CHECK_FALSE(retransmit_buffer_ask(r, 8 + 4096, 0));
    CHECK(retransmit_buffer_ask(r, 8, 0));
    CHECK(retransmit_buffer_ask(r, 9, 0));
    CHECK(sent() == texts{"head4103", "head8", "head9"});
}
