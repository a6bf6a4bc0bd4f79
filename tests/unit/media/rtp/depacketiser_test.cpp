// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "media/rtp/depacketiser.h"
#include "media/rtp/h264_payload.h"
#include "media/rtp/packetiser.h"

namespace
{
struct packet {
    int64_t seq;
    struct rtp_packet head;
    std::string payload;
};

struct fixture {
    struct depacketiser *d = depacketiser_new(&h264_payload_format);

    ~fixture()
    {
        depacketiser_free(d);
    }
    int push(int64_t seq, struct rtp_packet p, const std::string &payload, usec_t now = 0)
    {
        std::vector<uint8_t> copy(payload.begin(), payload.end()); // overreads show
        p.has_adu = true;
        p.payload = copy.data();
        p.payload_len = copy.size();
        return depacketiser_push(d, &p, seq, now);
    }
    // Frame 1, `flags` out of F (first), L (last)
    int push(int64_t seq, const char *flags, const std::string &payload, uint32_t frame = 1)
    {
        struct rtp_packet p = {};
        p.adu.frame = frame;
        p.adu.first = strchr(flags, 'F');
        p.adu.last = strchr(flags, 'L');
        return push(seq, p, payload);
    }
    int push(const packet &p)
    {
        return push(p.seq, p.head, p.payload);
    }
    // Returns the next frame's number and bytes, with '|' for start codes; "" if there is none.
    std::string pull()
    {
        struct received_frame *f = depacketiser_pull(d);
        if (!f)
            return "";
        std::string bytes((const char *)f->data, f->bytes), out = std::to_string(f->number);
        for (size_t i = 0; i < 64; i++)
            CHECK(f->data[f->bytes + i] == 0);
        received_frame_free(f);
        for (size_t at; (at = bytes.find(std::string("\0\0\0\1", 4))) != std::string::npos;)
            bytes.replace(at, 4, "|");
        return out + bytes;
    }
};
} // namespace

static std::string bytes(std::initializer_list<int> list)
{
    std::string s;
    for (int b : list)
        s += (char)b;
    return s;
}

TEST_CASE("depacketiser: single units, STAP-A and FU-A make one frame")
{
    fixture f;
    CHECK(f.push(10, "F", bytes({24, 0, 2, 0x67, 'a', 0, 3, 0x68, 'b', 'c'})) ==
          0);                                             // RFC 6184, 5.7.1
    CHECK(f.push(11, "", bytes({0x7c, 0x85, 'd'})) == 0); // 5.8
    CHECK(f.push(12, "", bytes({0x7c, 0x05, 'e'})) == 0);
    CHECK(f.push(13, "", bytes({0x7c, 0x45})) == 0); // an empty fragment may be
    CHECK(f.pull() == "");
    CHECK(f.push(14, "L", bytes({0x65, 'f'})) == 0);
    CHECK(f.pull() == "1|\x67"
                      "a|\x68"
                      "bc|\x65"
                      "de|\x65"
                      "f");
    CHECK(f.pull() == "");
    CHECK(depacketiser_malformed(f.d) == 0);
}

TEST_CASE("depacketiser: the fields of a frame")
{
    fixture f;
    struct rtp_packet p = {};
    p.timestamp = 9000;
    p.adu = {100, 3,          1, false, true, false, 0,
             2,   0xfffffff0, 0, false, 0,    true}; // written just before 2^32 us
    REQUIRE(f.push(1, p,
                   "\x41"
                   "a",
                   500) == 0);
    p.adu.first = false;
    p.adu.last = true;
    p.adu.written_us = 16;
    p.has_capture = true;
    p.capture_wall = 777;
    p.has_made = true;
    p.made = {15, true};
    REQUIRE(f.push(3, p,
                   "\x41"
                   "c",
                   400) == 0);
    p.adu.last = false;
    p.adu.written_us = 8;
    p.made = {0, false};
    REQUIRE(f.push(2, p,
                   "\x41"
                   "b",
                   900) == 0);
    std::unique_ptr<received_frame, void (*)(received_frame *)> frame(depacketiser_pull(f.d),
                                                                      received_frame_free);
    REQUIRE(frame);
    CHECK(frame->number == 100);
    CHECK(frame->size_id == 3);
    CHECK(frame->on_lower);
    CHECK(frame->temporal_id == 1);
    CHECK_FALSE(frame->key);
    CHECK(frame->depends_on == 98);
    CHECK(frame->capture_wall == 777);
    CHECK((frame->made == 15000 && frame->is_slow));
    CHECK(frame->rtp_timestamp == 9000);
    CHECK(frame->first_written_us == 0xfffffff0);
    CHECK(frame->last_written_us == 16);
    CHECK(frame->first_arrived == 400);
    CHECK(frame->last_arrived == 900);
    CHECK(frame->packets == 3);
    CHECK(frame->bytes == 18);
}

