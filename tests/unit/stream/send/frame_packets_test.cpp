// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/frame_packets.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace
{

using frame_pointer = std::unique_ptr<coded_frame, void (*)(coded_frame *)>;

// One NAL unit of so many bytes.
frame_pointer frame_of(int64_t number, size_t bytes)
{
    frame_pointer f(coded_frame_new(bytes), coded_frame_unref);
    std::memset(f->data, 0x41, bytes);
    f->number = number;
    f->size_id = 2;
    f->temporal_id = 1;
    f->depends_on = number - 3;
    f->reorder = -1;
    f->captured = 5000;
    f->capture_wall = 1000000;
    f->nal_count = 1;
    f->nals[0].offset = 0;
    f->nals[0].len = (uint32_t)bytes;
    return f;
}

struct rig {
    media_transport transport{};
    packet_writer writer{};
    frame_packets p{};

    rig()
    {
        static media_transport_ops ops{};
        rng random = rng_seeded(1);
        transport.ops = &ops;
        transport.max_packet = 500;
        packet_writer_init(&writer, 96, &random);
        packet_writer_attach(&writer, &transport);
    }
    ~rig()
    {
        packet_writer_destroy(&writer);
    }
    outgoing_packet next(bool kept = false)
    {
        outgoing_packet out;
        frame_packets_next(&p, &writer, {30, 1}, 7000, kept, &out);
        return out;
    }
};

} // namespace

TEST_CASE("frame_packets: the whole frame is sent, in packets that fit")
{
    rig r;
    frame_pointer f = frame_of(30, 1200);
    frame_packets_of(&r.p, f.get(), 3, 2);
    std::vector<outgoing_packet> sent;
    do
        sent.push_back(r.next(true));
    while (!frame_packets_sent(&r.p));
    REQUIRE(sent.size() >= 3);
    size_t bytes = 1; // the NAL unit's header is in the fragments' own
    for (const outgoing_packet &p : sent) {
        bool first = &p == &sent.front(), last = &p == &sent.back();
        CHECK(p.payload.head_len + p.payload.body_len <= 500);
        CHECK(p.rtp.marker == last);
        CHECK(p.rtp.adu.first == first);
        CHECK(p.rtp.adu.last == last);
        CHECK(p.rtp.has_capture == first);
        CHECK(p.rtp.adu.frame == 30);
        CHECK(p.rtp.adu.level == 3);
        CHECK(p.rtp.adu.depends == 3);
        CHECK(p.rtp.adu.reorder == -1);
        CHECK(p.rtp.adu.written_us == 7000);
        CHECK(p.pts == USEC_PER_SEC);
        CHECK(p.is_kept);
        bytes += p.payload.body_len;
    }
    CHECK(bytes == 1200);
    CHECK(r.p.frame == nullptr);
    for (size_t i = 0; i < sent.size(); i++) {
        CHECK(sent[i].rtp.adu.has_left);
        CHECK(sent[i].rtp.adu.left == sent.size() - 1 - i);
    }
}

TEST_CASE("frame_packets: how many packets follow is right after a change of the transport's room")
{
    rig r;
    frame_pointer f = frame_of(30, 4000);
    frame_packets_of(&r.p, f.get(), 3, 2);
    std::vector<outgoing_packet> sent;
    do {
        r.transport.max_packet = sent.size() < 3 ? 500 : 300;
        sent.push_back(r.next(true));
    } while (!frame_packets_sent(&r.p));
    for (size_t i = 3; i < sent.size(); i++)
        CHECK(sent[i].rtp.adu.left == sent.size() - 1 - i);
}

TEST_CASE("frame_packets: more than 255 packets that follow are 255")
{
    rig r;
    frame_pointer f = frame_of(30, 140000);
    frame_packets_of(&r.p, f.get(), 3, 2);
    std::vector<outgoing_packet> sent;
    do
        sent.push_back(r.next(true));
    while (!frame_packets_sent(&r.p));
    REQUIRE(sent.size() > 300);
    for (size_t i = 0; i < sent.size(); i++)
        CHECK(sent[i].rtp.adu.left == std::min<size_t>(255, sent.size() - 1 - i));
}

TEST_CASE("frame_packets: a refused packet is offered again")
{
    rig r;
    frame_pointer f = frame_of(30, 1200);
    frame_packets_of(&r.p, f.get(), 0, 2);
    outgoing_packet first = r.next();
    frame_packets_of(&r.p, f.get(), 0, 2); // still the same frame
    outgoing_packet again = r.next();
    CHECK(again.payload.body == first.payload.body);
    CHECK(again.rtp.adu.first);
    REQUIRE_FALSE(frame_packets_sent(&r.p));
    CHECK(r.next().payload.body != first.payload.body);
}

TEST_CASE("frame_packets: the rest of a dropped frame is forgotten")
{
    rig r;
    frame_pointer f = frame_of(30, 1200), g = frame_of(31, 1200);
    frame_packets_of(&r.p, f.get(), 0, 2);
    r.next();
    frame_packets_forget(&r.p);
    CHECK(r.p.frame == nullptr);
    frame_packets_of(&r.p, g.get(), 1, 2);
    outgoing_packet p = r.next();
    CHECK(p.number == 31);
    CHECK(p.rtp.adu.first);
}
