// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/frame_assembler.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace
{
using bytes = std::vector<uint8_t>;

// NAL units: header, then a first byte whose top bit says that a slice is the first of its picture.
const bytes SPS = {0x67, 0x42}, PPS = {0x68, 0xce}, SEI = {0x06, 0x05}, RECOVERY = {0x06, 0x06};
const bytes IDR = {0x65, 0x88}, P = {0x41, 0x9a}, P_SECOND = {0x41, 0x10}, B = {0x01, 0x9e};
const bytes FU_FIRST = {0x7c, 0x85, 0x88}, FU_NEXT = {0x7c, 0x05, 0x11},
            FU_LAST = {0x7c, 0x45, 0x22};
const bytes STAP = {0x78, 0, 2, 0x67, 0x42, 0, 2, 0x68, 0xce, 0, 2, 0x65, 0x88};

struct stream {
    frame_assembler *f;
    usec_t now = 0;
    uint32_t stamp = 0; // of the newest frame
    explicit stream(fps rate = {25, 1}, sdp_codec codec = SDP_H264)
        : f(frame_assembler_new(codec, rate))
    {
    }
    ~stream()
    {
        frame_assembler_free(f);
    }

    // "0K[3,4] 1->0[5]": number, K or the frame it depends on, the packets; ': no frame depends on
    // it.
    std::string pull()
    {
        std::string out;
        foreign_packet p;
        while (frame_assembler_pull(f, &p)) {
            const adu_ext &a = p.packet.adu;
            stamp = a.first ? p.packet.timestamp : stamp;
            CHECK(p.packet.timestamp == stamp); // one a frame
            CHECK(p.packet.has_adu);
            if (a.first) {
                out += (out.empty() ? "" : " ") + std::to_string(a.frame);
                out += a.temporal_id ? "'" : "";
                out += a.key ? "K" : "->" + std::to_string(a.frame - a.depends);
                out += "[";
            } else {
                out += ",";
            }
            out += std::to_string(p.ext_seq) + (a.last ? "]" : "");
            free((void *)(uintptr_t)p.packet.payload);
        }
        return out;
    }
    std::string push(int64_t seq, uint32_t frame, const bytes &payload, bool marker)
    {
        rtp_packet p = {};
        p.timestamp = frame * 3600 + 4294960000u; // it wraps soon
        p.marker = marker;
        p.payload = payload.data();
        p.payload_len = payload.size();
        frame_assembler_push(f, &p, seq, now);
        return pull();
    }
};
} // namespace

TEST_CASE("frames end with the marker, and are numbered in the order of arrival")
{
    stream s;
    CHECK(s.push(10, 0, SPS, false) == "");
    CHECK(s.push(11, 0, PPS, false) == "");
    CHECK(s.push(12, 0, SEI, false) == "");
    CHECK(s.push(13, 0, IDR, true) == "0K[10,11,12,13]");
    CHECK(s.push(14, 1, P, false) == "");
    CHECK(s.push(15, 1, P_SECOND, true) == "1->0[14,15]");
    CHECK(s.push(16, 4, P, true) == "2->1[16]");
    CHECK(s.push(17, 2, B, true) == "3'->2[17]"); // B frames: decoding order, and nobody needs them
    CHECK(s.push(18, 3, B, true) == "4'->2[18]");
    CHECK(s.push(19, 7, P, true) == "5->2[19]");
    CHECK(s.push(20, 8, STAP, true) == "6K[20]");
    CHECK(s.push(21, 9, FU_FIRST, false) == "");
    CHECK(s.push(22, 9, FU_NEXT, false) == "");
    CHECK(s.push(23, 9, FU_LAST, true) == "7K[21,22,23]");
}

TEST_CASE("packets before the first key frame are dropped")
{
    stream s;
    CHECK(s.push(1, 0, P_SECOND, true) == "");
    CHECK(s.push(2, 1, P, true) == "1->0[2]"); // needs a frame that never comes whole
    CHECK(s.push(3, 2, RECOVERY, false) == "");
    CHECK(s.push(4, 2, P, true) == "2K[3,4]");
    stream whole;
    CHECK(whole.push(1, 0, P, true) == ""); // nothing to need
    CHECK(whole.push(2, 1, IDR, true) == "1K[2]");
}