TEST_CASE("depacketiser: packets in any order give each frame once")
{
    std::vector<int> order = {0, 1, 2, 3};
    do {
        fixture f;
        for (int i : order) {
            CHECK(f.pull() == "");
            CHECK(f.push(65534 + i,
                         i == 0   ? "F"
                         : i == 3 ? "L"
                                  : "",
                         "A" + std::to_string(i)) == 0);
        }
        CHECK(f.pull() == "1|A0|A1|A2|A3");
        for (int i : order)
            CHECK(f.push(65534 + i,
                         i == 0   ? "F"
                         : i == 3 ? "L"
                                  : "",
                         "A" + std::to_string(i)) == 0);
        CHECK(f.pull() == ""); // duplicates make no second one
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("depacketiser: frames are output when they become whole")
{
    fixture f;
    f.push(1, "F", "A1", 1);
    f.push(3, "FL", "B", 2);
    f.push(4, "FL", "C", 3);
    CHECK(f.pull() == "2|B");
    CHECK(f.pull() == "3|C");
    CHECK(f.pull() == "");
    f.push(2, "L", "A2", 1);
    CHECK(f.pull() == "1|A1|A2");
}

TEST_CASE("depacketiser: malformed payloads")
{
    const struct {
        const char *what;
        std::string payload;
        bool good;
    } cases[] = {
        {"empty", "", false}, // as is the frame
        {"type 0", bytes({0x60}), false},
        {"a header alone", bytes({0x61}), true},
        {"forbidden bit", bytes({0xe1, 1}), false},
        {"STAP-B", bytes({25, 0, 0, 0, 1, 0x61}), true},
        {"STAP-B, cut", bytes({25, 0, 0, 0}), false},
        {"MTAP16", bytes({26, 0, 0, 0, 1, 7, 0, 0, 0x61}), true},
        {"MTAP16, cut", bytes({26, 0, 0, 0, 1, 7, 0, 0}), false},
        {"MTAP24", bytes({27, 0, 0, 0, 1, 7, 0, 0, 0, 0x61}), true},
        {"FU-B", bytes({29, 0x81, 0, 0, 1}), true},
        {"FU-B, cut", bytes({29, 0x81, 0}), false},
        {"type 30", bytes({30, 1}), false},
        {"STAP-A of one", bytes({24, 0, 1, 0x61}), true},
        {"STAP-A of none", bytes({24}), false},
        {"STAP-A, empty unit", bytes({24, 0, 0, 0, 1, 0x61}), false},
        {"STAP-A, too long", bytes({24, 0, 3, 0x61, 1}), false},
        {"STAP-A, padded", bytes({24, 0, 1, 0x61, 0, 0, 0}), true},
        {"STAP-A, a byte left", bytes({24, 0, 1, 0x61, 1}), false},
        {"STAP-A, bytes left", bytes({24, 0, 1, 0x61, 0, 0, 1}), false},
        {"STAP-A, size cut", bytes({24, 0}), false},
        {"STAP-A in STAP-A", bytes({24, 0, 4, 24, 0, 1, 0x61}), false},
        {"FU-A without header", bytes({28}), false},
        {"FU-A, both ends", bytes({28, 0xc1, 1}), true},
        {"FU-A of type 0", bytes({28, 0x80, 1}), false},
        {"FU-A of FU-A", bytes({28, 0x80 | 28, 1}), false},
        {"FU-A, only the start", bytes({28, 0x81, 1}), true},
        {"FU-A, only the end", bytes({28, 0x41, 1}), false},
        {"FU-A, only the middle", bytes({28, 0x01, 1}), false},
    };
    for (const auto &c : cases) {
        INFO(c.what);
        fixture f;
        CHECK(f.push(1, "FL", c.payload) == (c.good ? 0 : ERR_MALFORMED));
        CHECK(depacketiser_malformed(f.d) == (c.good ? 0 : 1));
        CHECK((f.pull() != "") == c.good);
        CHECK(f.push(2, "FL", "A", 2) == 0); // the next frame is untouched
        CHECK(f.pull() == "2|A");
    }
}

TEST_CASE("depacketiser: fragments that do not match")
{
    const std::string start = bytes({0x7c, 0x85, 's'}), middle = bytes({0x7c, 0x05, 'm'}),
                      end = bytes({0x7c, 0x45, 'e'}), single = bytes({0x61}),
                      other = bytes({0x7c, 0x41, 'o'});
    const struct {
        std::vector<std::string> payloads;
        std::string frame; // "": none
    } table[] = {
        // without an end bit: what follows ends the unit
        {{start, start}, "1|es|es"},
        {{start, single}, "1|es|a"},
        {{start, middle}, "1|esm"},
        // what a receiver ignores (RFC 6184, 5.2)
        {{start, "", bytes({30, 1}), end}, "1|ese"},
        {{bytes({0x60, 1}), single}, "1|a"},
        // without a start
        {{single, end}, ""},
        {{middle, end}, ""},
        {{start, other}, ""},
        {{start, end, middle}, ""},
    };
    for (const auto &row : table) {
        INFO((&row - table));
        fixture f;
        int err = 0;
        for (size_t i = 0; i < row.payloads.size(); i++)
            err = f.push((int64_t)i,
                         i == 0                         ? "F"
                         : i + 1 == row.payloads.size() ? "L"
                                                        : "",
                         row.payloads[i]);
        CHECK(err == (row.frame.empty() ? ERR_MALFORMED : 0));
        CHECK(depacketiser_malformed(f.d) == row.frame.empty());
        CHECK(f.pull() == row.frame);
    }
}

TEST_CASE("depacketiser: packets of two frames never mix")
{
    fixture f;
    f.push(1, "F", "A1", 1); // its last packet is lost, and the first of the next
    f.push(2, "L", "B2", 2);
    CHECK(f.pull() == "");
    f.push(3, "FL", "C", 3);
    CHECK(f.pull() == "3|C");
}

TEST_CASE("depacketiser: numbers beyond 2^32 and below 0")
{
    fixture f;
    f.push(1, "FL", "A", 0xffffffff);
    f.push(2, "FL", "B", 0);
    CHECK(f.pull() == "4294967295|A");
    CHECK(f.pull() == "4294967296|B");
    fixture g;
    struct rtp_packet p = {};
    p.adu = {3, 0, 0, false, true, true, 0, 4, 0, 0, false, 0, false};
    CHECK(g.push(1, p, "A") == ERR_MALFORMED); // depends on frame -1
    CHECK(g.pull() == "");
    p.adu.depends = 3;
    CHECK(g.push(2, p, "A") == 0);
    CHECK(g.pull() == "3|A");
}

TEST_CASE("depacketiser: a frame may depend on a later one, and has its own slot")
{
    fixture f;
    struct rtp_packet p = {};
    p.adu = {1, 0, 2, false, true, true, 0, -1, 0, 2, false, 0, false};
    CHECK(f.push(2, p, "A") == 0);
    received_frame *got = depacketiser_pull(f.d);
    REQUIRE(got);
    CHECK(got->number == 1);
    CHECK(got->depends_on == 2);
    CHECK(received_frame_slot(got) == 3);
    received_frame_free(got);
}

TEST_CASE("depacketiser: the window advances")
{
    fixture f;
    f.push(0, "F", "A0", 1);
    for (int64_t seq = 2; seq < DEPACKETISER_WINDOW; seq++)
        f.push(seq, "FL", "B", 2);
    for (int i = 0; i < DEPACKETISER_WINDOW - 2; i++)
        f.pull();
    CHECK(f.push(1, "L", "A1", 1) == 0); // just in time
    CHECK(f.pull() == "1|A0|A1");

    f.push(5000, "F", "A0", 1);
    f.push(5000 + DEPACKETISER_WINDOW, "F", "B0", 2); // takes the slot of A0
    CHECK(f.push(5001, "L", "A1", 1) == 0);
    CHECK(f.pull() == "");
    CHECK(f.push(5000, "F", "A0", 1) == ERR_RANGE);
    CHECK(f.push(5001 + DEPACKETISER_WINDOW, "L", "B1", 2) == 0);
    CHECK(f.pull() == "2|B0|B1");
    // a hole made by overwriting in the middle of a run
    f.push(9000, "F", "A0", 1);
    f.push(9001, "", "A1", 1);
    f.push(9002, "", "A2", 1);
    f.push(9001 + DEPACKETISER_WINDOW - 2, "FL", "B", 2);
    f.push(9001 + DEPACKETISER_WINDOW, "FL", "C", 3);
    CHECK(f.push(9003, "L", "A3", 1) == 0);
    CHECK(f.pull() == "2|B");
    CHECK(f.pull() == "3|C");
    CHECK(f.pull() == "");
}

TEST_CASE("depacketiser: media that waits has a wider window")
{
    fixture f;
    REQUIRE(depacketiser_widen(f.d) == 0);
    f.push(0, "F", "A0", 1);
    for (int64_t seq = 2; seq < DEPACKETISER_AWAITED; seq++) {
        f.push(seq, "FL", "B", 2);
        f.pull();
    }
    CHECK(f.push(1, "L", "A1", 1) == 0);
    CHECK(f.pull() == "1|A0|A1");
    f.push(2 * DEPACKETISER_AWAITED, "FL", "C", 3);
    CHECK(f.push(DEPACKETISER_AWAITED, "F", "D", 4) == ERR_RANGE);
}

TEST_CASE("depacketiser: memory is bounded")
{
    fixture f;
    const std::string big = "A" + std::string(60000, 'x');
    for (int64_t seq = 0; seq < 1000; seq++) // 60 MB of a frame without an end
        CHECK(f.push(seq, seq == 0 ? "F" : "", big) == 0);
    CHECK(f.push(1000, "L", "A") == 0);
    CHECK(f.pull() == "");
    CHECK(f.push(1001, "FL", "A", 2) == 0);
    CHECK(f.pull() == "2|A");
    int err = 0;
    for (int64_t seq = 2000; seq < 2080; seq++) // 4.8 MB, whole
        err = f.push(seq, seq == 2000 ? "F" : seq == 2079 ? "L" : "", big, 3);
    CHECK(err == ERR_MALFORMED);
    CHECK(f.pull() == "");
    for (int64_t seq = 3000; seq < 4000; seq++) // never pulled: only the newest are kept
        f.push(seq, "FL", "A", (uint32_t)seq);
    CHECK(f.pull() == "3744|A");
}

// Frames pass through the packetiser, are shuffled slightly, and some packets are lost: every whole
// frame is output unchanged.
TEST_CASE("depacketiser: restores what the packetiser cut")
{
    struct rng rng = rng_seeded(10);
    std::vector<packet> wire;
    std::vector<std::string> sent;
    std::vector<bool> hurt;
    int64_t seq = 65000;
    for (uint32_t n = 0; n < 400; n++) {
        std::string data, annex_b = std::to_string(n);
        std::vector<struct nal> nals;
        for (uint64_t i = rng_below(&rng, 3) + 1; i-- > 0;) {
            uint32_t len = 1 + (uint32_t)rng_below(&rng, 600);
            nals.push_back({(uint32_t)data.size(), len});
            data += (char)(0x60 | (1 + rng_below(&rng, 23)));
            for (uint32_t k = 1; k < len; k++)
                data += (char)(2 + rng_below(&rng, 250)); // no start codes inside
            annex_b += "|" + data.substr(data.size() - len);
        }
        struct packetiser p;
        packetiser_init(&p, (const uint8_t *)data.data(), nals.data(), (int)nals.size());
        bool lost = false;
        struct rtp_payload out;
        while (packetiser_next(&p, 100, &out)) {
            packet q = {seq++, {}, std::string((const char *)out.head, out.head_len)};
            q.payload.append((const char *)out.body, out.body_len);
            q.head.adu.frame = n;
            q.head.adu.first = out.first;
            q.head.adu.last = out.last;
            if (rng_below(&rng, 50) == 0)
                lost = true;
            else
                wire.push_back(q);
        }
        sent.push_back(annex_b);
        hurt.push_back(lost);
    }
    for (size_t i = 0; i + 20 < wire.size(); i++)
        std::swap(wire[i], wire[i + rng_below(&rng, 20)]);
    fixture f;
    std::vector<bool> got(sent.size());
    for (const packet &p : wire) {
        REQUIRE(f.push(p) == 0);
        for (std::string frame; (frame = f.pull()) != "";) {
            size_t n = (size_t)std::stoi(frame);
            REQUIRE(frame == sent[n]);
            REQUIRE_FALSE(got[n]);
            got[n] = true;
        }
    }
    for (size_t n = 0; n < sent.size(); n++)
        CHECK(got[n] == !hurt[n]);
    CHECK(depacketiser_malformed(f.d) == 0);
}
