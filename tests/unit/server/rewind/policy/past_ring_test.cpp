// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "server/rewind/policy/past_ring.h"
#include "tests/support/failing_alloc.hpp"

// A ring that frames of one second each are put into.
struct ring {
    struct past_ring *r;
    int64_t next = 10;

    explicit ring(int64_t seconds, size_t bytes = 100 << 20)
    {
        struct past_ring_config config = {seconds * USEC_PER_SEC, bytes};
        r = past_ring_new(&config);
        REQUIRE(r);
    }
    ring(const ring &) = delete;
    ring &operator=(const ring &) = delete;
    ~ring()
    {
        past_ring_free(r);
    }

    // Returns true if the ring requests a key frame.
    bool frame(int64_t second, bool starts, int size = 0, size_t bytes = 100)
    {
        struct coded_frame *f = coded_frame_new(bytes);
        f->number = next++;
        f->depends_on = starts ? -1 : f->number - 1;
        f->key = starts;
        f->size_id = size;
        f->captured = second * USEC_PER_SEC;
        bool wants = past_ring_frame(r, f);
        coded_frame_unref(f);
        return wants;
    }

    void audio(int64_t second)
    {
        struct coded_audio *c = coded_audio_new();
        c->captured = second * USEC_PER_SEC;
        past_ring_audio(r, c);
        coded_audio_unref(c);
    }

    // The capture time in seconds of the frame to begin at; -1: none.
    int64_t find(int64_t second, int size = 0)
    {
        int64_t s = past_ring_find(r, size, second * USEC_PER_SEC);
        return s < 0 ? -1 : past_ring_at(r, s)->captured / USEC_PER_SEC;
    }
};

TEST_CASE("past ring: keeps a span")
{
    ring r(10);
    CHECK(past_ring_begin(r.r) == past_ring_end(r.r));
    for (int64_t s = 100; s < 130; s++) {
        r.frame(s, s % 5 == 0);
        r.audio(s);
    }
    CHECK(past_ring_end(r.r) == 60);
    REQUIRE(past_ring_at(r.r, past_ring_begin(r.r)));
    CHECK(past_ring_at(r.r, past_ring_begin(r.r))->captured == 119 * USEC_PER_SEC);
    CHECK(past_ring_at(r.r, past_ring_begin(r.r))->frame);
    CHECK(past_ring_at(r.r, past_ring_begin(r.r) + 1)->audio);
    CHECK_FALSE(past_ring_at(r.r, past_ring_begin(r.r) - 1));
    CHECK_FALSE(past_ring_at(r.r, past_ring_end(r.r)));
}

TEST_CASE("past ring: keeps its bytes")
{
    enum { FRAME = 10000, MAX = 100000 };
    ring r(1000, MAX);
    for (int64_t s = 0; s < 50; s++)
        r.frame(s, true, 0, FRAME);
    int64_t kept = past_ring_end(r.r) - past_ring_begin(r.r);
    CHECK(kept >= 5); // a frame's struct counts, too
    CHECK(kept < MAX / FRAME);
    r.frame(50, true, 0, 2 * MAX); // more than all
    CHECK(past_ring_begin(r.r) == past_ring_end(r.r));
    CHECK(r.find(50) == -1);
    r.frame(51, true);
    CHECK(r.find(51) == 51);
}

TEST_CASE("past ring: is cleared")
{
    ring r(10);
    r.frame(1, true);
    r.audio(1);
    past_ring_clear(r.r);
    CHECK(past_ring_begin(r.r) == 2);
    CHECK(past_ring_end(r.r) == 2);
    CHECK(r.find(1) == -1);
    r.frame(2, true);
    CHECK(past_ring_at(r.r, 2) != nullptr);
    CHECK(r.find(2) == 2);
}

TEST_CASE("past ring: grows to any number of items")
{
    ring r(100000);
    for (int64_t s = 0; s < 5000; s++)
        r.frame(s, s % 100 == 0);
    CHECK(past_ring_begin(r.r) == 0);
    for (int64_t s = 0; s < 5000; s += 777)
        CHECK(past_ring_at(r.r, s)->captured == s * USEC_PER_SEC);
}

