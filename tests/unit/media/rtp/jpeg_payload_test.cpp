// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/jpeg_payload.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "media/rtp/depacketiser.h"

namespace
{

using bytes = std::vector<uint8_t>;

enum { FIRST_OWN_Q = 128 };

// The depacketiser: pictures of the packets between markers, as the frame assembler gives them.
struct receiver {
    depacketiser *d = depacketiser_new(&jpeg_payload_format);
    int64_t seq = 65534;
    uint32_t number = 0;
    bool begins = true;
    bytes last;
    ~receiver()
    {
        depacketiser_free(d);
    }
    bool push(const bytes &payload, uint32_t stamp, bool marker)
    {
        bytes copy = payload; // the sanitizer finds reads behind it
        copy.shrink_to_fit();
        rtp_packet p{};
        p.timestamp = stamp;
        p.payload = copy.data();
        p.payload_len = copy.size();
        p.has_adu = true;
        p.adu.frame = number;
        p.adu.key = true;
        p.adu.first = begins;
        p.adu.last = marker;
        (void)depacketiser_push(d, &p, seq++, 1);
        begins = marker;
        number += marker;
        received_frame *f = depacketiser_pull(d);
        if (f)
            last = bytes(f->data, f->data + f->bytes);
        received_frame_free(f);
        return f != nullptr;
    }
    const bytes &picture() const
    {
        return last;
    }
};

// The header, of 640x480.
bytes header(uint32_t offset, int type, int q, int width = 80)
{
    return {0,
            (uint8_t)(offset >> 16),
            (uint8_t)(offset >> 8),
            (uint8_t)offset,
            (uint8_t)type,
            (uint8_t)q,
            (uint8_t)width,
            60};
}

bytes operator+(bytes a, const bytes &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Where a marker's segment begins; -1: there is none.
int find(const bytes &data, int marker)
{
    for (size_t i = 0; i + 1 < data.size(); i++)
        if (data[i] == 0xff && data[i + 1] == marker)
            return (int)i;
    return -1;
}

// The tables' header. `precision`: bit i is set if table i has 16 bits.
bytes tables_head(size_t length, int precision = 0)
{
    return {0, (uint8_t)precision, (uint8_t)(length >> 8), (uint8_t)length};
}

// Two tables of 8 bits.
bytes tables(uint8_t value)
{
    return tables_head(2 * JPEG_TABLE) + bytes(2 * JPEG_TABLE, value);
}

// A table of 16 bits.
bytes wide(int value)
{
    bytes out;
    for (int i = 0; i < JPEG_TABLE; i++)
        out = out + bytes{(uint8_t)(value >> 8), (uint8_t)value};
    return out;
}

// The file's tables as text: number, bits, first and last value.
std::string tables_of(const bytes &picture)
{
    std::string out;
    for (size_t at = 2; picture.at(at + 1) == 0xdb;) {
        size_t len = (size_t)picture[at + 2] << 8 | picture[at + 3];
        bool is_wide = picture[at + 4] >> 4;
        REQUIRE(len == (is_wide ? 131 : 67));
        auto value = [&](size_t i) {
            size_t from = at + 5 + i * (is_wide ? 2 : 1);
            return is_wide ? picture[from] << 8 | picture[from + 1] : picture[from];
        };
        out += (out.empty() ? "" : ", ") + std::to_string(picture[at + 4] & 15) +
               (is_wide ? " wide " : " ") + std::to_string(value(0)) + " " +
               std::to_string(value(JPEG_TABLE - 1));
        at += 2 + len;
    }
    return out;
}

} // namespace

TEST_CASE("JPEG: a picture of two packets is a file")
{
    receiver r;
    CHECK_FALSE(r.push(header(0, 1, 50) + bytes{1, 2, 3}, 9, false));
    REQUIRE(r.push(header(3, 1, 50) + bytes{4, 5}, 9, true));
    const bytes p = r.picture();
    CHECK(bytes(p.begin(), p.begin() + 2) == bytes{0xff, 0xd8});
    // With Q 50 the tables are those of ITU-T T.81, K.1 and K.2.
    CHECK(bytes(p.begin() + 2, p.begin() + 12) == bytes{0xff, 0xdb, 0, 67, 0, 16, 11, 12, 14, 12});
    CHECK(bytes(p.begin() + 71, p.begin() + 81) == bytes{0xff, 0xdb, 0, 67, 1, 17, 18, 18, 24, 21});
    int frame = find(p, 0xc0);
    REQUIRE(frame == 140);
    CHECK(bytes(p.begin() + frame, p.begin() + frame + 19) ==
          bytes{0xff, 0xc0, 0, 17, 8, 480 >> 8, 480 & 255, 640 >> 8, 640 & 255, 3, 1, 0x22, 0, 2,
                0x11, 1, 3, 0x11, 1});
    CHECK(bytes(p.end() - 7, p.end()) == bytes{1, 2, 3, 4, 5, 0xff, 0xd9});
    REQUIRE(r.push(header(0, 0, 1) + bytes{7, 0xff, 0xd9}, 10, true)); // ends by itself
    const bytes q = r.picture();
    CHECK(q[7] == 255);                   // 16 * 50
    CHECK(q[find(q, 0xc0) + 11] == 0x21); // 4:2:2
    CHECK(bytes(q.end() - 4, q.end()) == bytes{0, 7, 0xff, 0xd9});
    REQUIRE(r.push(header(0, 0, 99) + bytes{7}, 11, true));
    CHECK(r.picture()[7] == 1); // 16 * 2 %, at least 1
}

TEST_CASE("JPEG: tables of the camera, and restart markers")
{
    receiver r;
    CHECK_FALSE(r.push(header(0, 0, 200) + tables_head(128), 1, true));     // 128 bytes are said
    CHECK_FALSE(r.push(header(0, 0, 200) + bytes{0, 0, 0, 0, 7}, 1, true)); // not known yet
    REQUIRE(r.push(header(0, 0, 200) + tables(77) + bytes{7}, 2, true));
    CHECK(r.picture()[7] == 77);
    REQUIRE(r.push(header(0, 0, 200) + bytes{0, 0, 0, 0, 7}, 3, true)); // as before
    CHECK(r.picture()[7] == 77);
    REQUIRE(r.push(header(0, 0, 255) + tables(78) + bytes{7}, 4, true));
    CHECK(r.picture()[7] == 78);
    CHECK_FALSE(r.push(header(0, 0, 255) + bytes{0, 0, 0, 0, 7}, 5, true)); // those are not kept
    REQUIRE(r.push(header(0, 65, 50) + bytes{1, 2, 0xff, 0xff, 7}, 7, true));
    const bytes p = r.picture();
    int restart = find(p, 0xdd);
    REQUIRE(restart > 0);
    CHECK(bytes(p.begin() + restart, p.begin() + restart + 6) == bytes{0xff, 0xdd, 0, 4, 1, 2});
    CHECK(p[find(p, 0xc0) + 11] == 0x22);
}

TEST_CASE("JPEG: as many tables as their length says, of 8 or 16 bits")
{
    const bytes n(JPEG_TABLE, 7), m(JPEG_TABLE, 8), o(JPEG_TABLE, 9);
    struct {
        int q, precision;
        bytes data;
        const char *file; // its tables; nullptr: refused
    } const rows[] = {
        {255, 0, n, "0 7 7"}, // as FFmpeg's muxer sends it
        {255, 0, n + m, "0 7 7, 1 8 8"},
        {255, 0, n + m + o, "0 7 7, 1 8 8"},
        {255, 0, n + m + o + o, "0 7 7, 1 8 8"},
        {255, 1, wide(300), "0 wide 300 300"},
        {255, 1, wide(7), "0 7 7"}, // of 16 bits, but no value needs them
        {255, 3, wide(300) + wide(301), "0 wide 300 300, 1 wide 301 301"},
        {255, 1, wide(300) + n, "0 wide 300 300, 1 7 7"},
        {255, 2, n + wide(300), "0 7 7, 1 wide 300 300"},
        {255, 4, n + m + wide(300), "0 7 7, 1 8 8"},
        {255, 0, {}, nullptr}, // 3.1.8: Q 255 has its tables in each picture
        {128, 0, {}, nullptr}, // none came before
        {128, 0, n, "0 7 7"},
        {128, 0, {}, "0 7 7"},
        {254, 3, wide(300) + wide(301), "0 wide 300 300, 1 wide 301 301"},
        {254, 0, {}, "0 wide 300 300, 1 wide 301 301"},
        {254, 0, n, "0 7 7"}, // replaces both
        {254, 0, {}, "0 7 7"},
        {128, 0, {}, "0 7 7"},
        {255, 0, bytes(63, 7), nullptr},
        {255, 0, n + bytes(1, 7), nullptr},
        {255, 1, n, nullptr},
        {255, 3, wide(300) + n, nullptr},
        {99, 0, {}, nullptr}, // computed ones have no header: it is taken for the scan
    };
    for (int type : {0, 1, 64, 65}) {
        receiver r;
        uint32_t stamp = 0;
        for (const auto &row : rows) {
            CAPTURE(type, row.q, row.precision, row.data.size());
            const bytes restart = type < 64 ? bytes{} : bytes{0, 5, 0xff, 0xff};
            const bytes scan = {1, 2, 3};
            bool came = r.push(header(0, type, row.q) + restart +
                                   tables_head(row.data.size(), row.precision) + row.data + scan,
                               ++stamp, true);
            if (row.q < FIRST_OWN_Q) {
                REQUIRE(came);
                CHECK(tables_of(r.picture()) == "0 1 2, 1 1 2");
                continue;
            }
            REQUIRE(came == (row.file != nullptr));
            if (!row.file)
                continue;
            const bytes p = r.picture();
            CHECK(tables_of(p) == row.file);
            CHECK((find(p, 0xdd) > 0) == (type >= 64));
            CHECK(bytes(p.end() - 5, p.end()) == scan + bytes{0xff, 0xd9});
            // With one table all three components use it.
            int frame = find(p, 0xc0), colour = tables_of(p).find(',') != std::string::npos;
            CHECK(bytes{p[frame + 12], p[frame + 15], p[frame + 18]} ==
                  bytes{0, (uint8_t)colour, (uint8_t)colour});
        }
    }
    receiver r; // more bytes than there are
    CHECK_FALSE(r.push(header(0, 0, 255) + tables_head(JPEG_TABLE + 1) + n, 1, true));
}

TEST_CASE("JPEG: a picture that lacks a packet is dropped")
{
    receiver r;
    const bytes first = header(0, 1, 50) + bytes{1, 2, 3}, second = header(3, 1, 50) + bytes{4};
    CHECK_FALSE(r.push(second, 1, true)); // no beginning
    CHECK_FALSE(r.push(first, 2, false));
    r.seq++;
    CHECK_FALSE(r.push(second, 2, true));
    CHECK_FALSE(r.push(first, 5, false));
    CHECK_FALSE(r.push(header(4, 1, 50) + bytes{5}, 5, true)); // not the next bytes
    CHECK_FALSE(r.push(first, 6, false));
    CHECK_FALSE(r.push({0, 0, 0}, 6, false));
    CHECK_FALSE(r.push(second, 6, true));
    CHECK_FALSE(r.push(first, 6, false));
    CHECK_FALSE(r.push(first, 6, true)); // the beginning of another one
    CHECK_FALSE(r.push(first, 7, false));
    CHECK(r.push(second, 7, true));
    CHECK_FALSE(r.push(header(0, 1, 50), 8, true)); // empty
    for (int type : {2, 63, 66, 128, 255})
        CHECK_FALSE(r.push(header(0, type, 50) + bytes{1, 2, 3, 4, 5}, 9, true));
    for (int q : {0, 100, 127})
        CHECK_FALSE(r.push(header(0, 1, q) + bytes{1}, 10, true));
    for (int width : {0, 1}) { // in units of 8; 0: above 2040
        const bytes payload = header(0, 1, 50, width) + bytes{1};
        CHECK(jpeg_payload_is_too_large(payload.data(), payload.size()) == (width == 0));
        CHECK(r.push(payload, 11, true) == (width != 0));
    }
    const bytes later = header(3, 1, 50, 0) + bytes{1};
    CHECK_FALSE(jpeg_payload_is_too_large(later.data(), later.size()));
    CHECK_FALSE(jpeg_payload_begins(later.data(), later.size()));
    CHECK(jpeg_payload_begins(first.data(), first.size()));
    CHECK_FALSE(jpeg_payload_begins(first.data(), 4));
}

TEST_CASE("JPEG: any bytes are read or refused; pictures are bounded")
{
    receiver r;
    rng g = rng_seeded(1);
    for (int i = 0; i < 20000; i++) {
        bytes payload(rng_below(&g, 200));
        for (uint8_t &b : payload)
            b = (uint8_t)(rng_below(&g, 3) ? 0 : rng_below(&g, 256));
        if (payload.size() > 4 && rng_below(&g, 2))
            payload[1] = payload[2] = payload[3] = payload[4] = 0;
        if (r.push(payload, (uint32_t)rng_below(&g, 2), rng_below(&g, 2) != 0))
            CHECK(r.picture().size() <= DEPACKETISER_MAX_FRAME);
    }
    const bytes part(1 << 20, 1);
    bool came = false;
    for (uint32_t i = 0; i < 9; i++)
        came |= r.push(header(i << 20, 1, 50) + part, 1, i == 8);
    CHECK_FALSE(came);
}