TEST_CASE("without markers, or with too many, the time stamp ends a frame")
{
    stream none;
    CHECK(none.push(1, 0, IDR, false) == "");
    CHECK(none.push(2, 1, P, false) == "0K[1]");
    CHECK(none.push(3, 1, P_SECOND, false) == "");
    CHECK(none.push(4, 2, P, false) == "1->0[2,3]");

    stream many; // each slice has one
    CHECK(many.push(1, 0, IDR, true) == "0K[1]");
    CHECK(many.push(2, 0, {0x65, 0x10}, true) == ""); // so frame 0 was not whole; this is no frame
    CHECK(many.push(3, 1, P, true) == "");
    CHECK(many.push(4, 1, P_SECOND, true) == "");
    CHECK(many.push(5, 2, P, true) == "2->1[3,4]");

    stream apart; // parameter sets under a time stamp of their own
    CHECK(apart.push(1, 0, SPS, true) == "");
    CHECK(apart.push(2, 0, PPS, true) == "");
    CHECK(apart.push(3, 1, IDR, true) == "0K[1,2,3]");
}

TEST_CASE("units before the slices belong to their picture, whatever their time stamp")
{
    const bytes AUD = {0x09, 0xf0}, SEI_FIRST = {0x7c, 0x86, 0x05}, SEI_LAST = {0x7c, 0x46, 0x11};
    struct step {
        uint32_t frame;
        bytes payload;
        bool marker;
        const char *out;
    };
    const struct {
        const char *name;
        std::vector<step> steps;
    } table[] = {
        {"after the marker",
         {{0, IDR, true, "0K[0]"},
          {1, P, true, "1->0[1]"},
          {1, SPS, false, ""},
          {1, PPS, false, ""},
          {2, IDR, true, "2K[2,3,4]"}, // at once: the marker before was right
          {3, P, true, "3->2[5]"}}},
        {"no markers",
         {{0, IDR, false, ""},
          {1, P, false, "0K[0]"},
          {1, AUD, false, ""},
          {1, SPS, false, ""},
          {2, IDR, false, "1->0[1]"}, // not a key frame, although an SPS has its time stamp
          {3, P, false, "2K[2,3,4]"}}},
        {"a marker on the sets",
         {{0, IDR, true, "0K[0]"},
          {1, P, false, ""},
          {1, SPS, true, "1->0[1]"},
          {1, PPS, true, ""},
          {2, IDR, true, "2K[2,3,4]"}}},
        {"the fragments of a unit",
         {{0, IDR, true, "0K[0]"},
          {1, P, false, ""},
          {1, SEI_FIRST, false, ""},
          {1, SEI_LAST, false, ""},
          {2, P, true, "1->0[1] 2->1[2,3,4]"}}},
        {"between the slices of a picture they are its own",
         {{0, IDR, false, ""},
          {0, SEI, false, ""},
          {0, P_SECOND, true, "0K[0,1,2]"},
          {1, P, true, "1->0[3]"}}},
        {"a marker on each slice, a unit between them",
         {{0, IDR, true, "0K[0]"},
          {1, P, true, "1->0[1]"},
          {1, SEI, false, ""},
          {1, P_SECOND, true, ""}, // frame 1 was not whole; this is none
          {2, P, true, ""},
          {2, SEI, false, ""},
          {2, P_SECOND, true, ""},
          {3, P, true, "3->2[4,5,6]"}}},
    };
    for (const auto &row : table) {
        INFO(row.name);
        stream s;
        int64_t seq = 0;
        for (const step &x : row.steps) {
            INFO(seq);
            CHECK(s.push(seq++, x.frame, x.payload, x.marker) == x.out);
        }
    }

    stream lost; // the tail shows that frame 1 is whole; what follows the hole has no sets
    CHECK(lost.push(0, 0, IDR, false) == "");
    CHECK(lost.push(1, 1, P, false) == "0K[0]");
    CHECK(lost.push(2, 1, SPS, false) == "");
    CHECK(lost.push(4, 2, IDR, false) == "");
    lost.now = FOREIGN_WAIT;
    CHECK(lost.push(5, 3, P, false) == "1->0[1] 2K[4]");
}

