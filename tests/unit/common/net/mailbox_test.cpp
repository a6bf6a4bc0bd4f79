// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <thread>
#include <vector>

#include "common/net/mailbox.h"

namespace
{

struct item {
    int poster;
    int number;
};

struct reader {
    uv_loop_t loop;
    mailbox *box;
    std::vector<int> last{-1, -1};
    int count = 0;
    bool ordered = true;
    int wanted = 0;
};

void on_item(void *ctx, void *arg, usec_t)
{
    reader *r = static_cast<reader *>(ctx);
    item *i = static_cast<item *>(arg);
    r->ordered = r->ordered && i->number == r->last[static_cast<size_t>(i->poster)] + 1;
    r->last[static_cast<size_t>(i->poster)] = i->number;
    free(i);
    if (++r->count == r->wanted)
        uv_stop(&r->loop);
}

item *new_item(int poster, int number)
{
    item *i = static_cast<item *>(malloc(sizeof(item)));
    *i = {poster, number};
    return i;
}

} // namespace

TEST_CASE("mailbox: two threads post, and the loop gets all items in the order of each",
          "[threads]")
{
    const int each = 5000;
    reader r;
    uv_loop_init(&r.loop);
    r.box = mailbox_new(&r.loop, 16, on_item, free, &r);
    r.wanted = 2 * each;
    auto post = [&](int poster) {
        for (int n = 0; n < each; n++) {
            item *i = new_item(poster, n);
            while (!mailbox_post(r.box, i)) // full: try again
                std::this_thread::yield();
        }
    };
    std::thread a(post, 0), b(post, 1);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    a.join();
    b.join();
    CHECK(r.ordered);
    CHECK(r.count == 2 * each);
    mailbox_post(r.box, new_item(0, each)); // left behind: freed with the mailbox
    mailbox_free(r.box);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&r.loop) == 0);
}

TEST_CASE("mailbox: bytes are bounded, too")
{
    reader r;
    uv_loop_init(&r.loop);
    r.box = mailbox_new(&r.loop, 4, on_item, free, &r);
    int next = 0;
    auto post = [&](size_t bytes) {
        item *i = new_item(0, next);
        bool posted = mailbox_post_bytes(r.box, i, bytes, 100);
        if (posted)
            next++;
        else
            free(i);
        return posted;
    };
    for (int round = 0; round < 5; round++) { // the ring wraps
        CHECK(post(60));
        CHECK_FALSE(post(41));
        CHECK(post(40));
        CHECK_FALSE(post(1));
        CHECK(post(0)); // messages without bytes pass
        CHECK(post(0));
        CHECK_FALSE(post(0)); // four items
        r.wanted = next;
        uv_run(&r.loop, UV_RUN_DEFAULT);
        CHECK(r.count == next);
        CHECK(post(1000)); // alone
        CHECK_FALSE(post(1));
        r.wanted = next;
        uv_run(&r.loop, UV_RUN_DEFAULT);
    }
    CHECK(r.ordered);
    mailbox_free(r.box);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&r.loop) == 0);
}
