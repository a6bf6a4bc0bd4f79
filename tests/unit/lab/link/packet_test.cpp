// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "lab/link/packet.h"

TEST_CASE("packet pool: bounded, and returned packets are reused")
{
    packet_pool pool;
    packet_pool_init(&pool, 100, 3);
    std::vector<packet *> out;
    for (int i = 0; i < 3; i++)
        out.push_back(packet_new(&pool));
    CHECK(packet_new(&pool) == nullptr);
    CHECK((pool.out == 3 && pool.made == 3));

    packet *back = out[1];
    packet_free(back);
    CHECK(pool.out == 2);
    out[1] = packet_new(&pool);
    CHECK(out[1] == back);
    CHECK((pool.out == 3 && pool.made == 3));
    CHECK(packet_new(&pool) == nullptr);

    for (packet *p : out)
        packet_free(p);
    packet_free(nullptr);
    for (int i = 0; i < 1000; i++)
        packet_free(packet_new(&pool));
    CHECK((pool.out == 0 && pool.made == 3));
    packet_pool_destroy(&pool);
}

TEST_CASE("packet pool: a reused packet has cleared fields and its full capacity")
{
    packet_pool pool;
    packet_pool_init(&pool, 64, 1);
    packet *p = packet_new(&pool);
    CHECK(p->capacity == 64);
    memset(p->data, 0xff, p->capacity);
    p->bytes = 1500;
    p->flow = 7;
    p->ecn = ECN_ECT0;
    packet_mark(p);
    p->pushed_at = p->queued_at = p->queue_delay = p->due = 9;
    packet_free(p);

    p = packet_new(&pool);
    CHECK((p->next == nullptr && p->bytes == 0 && p->flow == 0 && p->ecn == ECN_NOT));
    CHECK_FALSE(p->marked);
    CHECK((p->pushed_at == 0 && p->queued_at == 0 && p->queue_delay == 0 && p->due == 0));
    CHECK((p->pool == &pool && p->capacity == 64));
    packet_free(p);
    packet_pool_destroy(&pool);
}

TEST_CASE("packet pool: limit 0 provides no packet")
{
    packet_pool pool;
    packet_pool_init(&pool, 0, 0);
    CHECK(packet_new(&pool) == nullptr);
    packet_pool_destroy(&pool);
}

TEST_CASE("packet: which packets may be marked, and the effect of a mark")
{
    struct {
        uint8_t ecn;
        bool ect;
    } const table[] = {{ECN_NOT, false}, {ECN_ECT1, true}, {ECN_ECT0, true}, {ECN_CE, true}};
    packet p{};
    for (const auto &t : table) {
        p.ecn = t.ecn;
        CHECK(packet_is_ect(&p) == t.ect);
    }
    p.ecn = ECN_ECT1;
    packet_mark(&p);
    CHECK((p.marked && p.ecn == ECN_CE));
}

TEST_CASE("packet list: first in, first out, also after it was empty")
{
    packet a{}, b{}, c{};
    packet_list l{};
    CHECK(packet_list_pop(&l) == nullptr);
    for (int round = 0; round < 2; round++) {
        packet_list_push(&l, &a);
        packet_list_push(&l, &b);
        CHECK(packet_list_pop(&l) == &a);
        packet_list_push(&l, &c);
        CHECK(packet_list_pop(&l) == &b);
        CHECK(packet_list_pop(&l) == &c);
        CHECK(packet_list_pop(&l) == nullptr);
    }
}