TEST_CASE("reordered and lost packets")
{
    stream s;
    CHECK(s.push(1, 0, IDR, true) == "0K[1]");
    CHECK(s.push(3, 2, P, true) == "");
    CHECK(s.push(2, 1, P, true) == "1->0[2] 2->1[3]");
    CHECK(s.push(2, 1, P, true) == "");
    // 4 is lost: frame 3, so 4 needs what is missing.
    CHECK(s.push(5, 4, P, true) == "");
    s.now = FOREIGN_WAIT;
    CHECK(s.push(6, 5, P, true) == "4->3[5] 5->4[6]");
    CHECK(s.push(4, 3, P, true) == ""); // too late
    // The second slice of frame 6 is lost, then the first one of frame 7, in the sixteenth's time.
    CHECK(s.push(7, 6, P, false) == "");
    std::string got;
    for (int i = 0; i < FOREIGN_REORDER; i++)
        got += s.push(9 + i, 7 + (uint32_t)i, i ? P : P_SECOND, true);
    CHECK(got.substr(0, 20) == "8->7[10] 9->8[11] 10");
}

TEST_CASE("the first packets may be reordered, too")
{
    stream sets;
    CHECK(sets.push(11, 0, PPS, false) == "");
    CHECK(sets.push(10, 0, SPS, false) == "");
    CHECK(sets.push(12, 0, IDR, true) == "0K[10,11,12]");

    stream wrap; // of the sequence number, below its first extension
    CHECK(wrap.push(0, 0, FU_NEXT, false) == "");
    CHECK(wrap.push(-2, 0, SPS, false) == "");
    CHECK(wrap.push(-1, 0, FU_FIRST, false) == "");
    CHECK(wrap.push(1, 0, FU_LAST, true) == "0K[-2,-1,0,1]");

    stream over; // a frame has ended
    CHECK(over.push(5, 0, IDR, true) == "0K[5]");
    CHECK(over.push(4, 0, PPS, false) == "");
    CHECK(over.push(6, 1, P, true) == "1->0[6]");

    stream far;
    CHECK(far.push(100, 0, PPS, false) == "");
    CHECK(far.push(100 - FOREIGN_REORDER, 0, SPS, false) == "");
    CHECK(far.push(101, 0, IDR, true) == "0K[100,101]");
}

TEST_CASE("the time stamps give the number of missing frames")
{
    stream told({50, 1}); // 1800 ticks; the stream has 3600: two a frame are counted
    CHECK(told.push(1, 0, IDR, true) == "0K[1]");
    told.now = 0;
    CHECK(told.push(3, 3, P, true) == "");
    told.now = FOREIGN_WAIT;
    CHECK(told.push(4, 4, P, true) == "6->5[3] 7->6[4]");
    stream learnt({5, 1}); // the least distance seen is believed
    CHECK(learnt.push(1, 0, IDR, true) == "0K[1]");
    CHECK(learnt.push(2, 1, P, true) == "1->0[2]");
    CHECK(learnt.push(4, 4, P, true) == "");
    learnt.now = FOREIGN_WAIT;
    CHECK(learnt.push(5, 5, P, true) == "4->3[4] 5->4[5]");
    stream most;
    CHECK(most.push(1, 0, IDR, true) == "0K[1]");
    most.now = 55 * USEC_PER_SEC;
    CHECK(most.push(3, 1500, P, true) == "");
    most.now += FOREIGN_WAIT;
    CHECK(most.push(4, 1501, P, true) == "1500->1499[3] 1501->1500[4]");
    stream faster({100, 1}); // 6000: no more than so many are believed
    CHECK(faster.push(1, 0, IDR, true) == "0K[1]");
    faster.now = 55 * USEC_PER_SEC;
    CHECK(faster.push(3, 1500, P, true) == "");
    faster.now += FOREIGN_WAIT;
    CHECK(faster.push(4, 1501, P, true) == "4097->4096[3] 4098->4097[4]");
}

