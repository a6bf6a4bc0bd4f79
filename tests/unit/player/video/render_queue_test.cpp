// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/render_queue.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>
#include <vector>

namespace
{
struct reports {
    std::vector<int64_t> skipped;
    std::vector<int64_t> discarded;
};

void report(void *ctx, struct play_frame *f)
{
    auto *seen = static_cast<reports *>(ctx);
    CHECK((f->fate == FATE_SKIPPED || f->fate == FATE_DISCARDED));
    (f->fate == FATE_SKIPPED ? seen->skipped : seen->discarded).push_back(f->number);
    play_frame_free(f);
}

struct play_frame *frame(int64_t number, usec_t show_at)
{
    auto *f = static_cast<struct play_frame *>(std::calloc(1, sizeof(struct play_frame)));
    f->number = number;
    f->pts = number * 100000; // 10 frames/s
    f->show_at = show_at;
    return f;
}

// The number of the frame that is due, -1 for none.
int64_t due(struct render_queue *q, usec_t *next, usec_t now)
{
    struct play_frame *f = render_queue_due(q, next, now);
    int64_t number = f ? f->number : -1;
    play_frame_free(f);
    return number;
}
} // namespace

TEST_CASE("show queue: frames come out when they are due, the newest of several")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    CHECK(due(q, &next, 0) == -1);
    CHECK(next == USEC_NEVER);
    for (int i = 1; i <= 5; i++)
        REQUIRE(render_queue_push(q, frame(i, i * 100)));
    CHECK(due(q, &next, 99) == -1);
    CHECK(next == 100);
    CHECK(due(q, &next, 100) == 1);
    CHECK(next == 200);
    CHECK(due(q, &next, 450) == 4);
    CHECK(next == 500);
    CHECK(seen.skipped == std::vector<int64_t>{2, 3});
    render_queue_close(q);
    render_queue_free(q); // with frame 5 in it
}

TEST_CASE("show queue: a B frame that was decoded late is not shown after those behind it")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    REQUIRE(render_queue_push(q, frame(40, 100)));
    REQUIRE(render_queue_push(q, frame(44, 140)));
    CHECK(due(q, &next, 140) == 44);
    REQUIRE(render_queue_push(q, frame(42, 120)));
    CHECK(due(q, &next, 150) == -1);
    // Handed over late, they are due in the order of decoding.
    for (int64_t number : {48, 46, 45, 47})
        REQUIRE(render_queue_push(q, frame(number, 160)));
    CHECK(due(q, &next, 170) == 48);
    CHECK(seen.skipped == std::vector<int64_t>{40, 42, 46, 45, 47});
    seen.skipped.clear();

    play_frame *back = frame(43, 180); // by a seek
    back->place = 1;
    REQUIRE(render_queue_push(q, back));
    CHECK(due(q, &next, 180) == 43);
    play_frame *other = frame(42, 190); // of the next session
    other->session = 1;
    REQUIRE(render_queue_push(q, other));
    CHECK(due(q, &next, 190) == 42);
    play_frame *anew = frame(2, 200); // the source began anew
    anew->session = 1;
    REQUIRE(render_queue_push(q, anew));
    CHECK(due(q, &next, 200) == 2);
    CHECK(seen.skipped.empty());
    render_queue_free(q);
}

TEST_CASE("show queue: the media time, not the number, says which picture follows")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    const struct {
        int64_t number; // in decoding order
        int place;
    } sent[] = {{0, 0}, {1, 3}, {2, 1}, {3, 2}, {4, 6}, {5, 4}, {6, 5}};
    for (const auto &row : sent) {
        play_frame *f = frame(row.number, 100 + row.place * 40);
        f->pts = row.place * 40000;
        REQUIRE(render_queue_push(q, f));
    }
    std::vector<int64_t> shown;
    for (usec_t now = 100; now <= 340; now += 40)
        shown.push_back(due(q, &next, now));
    CHECK(shown == std::vector<int64_t>{0, 2, 3, 1, 5, 6, 4});
    CHECK(seen.skipped.empty());
    render_queue_free(q);
}

TEST_CASE("show queue: after a seek what waits gives way to what is due before it")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    for (int i = 1; i <= RENDER_QUEUE_FRAMES; i++) // full
        REQUIRE(render_queue_push(q, frame(i, i * 100)));
    REQUIRE(render_queue_push(q, frame(60, 250)));
    CHECK(seen.discarded == std::vector<int64_t>{3, 4, 5, 6, 7, 8});
    REQUIRE(render_queue_push(q, frame(61, 250)));
    CHECK(due(q, &next, 200) == 2);
    CHECK(next == 250);
    CHECK(due(q, &next, 250) == 61);
    CHECK(seen.skipped == std::vector<int64_t>{1, 60});
    render_queue_close(q);
    render_queue_free(q);
}