TEST_CASE("past ring: finds the frame to begin at")
{
    ring r(100);
    for (int64_t s = 100; s < 130; s++)
        r.frame(s, s % 5 == 2);
    CHECK(r.find(117) == 117);
    CHECK(r.find(121) == 117);
    CHECK(r.find(122) == 122);
    CHECK(r.find(1000) == 127);
    CHECK(r.find(101) == 102); // older ones are not known, or cannot be decoded
    CHECK(r.find(-1000) == 102);
}

TEST_CASE("past ring: has nothing to begin at")
{
    ring r(100);
    CHECK(r.find(5) == -1);
    r.audio(1);
    r.frame(2, false);
    CHECK(r.find(5) == -1);
}

TEST_CASE("past ring: prefers the size, and takes the nearest one")
{
    ring r(100);
    r.frame(1, true, 0);
    r.frame(2, true, 3);
    r.frame(3, true, 1);
    r.frame(4, false, 2);
    CHECK(r.find(10, 3) == 2);
    CHECK(r.find(10, 2) == 3);
    CHECK(r.find(10, 4) == 2);
    CHECK(r.find(10, 0) == 1);
    CHECK(r.find(1, 3) == 1);
    CHECK(r.find(0, 3) == 1);
}

TEST_CASE("past ring: finds the start of what is decoded")
{
    ring r(100);
    r.frame(1, true, 0);
    r.frame(2, true, 1);
    r.frame(3, false, 0);
    r.frame(4, true, 0);
    r.frame(5, false, 0);
    CHECK(past_ring_start_of(r.r, 0, 5) == 3);
    CHECK(past_ring_start_of(r.r, 0, 3) == 0);
    CHECK(past_ring_start_of(r.r, 1, 5) == 1);
    CHECK(past_ring_start_of(r.r, 2, 5) == -1);
    CHECK(past_ring_start_of(r.r, 0, 1000) == 3);
}

TEST_CASE("past ring: requests a key frame when a size has had none for long")
{
    ring r(100);
    CHECK_FALSE(r.frame(100, true, 0));
    CHECK_FALSE(r.frame(104, false, 0));
    CHECK(r.frame(105, false, 0));
    CHECK_FALSE(r.frame(106, false, 0)); // it is on its way
    CHECK_FALSE(r.frame(107, true, 0));
    CHECK_FALSE(r.frame(111, false, 0));
    CHECK(r.frame(111, false, 1)); // each size for itself
    CHECK(r.frame(112, false, 0));
    CHECK(r.frame(117, false, 0)); // none came: once more
}

TEST_CASE("past ring: without memory it is not made; an item without room is left out, and the "
          "next ones are kept")
{
    const past_ring_config config = {60 * USEC_PER_SEC, 100 << 20};
    CHECK(each_allocation_fails([&config] { return past_ring_new(&config); }, past_ring_free) >= 1);
    past_ring_free(nullptr);
    ring r(3600);
    bool failed = false;
    int64_t s = 0;
    for (; s < 3000 && !failed; s++) {
        const int64_t end = past_ring_end(r.r);
        // The ring grows now and then; the frame itself is one or two allocations.
        struct coded_frame *f = coded_frame_new(100);
        REQUIRE(f);
        f->number = s;
        f->depends_on = -1;
        f->key = true;
        f->captured = s * USEC_PER_SEC;
        failing_alloc_set(0);
        past_ring_frame(r.r, f);
        failed = failing_alloc_end();
        coded_frame_unref(f);
        CHECK(past_ring_end(r.r) == end + !failed);
    }
    REQUIRE(failed);
    const int64_t begin = past_ring_begin(r.r), end = past_ring_end(r.r);
    failing_alloc_set(0);
    r.next = s;
    struct coded_audio *c = coded_audio_new(); // takes the failure
    CHECK(c == nullptr);
    CHECK(failing_alloc_end());
    r.frame(s, true);
    CHECK(past_ring_begin(r.r) == begin);
    CHECK(past_ring_end(r.r) == end + 1);
    CHECK(past_ring_at(r.r, end)->captured == s * USEC_PER_SEC);
    CHECK(past_ring_at(r.r, end - 1)->captured == (s - 2) * USEC_PER_SEC);
}
