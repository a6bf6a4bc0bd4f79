// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/unit/lab/link/queue_fixture.hpp"

using numbers = std::vector<uint32_t>;

TEST_CASE("fifo: which of 10 arrivals are dropped, a limit of 5 packets")
{
    queue_fixture tail(config_of(QUEUE_DROPTAIL, 5));
    tail.put_many(10, 0);
    tail.take_all(0);
    CHECK(tail.out == numbers{0, 1, 2, 3, 4});
    CHECK(tail.dropped(LINK_DROP_FULL) == numbers{5, 6, 7, 8, 9});

    queue_fixture head(config_of(QUEUE_DROPHEAD, 5));
    head.put_many(10, 0);
    head.take_all(0);
    CHECK(head.out == numbers{5, 6, 7, 8, 9});
    CHECK(head.dropped(LINK_DROP_FULL) == numbers{0, 1, 2, 3, 4});
}

TEST_CASE("fifo: a limit of 4000 bytes")
{
    // Sizes 1500, 1000, 1500 fill it; what does not fit leaves room for smaller ones.
    const std::vector<uint32_t> sizes = {1500, 1000, 1400, 200, 100, 1, 4001};
    queue_config c{};
    c.limit.bytes = 4000;
    c.kind = QUEUE_DROPTAIL;
    queue_fixture tail(c);
    for (uint32_t s : sizes)
        tail.put(0, ECN_NOT, s);
    CHECK(tail.q->bytes == 4000); // 1500 + 1000 + 1400 + 100
    CHECK(tail.dropped(LINK_DROP_FULL) == numbers{3, 5, 6});

    c.kind = QUEUE_DROPHEAD;
    queue_fixture head(c);
    for (uint32_t s : sizes)
        head.put(0, ECN_NOT, s);
    CHECK(head.q->bytes == 2701); // 200 more: 0 goes; the last fits nowhere and throws out nobody
    CHECK(head.dropped(LINK_DROP_FULL) == numbers{0, 6});
}

TEST_CASE("fifo: both bounds hold; a large arrival drops several at the head")
{
    queue_config c = config_of(QUEUE_DROPHEAD, 4);
    c.limit.bytes = 3000;
    queue_fixture f(c);
    for (uint32_t s : {100, 100, 100, 100}) // 4 packets
        f.put(0, ECN_NOT, s);
    f.put(0, ECN_NOT, 100); // 0 goes, for the packets
    CHECK(f.dropped(LINK_DROP_FULL) == numbers{0});
    f.put(0, ECN_NOT, 2750); // 1, 2 go, for the bytes: 100 + 100 + 2750 <= 3000
    CHECK(f.dropped(LINK_DROP_FULL) == numbers{0, 1, 2});
    f.take_all(0);
    CHECK(f.out == numbers{3, 4, 5});
}

TEST_CASE("fifo: ECT arrivals are marked while the queue is longer than the step")
{
    const auto kind = GENERATE(QUEUE_DROPTAIL, QUEUE_DROPHEAD);
    queue_config c = config_of(kind, 100);
    c.mark.packets = 2;
    queue_fixture f(c);
    for (ecn e : {ECN_ECT0, ECN_ECT1, ECN_ECT0, // meet 0, 1, 2 packets
                  ECN_ECT0, ECN_NOT, ECN_ECT1, ECN_CE})
        f.put(0, e);
    f.take_all(0);
    CHECK(f.marked == numbers{3, 5}); // 4 cannot be, 6 was CE before
    CHECK(f.c.dropped.empty());

    c.mark = queue_size{};
    queue_fixture none(c);
    none.put_many(100, 0, ECN_ECT0);
    none.take_all(0);
    CHECK(none.marked.empty());
}