TEST_CASE("time stamps that jump are shifted")
{
    // 3600 ticks a frame: 250 frames are the 10 s that may be beyond the time that passed.
    const struct {
        usec_t now;
        int64_t seq;
        uint32_t frame;
        int shift; // in frames
        const char *out;
    } table[] = {
        {0, 1, 0, 0, "0K[1]"},
        {40000, 2, 1, 0, "1->0[2]"},
        {80000, 3, 252, 0, "2->1[3]"},                             // 10.04 s later, after 0.04 s
        {120000, 4, 504, -251, "3->2[4]"},                         // 10.08 s: now 253
        {160000, 5, 505, -251, "4->3[5]"},                         // it goes on
        {30160000, 6, 1255, -251, "5->4[6]"},                      // 30 s, in which nothing came
        {30200000, 7, 5, 1000, "6->5[7]"},                         // back: now 1005
        {30240000, 9, 900000, 1000, ""},                           // a hole
        {30300000, 10, 900001, 1007 - 900000, "8->7[9] 9->8[10]"}, // and a leap behind it
    };
    stream s;
    for (const auto &row : table) {
        INFO(row.seq);
        s.now = row.now;
        CHECK(s.push(row.seq, row.frame, row.seq == 1 ? IDR : P, true) == row.out);
        CHECK(frame_assembler_shift(s.f) == (uint32_t)row.shift * 3600u);
    }
}

TEST_CASE("all buffers are bounded")
{
    stream s;
    bytes large(60000, 0x41);
    large[1] = 0x9a;
    for (int i = 0; i < 3000; i++)
        s.push(i, 7, large, false); // one frame of 180 MB
    CHECK(s.push(3000, 8, IDR, true).find("K[3000]") != std::string::npos);
    stream holes;
    for (int i = 0; i < 3000; i++)
        holes.push(2 * i, (uint32_t)i, {0x41}, false);
    for (int i = 0; i < 300; i++)
        holes.push(9000 + i, (uint32_t)(i * 7919), bytes((size_t)i % 5, (uint8_t)i), i % 3 == 0);
}

TEST_CASE("a rate that is none counts as 25 frames a second")
{
    for (fps rate : {fps{25, 1}, fps{0, 1}, fps{25, 0}, fps{-25, 1}, fps{1, 2}, fps{500, 1}}) {
        CAPTURE(rate.num, rate.den);
        stream s(rate);
        CHECK(s.push(1, 0, IDR, true) == "0K[1]");
        CHECK(s.push(3, 4, P, true) == ""); // a hole: 4 frames later
        s.now = FOREIGN_WAIT;
        CHECK(s.push(4, 5, P, true) == "4->3[3] 5->4[4]");
    }
}

TEST_CASE("an aggregation packet is read as far as its lengths are right")
{
    const struct {
        bytes payload;
        const char *out;
    } rows[] = {
        {{0x78, 0, 2, 0x67, 0x42, 0, 2, 0x65, 0x88}, "0K[1]"},
        {{0x78, 0, 2, 0x65, 0x88, 0, 9, 0x41}, "0K[1]"}, // the second is cut off
        {{0x78, 0, 2, 0x65, 0x88, 0, 0}, "0K[1]"},       // or empty
        {{0x78, 0, 0, 0, 2, 0x65, 0x88}, ""},            // the first is empty: nothing is known
        {{0x78, 0, 9, 0x65, 0x88}, ""},
        {{0x78}, ""},
    };
    for (const auto &row : rows) {
        stream s;
        CHECK(s.push(1, 0, row.payload, true) == row.out);
    }
}

TEST_CASE("a caller that pulls nothing loses frames, and only as many as have no room")
{
    stream s;
    s.now = 0;
    for (int64_t n = 0; n < FOREIGN_MAX_PACKETS + 100; n++) {
        rtp_packet p = {};
        const bytes &payload = n ? P : IDR;
        p.timestamp = (uint32_t)n * 3600;
        p.marker = true;
        p.payload = payload.data();
        p.payload_len = payload.size();
        frame_assembler_push(s.f, &p, n, n * 40000);
    }
    foreign_packet p;
    int64_t pulled = 0;
    for (; frame_assembler_pull(s.f, &p); pulled++) {
        CHECK(p.ext_seq == pulled);
        free((void *)(uintptr_t)p.packet.payload);
    }
    CHECK(pulled == FOREIGN_MAX_PACKETS);
}

