// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a playout buffer and one clock on it, in virtual time. 10 frames/s, in milliseconds:
// an even frame depends on the even one before it, an odd one on the one before it. What a clock
// says is a word: "wait 940", "show 1000", "pass 2", "stall 1100", "decode", "resume", "end".
#ifndef WEIR_TESTS_PLAYOUT_RIG_HPP
#define WEIR_TESTS_PLAYOUT_RIG_HPP

#include <cstdlib>
#include <string>

#include "stream/playout/play_clock.h"
#include "tests/support/two_levels.hpp"

struct playout_rig {
    static constexpr usec_t ms = USEC_PER_MSEC;
    ladder levels;
    reference_tracker *tracker;
    playout_buffer *b;
    play_clock c{};

    explicit playout_rig(const play_clock_ops &ops, bool waits = false, ladder l = two_levels())
        : levels(l), tracker(reference_tracker_new(&levels))
    {
        playout_buffer_config config{};
        config.ladder = &levels;
        config.tracker = tracker;
        config.level = 1;
        config.waits = waits;
        config.keeps_newer = ops.keeps_newer;
        b = playout_buffer_new(&config);
        c.ops = &ops;
        c.decode_lead = 60 * ms;
        c.hurried = -1;
        media_clock_init(&c.media);
    }
    playout_rig(const playout_rig &) = delete;
    playout_rig &operator=(const playout_rig &) = delete;
    ~playout_rig()
    {
        playout_buffer_free(b);
        reference_tracker_free(tracker);
    }

    static received_frame *frame(int64_t n, bool key = false)
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = n;
        f->temporal_id = static_cast<int>(n & 1);
        f->level = 1;
        f->key = key;
        f->depends_on = key ? -1 : n - (n % 2 ? 1 : 2);
        f->bytes = 100;
        f->first_seq = n;
        return f;
    }
    int push(int64_t n, bool key = false, usec_t at = 0)
    {
        bool moved;
        return playout_buffer_push(b, frame(n, key), &moved, at * ms);
    }
    // Frame `n` is due at `at`.
    void begin(int64_t n, usec_t at)
    {
        playout_buffer_start(b, n);
        media_clock_set(&c.media, playout_buffer_pts(b, n), at * ms);
        c.left = n;
        c.left_at = at * ms;
    }
    std::string word(const clock_step &s) const
    {
        auto at = [&] { return std::to_string(s.at / ms); };
        switch (s.kind) {
        case STEP_WAIT:
            return s.at == USEC_NEVER ? "wait" : "wait " + at();
        case STEP_DECODE:
            return s.skipped ? "decode, skipped" : "decode";
        case STEP_SHOW:
            return "show " + at();
        case STEP_DROP:
            return "drop";
        case STEP_PASS:
            return "pass " + std::to_string(s.number);
        case STEP_STALL:
            return "stall " + at();
        case STEP_RESUME:
            return "resume";
        case STEP_END:
            return "end";
        }
        return "?";
    }
    std::string at(usec_t now, bool stalled = false, usec_t goal = 0)
    {
        return word(c.ops->step(&c, b, stalled, goal * ms, now * ms));
    }
    std::string stalled(usec_t now, usec_t goal = 0)
    {
        return at(now, true, goal);
    }
    // The first frame leaves; returns its number, or -1 if it cannot be decoded.
    int64_t take(usec_t now = 0)
    {
        playout_taken t = playout_buffer_take(b);
        int64_t number = t.sound ? t.frame->number : -1;
        c.left = t.frame->number;
        c.left_at = now * ms;
        received_frame_free(t.frame);
        return number;
    }
};

#endif
