// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/frame_packets.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
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
    f->made = 12999;
    f->is_slow = true;
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
        CHECK(p.rtp.has_made == first);
        CHECK((p.rtp.made.ms == 12 && p.rtp.made.is_slow));
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

TEST_CASE("frame_packets: VP9's sizes of a picture, whose last packet has the marker")
{
    ladder l{};
    l.source_fps = {60, 1};
    l.cumulative = true;
    l.size_count = 3;
    for (int s = 0; s < 3; s++)
        l.sizes[s] = {320 << s, 180 << s, {30, 1}, 3};
    struct {
        int size_id;
        int64_t number, depends_on;
        int temporal_id;
        bool plain;
        int largest;
        bool marker;
        const char *descriptor;
    } const table[] = {
        {0, 1, -1, 0, false, 2, false, "id 0 T0 S0 sizes"}, // every second number is a frame
        {1, 1, -1, 0, false, 2, false, "id 0 T0 S1 lower"},
        {2, 1, -1, 0, false, 2, true, "id 0 T0 S2 lower top"},
        {0, 7, 5, 2, false, 0, true, "id 3 T2 S0 -1"},
        {1, 17, 1, 0, false, 1, true, "id 8 T0 S1 -8 lower"},
        {1, 17, -1, 0, false, 2, false, "id 8 T0 S1 lower"}, // a sync frame
        {0, 7, 5, 2, true, 0, true, "id 3 P"},
    };
    for (const auto &row : table) {
        INFO(row.descriptor);
        rig r;
        frame_packets_config config = {SDP_VP9, &l, row.plain};
        frame_packets_init(&r.p, &config);
        frame_pointer f = frame_of(row.number, 1000);
        f->size_id = row.size_id;
        f->temporal_id = row.temporal_id;
        f->depends_on = row.depends_on;
        f->key = row.depends_on < 0 && row.size_id == 0;
        f->on_lower = row.size_id > 0;
        frame_packets_of(&r.p, f.get(), 0, row.largest);
        std::vector<uint8_t> whole;
        int packets = 0;
        for (bool last = false; !last; packets++) {
            outgoing_packet p = r.next();
            CHECK(p.payload.head_len + p.payload.body_len <= 500);
            std::vector<uint8_t> bytes(p.payload.head, p.payload.head + p.payload.head_len);
            bytes.insert(bytes.end(), p.payload.body, p.payload.body + p.payload.body_len);
            vp9_descriptor d;
            int head = vp9_descriptor_read(bytes.data(), bytes.size(), &d);
            REQUIRE(head > 0);
            last = d.last;
            CHECK(d.first == (packets == 0));
            CHECK(p.rtp.adu.last == d.last);
            CHECK(p.rtp.marker == (d.last && row.marker));
            whole.insert(whole.end(), bytes.begin() + head, bytes.end());
            std::string text = "id " + std::to_string(d.picture_id);
            if (d.has_layers)
                text += " T" + std::to_string(d.temporal_id) + " S" + std::to_string(d.size_id);
            else if (d.predicted)
                text += " P";
            if (d.diff_count)
                text += " -" + std::to_string(d.diffs[0]);
            CHECK((d.diff_count > 0) == (d.predicted && !row.plain));
            text += std::string(d.on_lower ? " lower" : "") + (d.unused_above ? " top" : "") +
                    (d.structure ? " sizes" : "");
            bool begins = packets == 0 || !f->key;
            CHECK(text == (begins ? row.descriptor : "id 0 T0 S0"));
            CHECK(frame_packets_sent(&r.p) == last);
        }
        CHECK(packets == 3);
        CHECK(whole == std::vector<uint8_t>(1000, 0x41));
    }
}
