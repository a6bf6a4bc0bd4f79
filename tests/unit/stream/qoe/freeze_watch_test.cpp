// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>

#include "stream/qoe/freeze_watch.h"
#include "tests/support/two_levels.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;

// 10 frames/s; level 1 has all numbers, level 0 the even ones; -1: a foreign stream.
struct viewing {
    ladder levels = two_levels();
    std::unique_ptr<frame_history, void (*)(frame_history *)> history{frame_history_new(),
                                                                      frame_history_free};
    std::unique_ptr<frame_outcomes, void (*)(frame_outcomes *)> ledger{
        frame_outcomes_new(history.get()), frame_outcomes_free};
    playout *p;
    lateness own;
    freeze_watch w;

    explicit viewing(int level)
    {
        if (level < 0)
            levels.level_count = levels.size_count = 0;
        playout_config c{};
        c.ladder = &levels;
        c.level = level < 0 ? 0 : level;
        c.stamped = level < 0;
        p = playout_new(&c);
        lateness_init(&own);
        freeze_watch_init(&w, &levels, ledger.get(), p, &own);
    }
    viewing(const viewing &) = delete;
    viewing &operator=(const viewing &) = delete;
    ~viewing()
    {
        playout_free(p);
    }
    qoe_shown shown(int64_t number)
    {
        qoe_shown e{};
        e.number = number;
        frame_outcomes_handed(ledger.get(), number);
        freeze_watch_shown(&w, &e);
        return e;
    }
    // A frame of a foreign stream came, with its time stamp in ms.
    void came(int64_t number, usec_t stamp)
    {
        received_frame *f = (received_frame *)calloc(1, sizeof(received_frame));
        f->number = number;
        f->key = true;
        f->depends_on = -1;
        f->level = -1;
        f->rtp_timestamp = (uint32_t)(stamp * 90);
        playout_push(p, f, stamp * ms);
    }
};

} // namespace

TEST_CASE("freeze_watch: the cause of most frames between two pictures")
{
    const frame_end late = FRAME_END_LATE, lost = FRAME_END_LOST, slow = FRAME_END_SLOW;
    const struct {
        int level;
        frame_end ends[6]; // of the frames 1 to 6; 0 was shown, the next one is
        freeze_cause why;
    } table[] = {
        {1, {late, late, late, late, lost, lost}, FREEZE_LATE},
        {1, {late, late, lost, lost, lost, lost}, FREEZE_SENDER}, // no sequence number is missing
        {0, {lost, late, lost, late, lost, lost}, FREEZE_LATE},   // 2 and 4 of 2, 4 and 6
        {1, {slow, slow, slow, slow, slow, slow}, FREEZE_DISPLAY},
    };
    for (const auto &row : table) {
        viewing v(row.level);
        v.shown(0);
        adu_ext a{};
        a.first = a.last = true;
        frame_outcomes_packet(v.ledger.get(), &a, 100);
        a.frame = 9; // the next one
        frame_outcomes_packet(v.ledger.get(), &a, 101);
        for (int n = 1; n <= 6; n++)
            (void)frame_outcomes_ended(v.ledger.get(), n, row.ends[n - 1], false);
        qoe_shown e = v.shown(row.level ? 7 : 8);
        CHECK(e.gap_known);
        CHECK(e.gap == row.why);
    }
}

TEST_CASE(
    "freeze_watch: frames that are lost but not decided count, and frames that depend on them")
{
    viewing v(1);
    v.shown(0);
    adu_ext a{};
    for (uint32_t n : {0u, 3u, 4u}) { // 1 and 2 are missing, with their sequence numbers
        a.frame = n;
        a.first = a.last = true;
        frame_outcomes_packet(v.ledger.get(), &a, 100 + n);
    }
    (void)frame_outcomes_ended(v.ledger.get(), 3, FRAME_END_UNDECODABLE, false);
    freeze_cause why;
    REQUIRE(freeze_watch_missing(&v.w, 3, &why));
    CHECK(why == FREEZE_NETWORK);
    CHECK_FALSE(freeze_watch_missing(&v.w, 1, &why)); // nothing between
    CHECK(v.shown(4).gap == FREEZE_NETWORK);
    freeze_watch_moved(&v.w); // a seek
    CHECK_FALSE(v.shown(90).gap_known);
}

TEST_CASE("freeze_watch: nothing is missing")
{
    viewing v(1);
    CHECK_FALSE(v.shown(0).gap_known);        // the first
    frame_outcomes_handed(v.ledger.get(), 1); // unseen: the display was too slow
    CHECK_FALSE(v.shown(2).gap_known);
    CHECK(v.shown(3).interval == 0); // the level's own
}

TEST_CASE("freeze_watch: the frame interval of a third party's stream, and a gap in it")
{
    viewing v(-1);
    int64_t n = 0;
    for (usec_t stamp : {0, 500, 1000, 1500, 3500, 4000})
        v.came(n++, stamp);
    static const struct {
        usec_t interval;
        bool known;
    } table[] = {{0, false}, {500, false}, {500, false}, {500, false}, {500, true}, {500, false}};
    for (int64_t i = 0; i < n; i++) {
        qoe_shown e = v.shown(i);
        INFO(i);
        CHECK(e.interval == table[i].interval * ms);
        CHECK(e.gap_known == table[i].known);
        if (e.gap_known)
            CHECK(e.gap == FREEZE_SENDER);
    }
}
