// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/encoder_thread.h"

#include <thread>

#include "common/net/clock.h"
#include "tests/unit/media/coded_stream.hpp"

namespace
{

struct coder {
    ladder levels = one_size(64, 48, 100, 1, {{0, 100000}});
    std::vector<int64_t> keys; // the encoder's thread; read once all have come
    encoder_thread *t;

    static bool on_coded(void *ctx, coded_frame *f)
    {
        if (f && f->key)
            static_cast<coder *>(ctx)->keys.push_back(f->number);
        coded_frame_unref(f);
        return true;
    }
    coder()
    {
        t = encoder_thread_new(&levels, 0, on_coded, this);
        REQUIRE(t);
    }
    ~coder()
    {
        encoder_thread_free(t);
    }
    void encode(int64_t from, int64_t end)
    {
        usec_t until = clock_now() + 60 * USEC_PER_SEC;
        for (int64_t n = from; n < end && clock_now() < until; n++) {
            picture_ptr p = draw(levels, 0, n);
            engine_size_stats s;
            encoder_thread_push(t, p.get(), clock_now());
            do {
                std::this_thread::yield();
                encoder_thread_stats(t, &s);
            } while (s.frames < static_cast<uint64_t>(n) + 1 && clock_now() < until);
        }
        REQUIRE(clock_now() < until);
    }
};

} // namespace

TEST_CASE(
    "encoder_thread: who comes as another goes elsewhere does not keep him from his key frame",
    "[threads]")
{
    coder c;
    c.encode(0, 1);
    encoder_thread_request_key(c.t, 5);
    encoder_thread_request_key(c.t, 0); // as for each who begins to watch
    c.encode(1, 8);
    encoder_thread_request_key(c.t, 0);
    encoder_thread_request_key(c.t, 9);
    c.encode(8, 12);
    // The last one's callback comes after its statistics.
    encoder_thread_free(c.t);
    c.t = nullptr;
    CHECK(c.keys == std::vector<int64_t>{0, 5, 9});
}