namespace
{

// Two payloads that are one picture each, and two halves of one.
struct codec_row {
    const char *name;
    sdp_codec codec;
    bytes key, next, first_half, second_half;
    bool all_keys;
};

bytes jpeg_at(uint8_t offset)
{
    return {0, 0, 0, offset, 1, 50, 80, 60, 1, 2, 3, 4};
}

const codec_row codecs[] = {
    {"H.264", SDP_H264, IDR, P, P, P_SECOND, false},
    {"HEVC", SDP_HEVC, {0x26, 1, 0x80}, {0x02, 1, 0x80}, {0x02, 1, 0x80}, {0x02, 1, 0x20}, false},
    // B and E; B; E: a sender without picture ids that never sets P, as FFmpeg is one
    {"VP9", SDP_VP9, {0x0c, 0x82}, {0x0c, 0x86}, {0x08, 0x86}, {0x04, 0x11}, false},
    {"JPEG", SDP_JPEG, jpeg_at(0), jpeg_at(0), jpeg_at(0), jpeg_at(4), true},
};

// The same as text, of pictures that are all key frames.
std::string expected(const codec_row &c, std::string text)
{
    for (size_t at; c.all_keys && (at = text.find("->")) != std::string::npos;)
        text.replace(at, text.find('[', at) - at, "K");
    return text;
}

} // namespace

TEST_CASE("every codec's frames, whatever the markers say")
{
    enum { RIGHT, NONE, ALL };
    const struct {
        int markers;
        const char *out; // of a key frame, a picture, two of halves, a picture, and one more packet
    } rows[] = {
        {RIGHT, "0K[1] 1->0[2] 2->1[3,4] 3->2[5,6] 4->3[7] 5->4[8]"},
        {NONE, "0K[1] 1->0[2] 2->1[3,4] 3->2[5,6] 4->3[7]"},
        // The markers of frame 2 show that they lie: that frame costs its second half.
        {ALL, "0K[1] 1->0[2] 2->1[3] 4->3[5,6] 5->4[7]"},
    };
    for (const codec_row &c : codecs) {
        for (const auto &row : rows) {
            CAPTURE(c.name, row.markers);
            stream s({25, 1}, c.codec);
            std::string out;
            auto push = [&](int64_t seq, uint32_t frame, const bytes &payload, bool last) {
                std::string got = s.push(seq, frame, payload,
                                         row.markers == ALL || (row.markers == RIGHT && last));
                out += (out.empty() || got.empty() ? "" : " ") + got;
            };
            push(1, 0, c.key, true);
            push(2, 1, c.next, true);
            push(3, 2, c.first_half, false);
            push(4, 2, c.second_half, true);
            push(5, 3, c.first_half, false);
            push(6, 3, c.second_half, true);
            push(7, 4, c.next, true);
            push(8, 5, c.next, true);
            CHECK(out == expected(c, row.out));
        }
    }
}

TEST_CASE("every codec's pictures whose time stamp never advances")
{
    enum { RIGHT, NONE, ALL };
    const struct {
        int markers;
        const char *out;
    } rows[] = {
        {RIGHT, "0K[1] 1->0[2] 2->1[3,4] 3->2[5,6] 4->3[7]"},
        {NONE, "0K[1,2] 1->0[3,4] 2->1[5,6]"}, // the first two may be fields of one picture
        {ALL, "0K[1] 1->0[2] 2->1[3] 4->3[5,6]"},
    };
    for (const codec_row &c : codecs) {
        for (const auto &row : rows) {
            CAPTURE(c.name, row.markers);
            stream s({25, 1}, c.codec);
            std::string out;
            auto push = [&](int64_t seq, const bytes &payload, bool last) {
                s.now = seq * 10000;
                std::string got =
                    s.push(seq, 0, payload, row.markers == ALL || (row.markers == RIGHT && last));
                out += (out.empty() || got.empty() ? "" : " ") + got;
            };
            push(1, c.key, true);
            push(2, c.next, true);
            push(3, c.first_half, false);
            push(4, c.second_half, true);
            push(5, c.first_half, false);
            push(6, c.second_half, true);
            push(7, c.next, true);
            CHECK(out == expected(c, row.out));
            // The pictures begin at 30, 50 and 70 ms; the two before them at 10 ms.
            CHECK(frame_assembler_shift(s.f) == 60 * 90);
        }
    }
}

