// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include "media/cmaf/cmaf_segmenter.h"

namespace
{

// A grid of 8 frames a segment in 4 parts, at 4 frames/s; a unit of time is a frame.
struct rig {
    cmaf_segmenter s{};
    std::string log; // "SEGMENT.PART:TIME+DURATION", "i" if independent; "|SEGMENT" at its end
    size_t bytes = 0;

    explicit rig(bool all_keys = false)
    {
        static const cmaf_segmenter_events events = {on_part, on_segment};
        const cmaf_grid grid = {{4, 1}, 8, 4, 0, 0};
        cmaf_segmenter_init(&s, &grid, 4, all_keys, &events, this);
    }
    ~rig()
    {
        cmaf_segmenter_destroy(&s);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    static void on_part(void *ctx, const cmaf_part *p)
    {
        rig *r = static_cast<rig *>(ctx);
        r->log += " " + std::to_string(p->segment) + "." + std::to_string(p->number) + ":" +
                  std::to_string(p->time) + "+" + std::to_string(p->duration) +
                  (p->independent ? "i" : "");
        r->bytes += p->bytes;
        CHECK(p->wall == 1000 + p->time);
        free(p->data);
    }
    static void on_segment(void *ctx, int64_t segment)
    {
        static_cast<rig *>(ctx)->log += " |" + std::to_string(segment);
    }
    void add(int64_t time, bool key = false)
    {
        cmaf_sample sample{};
        sample.time = time;
        sample.duration = 1;
        sample.key = key;
        CHECK(cmaf_segmenter_packet(&s, &sample, "abcd", 4, 1000 + time) == 0);
    }
    std::string take()
    {
        std::string taken = log;
        log.clear();
        return taken;
    }
};

} // namespace

TEST_CASE("cmaf_segmenter: a part ends with its last sample, a segment with the next key frame")
{
    rig r;
    r.add(3);
    CHECK(r.take().empty()); // decoding cannot start with it
    r.add(4, true);
    CHECK(r.take().empty());
    r.add(5);
    CHECK(r.take() == " 0.0:4+2i");
    r.add(6);
    r.add(7);
    CHECK(r.take() == " 0.1:6+2");
    r.add(8, true);
    CHECK(r.take() == " |0");
    for (int64_t t = 9; t < 16; t++)
        r.add(t);
    CHECK(r.take() == " 1.0:8+2i 1.1:10+2 1.2:12+2 1.3:14+2");
    r.add(16, true);
    cmaf_segmenter_end(&r.s);
    CHECK(r.take() == " |1 2.0:16+1i |2");
}

TEST_CASE("cmaf_segmenter: a lost sample makes the one before it last longer")
{
    rig r;
    r.add(0, true);
    r.add(3); // 1 and 2 are lost
    CHECK(r.take() == " 0.0:0+1i 0.1:3+1");
    r.add(4);
    r.add(4); // not later: left out
    r.add(2);
    r.add(5);
    CHECK(r.take() == " 0.2:4+2");
}

TEST_CASE("cmaf_segmenter: a late key frame makes the segment longer by parts")
{
    rig r;
    for (int64_t t = 0; t < 13; t++)
        r.add(t, t == 0 || t == 11);
    CHECK(r.take() == " 0.0:0+2i 0.1:2+2 0.2:4+2 0.3:6+2 0.4:8+2 0.5:10+1 |0 1.0:11+1i");
    for (int64_t t = 13; t < 24; t++) // no key frame at 16
        r.add(t);
    CHECK(r.take() == " 1.1:12+2 1.2:14+2 1.3:16+2 1.4:18+2 1.5:20+2 1.6:22+2");
    r.add(24); // nor at 24
    r.add(25);
    CHECK(r.take() == " |1 3.0:24+2");
}

TEST_CASE("cmaf_segmenter: with any sample a key, a segment ends at once")
{
    rig r(true);
    for (int64_t t = 5; t < 9; t++)
        r.add(t, true);
    CHECK(r.take() == " 0.0:5+1i 0.1:6+2i |0");
    cmaf_segmenter_end(&r.s);
    CHECK(r.take() == " 1.0:8+1i |1");
    cmaf_segmenter_end(&r.s); // nothing is open
    CHECK(r.take().empty());
    CHECK(r.bytes > 4 * 4);
}

TEST_CASE("cmaf_segmenter: on an open grid segments begin where the caller says")
{
    rig r;
    cmaf_grid_init_open(&r.s.grid, USEC_PER_SEC); // parts of 4 units
    cmaf_segmenter_cut(&r.s, 7, 2 * USEC_PER_SEC);
    for (int64_t t = 8; t < 17; t++)
        r.add(t, t == 8);
    CHECK(r.take() == " 7.0:8+4i 7.1:12+4");
    cmaf_segmenter_cut(&r.s, 8, 4250000); // all before it is here
    CHECK(r.take() == " 7.2:16+1 |7");
    for (int64_t t = 17; t < 22; t++)
        r.add(t, t == 17);
    CHECK(r.take() == " 8.0:17+4i");
    cmaf_segmenter_cut(&r.s, 9, 6 * USEC_PER_SEC); // two samples are still to come
    r.add(22);
    r.add(23);
    CHECK(r.take().empty());
    r.add(24, true);
    CHECK(r.take() == " 8.1:21+3 |8");
    cmaf_segmenter_end(&r.s);
    CHECK(r.take() == " 9.0:24+1i |9");
}

TEST_CASE("cmaf_segmenter: samples that are ahead of a cut stay where they are")
{
    rig r(true);
    cmaf_grid_init_open(&r.s.grid, USEC_PER_SEC);
    cmaf_segmenter_cut(&r.s, 0, 0);
    for (int64_t t = 0; t < 7; t++)
        r.add(t, true);
    cmaf_segmenter_cut(&r.s, 1, USEC_PER_SEC);
    CHECK(r.take() == " 0.0:0+4i 0.1:4+3i |0");
    for (int64_t t = 7; t < 11; t++)
        r.add(t, true);
    CHECK(r.take() == " 1.0:7+4i");
}
