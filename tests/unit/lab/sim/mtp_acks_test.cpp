// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/mtp_acks.h"

#include <catch2/catch.hpp>

#include <memory>

#include "common/mtp/mtp_receiver.h"
#include "tests/unit/lab/sim/flow_wire.hpp"

TEST_CASE("mtp_acks: an acknowledgement crosses the flow as its bytes on the wire")
{
    flow_wire w;
    auto receiver = std::make_unique<mtp_receiver>();
    mtp_receiver_init(receiver.get(), MTP_MAX_WINDOW);
    for (uint32_t n : {0u, 1u, 3u}) {
        mtp_header h = {0, 1, n, n, 10 * n};
        mtp_receiver_packet(receiver.get(), &h);
    }
    mtp_ack sent{}, read{};
    mtp_receiver_ack(receiver.get(), &sent);
    mtp_acks_send(&w.f, &sent, 9, 1000);
    REQUIRE(w.to_source.size() == 1);
    CHECK(w.f.counts.sent_packets == 0); // it is no data
    auto sender = std::make_unique<mtp_sender>();
    mtp_acks_read(flow_wire::take(w.to_source), 9, sender.get(), &read);
    CHECK(read.cum == sent.cum);
    CHECK(w.small.out + w.large.out == 0); // the packet was freed
}

TEST_CASE("mtp_acks: the flow's counts are the sender's")
{
    flow_wire w;
    auto sender = std::make_unique<mtp_sender>();
    sender->counts.resends = 1;
    sender->counts.timeouts = 2;
    sender->counts.fast_recoveries = 3;
    sender->counts.lost = 4;
    mtp_acks_count(&w.f, sender.get());
    CHECK(w.f.counts.retransmits == 1);
    CHECK(w.f.counts.timeouts == 2);
    CHECK(w.f.counts.fast_retransmits == 3);
    CHECK(w.f.counts.lost == 4);
}
