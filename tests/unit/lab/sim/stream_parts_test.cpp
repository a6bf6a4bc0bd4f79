// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_parts.h"

#include <catch2/catch.hpp>

namespace
{
rtp_packet packet(bool first, bool last, usec_t capture = 0)
{
    rtp_packet p{};
    p.has_adu = true;
    p.adu.size_id = 4;
    p.adu.key = true;
    p.adu.first = first;
    p.adu.last = last;
    p.has_capture = first;
    p.capture_wall = capture;
    p.payload_len = 1000;
    return p;
}
} // namespace

TEST_CASE("stream_parts: a frame is complete with its last packet")
{
    stream_parts s{};
    rtp_packet p = packet(true, false, 77);
    CHECK(stream_parts_packet(&s, &p, 5, 10) == nullptr);
    p = packet(false, true);
    received_frame *f = stream_parts_packet(&s, &p, 5, 30);
    REQUIRE(f);
    CHECK(f->number == 5);
    CHECK(f->size_id == 4);
    CHECK(f->depends_on == -1);
    CHECK(f->packets == 2);
    CHECK(f->bytes == 2000);
    CHECK(f->first_arrived == 10);
    CHECK(f->last_arrived == 30);
    CHECK(f->capture_wall == 77);
    received_frame_free(f);
    CHECK(stream_parts_before(&s, 8) == nullptr);
}

TEST_CASE("stream_parts: a frame ends when a later one begins, however little of it arrived")
{
    stream_parts s{};
    rtp_packet p = packet(false, false);
    CHECK(stream_parts_packet(&s, &p, 5, 10) == nullptr);
    CHECK(stream_parts_before(&s, 5) == nullptr);
    received_frame *f = stream_parts_before(&s, 8);
    REQUIRE(f);
    CHECK(f->number == 5);
    CHECK(f->bytes == 1000);
    CHECK(f->last_arrived == 10);
    CHECK(f->capture_wall == 0); // was on the packet that is lost
    received_frame_free(f);
    // A packet of an older frame than the open one changes nothing.
    CHECK(stream_parts_packet(&s, &p, 8, 20) == nullptr);
    CHECK(stream_parts_packet(&s, &p, 5, 30) == nullptr);
    f = stream_parts_before(&s, 11);
    REQUIRE(f);
    CHECK(f->packets == 1);
    received_frame_free(f);
}