TEST_CASE("show queue: what a flush takes out was skipped, what comes later is shown")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    for (int i = 1; i <= 3; i++)
        REQUIRE(render_queue_push(q, frame(i, i * 100)));
    render_queue_flush(q);
    CHECK(seen.skipped == std::vector<int64_t>{1, 2, 3});
    CHECK(due(q, &next, 1000) == -1);
    REQUIRE(render_queue_push(q, frame(0, 50)));
    CHECK(due(q, &next, 1000) == 0);
    render_queue_flush(q);
    CHECK(seen.skipped.size() == 3);
    render_queue_free(q);
}

TEST_CASE("show queue: a full queue makes the decoder wait, closing lets it go")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    for (int i = 0; i < RENDER_QUEUE_FRAMES; i++)
        REQUIRE(render_queue_push(q, frame(i, 1000 + i)));
    bool pushed = false;
    std::thread decoder([&] { pushed = render_queue_push(q, frame(100, 2000)); });
    usec_t next;
    CHECK(due(q, &next, 1000) == 0); // makes room for one
    decoder.join();
    CHECK(pushed);
    std::thread late([&] {
        struct play_frame *f = frame(101, 3000);
        pushed = render_queue_push(q, f);
        if (!pushed)
            play_frame_free(f);
    });
    render_queue_close(q);
    late.join();
    CHECK_FALSE(pushed);
    CHECK(seen.skipped.empty());
    render_queue_free(q);
}

TEST_CASE("show queue: waiting ends with a frame, with the time, with the end")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    due(q, &next, 0);
    REQUIRE(render_queue_push(q, frame(1, 0)));
    render_queue_wait(q, USEC_NEVER); // a frame came since the last look
    CHECK(due(q, &next, 0) == 1);
    render_queue_wait(q, 1); // long ago
    std::thread closer([&] { render_queue_close(q); });
    render_queue_wait(q, USEC_NEVER);
    closer.join();
    CHECK(render_queue_closed(q));
    CHECK_FALSE([&] {
        struct play_frame *f = frame(2, 0);
        bool pushed = render_queue_push(q, f);
        if (!pushed)
            play_frame_free(f);
        return pushed;
    }());
    render_queue_free(q);
}

TEST_CASE("show queue: frames that are decoded before others are shown after them")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    for (int i : {4, 2, 1, 3})
        REQUIRE(render_queue_push(q, frame(i, i * 100)));
    for (int i : {1, 2, 3, 4})
        CHECK(due(q, &next, i * 100) == i);
    CHECK(seen.skipped.empty());
    CHECK(seen.discarded.empty());
    render_queue_close(q);
    render_queue_free(q);
}

TEST_CASE("show queue: what is held goes on so much later")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    for (int i : {1, 4, 2})
        REQUIRE(render_queue_push(q, frame(i, i * 100)));
    render_queue_hold(q, 150);
    render_queue_hold(q, 300); // it is
    CHECK(due(q, &next, 1000) == 1);
    CHECK(next == USEC_NEVER);
    CHECK(due(q, &next, 1000) == -1);
    render_queue_go_on(q, 1150); // 1000 later
    REQUIRE(render_queue_push(q, frame(3, 1300)));
    CHECK(due(q, &next, 1199) == -1);
    for (int i : {2, 3, 4})
        CHECK(due(q, &next, 1000 + i * 100) == i);
    REQUIRE(render_queue_push(q, frame(5, 1500)));
    render_queue_hold(q, 1400);
    render_queue_drop(q);
    CHECK(seen.discarded == std::vector<int64_t>{5});
    REQUIRE(render_queue_push(q, frame(6, 1600)));
    CHECK(due(q, &next, 1600) == 6);
    render_queue_close(q);
    render_queue_free(q);
}

TEST_CASE("render_queue: a step shows one picture, however late it is")
{
    reports seen;
    struct render_queue *q = render_queue_new(report, &seen);
    usec_t next;
    for (int i : {1, 2, 3, 4})
        REQUIRE(render_queue_push(q, frame(i, i * 100)));
    render_queue_hold(q, 150);
    CHECK(due(q, &next, 1000) == 1);
    render_queue_step(q, 1150); // the others are due 1000 later
    CHECK(due(q, &next, 1199) == -1);
    CHECK(due(q, &next, 9000) == 2);
    CHECK(next == USEC_NEVER);
    CHECK(due(q, &next, 9000) == -1);
    render_queue_step(q, 9000); // 2 was due at 1200
    CHECK(due(q, &next, 99000) == 3);
    CHECK(due(q, &next, 99000) == -1);
    CHECK(seen.discarded.empty());
    render_queue_step(q, 100000);
    render_queue_go_on(q, 100000); // no longer a single one
    REQUIRE(render_queue_push(q, frame(5, 300000)));
    CHECK(due(q, &next, 400000) == 5);
    render_queue_close(q);
    render_queue_free(q);
}