TEST_CASE("time stamps that advance again are right")
{
    stream s;
    CHECK(s.push(1, 0, IDR, true) == "0K[1]"); // a burst, stamped when it was sent
    CHECK(s.push(2, 0, P, true) == "");
    CHECK(s.push(3, 0, P, true) == "1->0[2] 2->1[3]");
    CHECK(frame_assembler_shift(s.f) == 1);
    CHECK(s.push(4, 1, P, false) == "");
    CHECK(s.push(5, 1, P, true) == "3->2[4,5]"); // two fields
    CHECK(s.push(6, 2, P, true) == "4->3[6]");
    CHECK(frame_assembler_shift(s.f) == 1);
}

TEST_CASE("every codec's packets are put in order, and a hole costs its frame")
{
    for (const codec_row &c : codecs) {
        CAPTURE(c.name);
        stream s({25, 1}, c.codec);
        CHECK(s.push(1, 0, c.key, true) == "0K[1]");
        CHECK(s.push(3, 1, c.second_half, true) == "");
        CHECK(s.push(2, 1, c.first_half, false) == expected(c, "1->0[2,3]"));
        // 5 is lost: the second half of frame 2, and with it the frame.
        CHECK(s.push(4, 2, c.first_half, false) == "");
        CHECK(s.push(6, 3, c.first_half, false) == "");
        s.now = FOREIGN_WAIT;
        CHECK(s.push(7, 3, c.second_half, true) == expected(c, "3->2[6,7]"));
        // So is 8: the first half of frame 4.
        CHECK(s.push(9, 4, c.second_half, true) == "");
        s.now *= 2;
        CHECK(s.push(10, 5, c.key, true) == "5K[10]");
    }
}

TEST_CASE("a unit with start codes in it has the nature of all its units")
{
    const bytes code = {0, 0, 0, 1};
    auto joined = [&code](std::initializer_list<bytes> units) {
        bytes out;
        for (const bytes &u : units) {
            if (!out.empty())
                out.insert(out.end(), code.begin(), code.end());
            out.insert(out.end(), u.begin(), u.end());
        }
        return out;
    };
    const bytes vps = {0x40, 1, 9}, hevc_sps = {0x42, 1, 9}, hevc_idr = {0x26, 1, 0x80, 7};
    const struct {
        sdp_codec codec;
        bytes unit;
        size_t header; // bytes of a unit's header
        bytes next;
    } rows[] = {
        {SDP_H264, joined({SPS, PPS, IDR}), 1, P},
        {SDP_HEVC, joined({vps, hevc_sps, hevc_idr}), 2, {0x02, 1, 0x80}},
    };
    for (const auto &row : rows) {
        const bytes &unit = row.unit;
        CAPTURE(row.codec, unit.size());
        stream whole({25, 1}, row.codec);
        CHECK(whole.push(1, 0, unit, true) == "0K[1]");
        CHECK(whole.push(2, 1, row.next, true) == "1->0[2]");
        // As two fragments, cut at every place: within a start code, and within a unit's head.
        for (size_t cut = row.header + 1; cut < unit.size(); cut++) {
            CAPTURE(cut);
            auto fragment = [&](size_t from, size_t to, uint8_t flags) {
                bytes out = row.codec == SDP_HEVC
                                ? bytes{(uint8_t)((unit[0] & 0x81) | 49 << 1), unit[1],
                                        (uint8_t)(flags | (unit[0] >> 1 & 0x3f))}
                                : bytes{(uint8_t)((unit[0] & 0xe0) | 28),
                                        (uint8_t)(flags | (unit[0] & 0x1f))};
                out.insert(out.end(), unit.begin() + (long)from, unit.begin() + (long)to);
                return out;
            };
            stream s({25, 1}, row.codec);
            CHECK(s.push(1, 0, fragment(row.header, cut, 0x80), false) == "");
            CHECK(s.push(2, 0, fragment(cut, unit.size(), 0x40), true) == "0K[1,2]");
            CHECK(s.push(3, 1, row.next, true) == "1->0[3]");
        }
    }
}
