// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/hevc_frames.h"

#include <catch2/catch.hpp>
#include <vector>

#include "common/base/rng.h"

namespace
{

using bytes = std::vector<uint8_t>;

struct receiver {
    hevc_frames h{};
    uint16_t seq = 65535;
    ~receiver()
    {
        hevc_frames_destroy(&h);
    }
    bool push(const bytes &payload, uint32_t stamp, bool marker)
    {
        rtp_packet p{};
        p.seq = seq++;
        p.timestamp = stamp;
        p.marker = marker;
        p.payload = payload.data();
        p.payload_len = payload.size();
        return hevc_frames_push(&h, &p);
    }
    bytes unit() const
    {
        return bytes(h.data, h.data + h.bytes);
    }
};

const bytes vps = {0x40, 1, 9}, idr = {0x26, 1, 7, 8}, slice = {0x02, 1, 5};

} // namespace

TEST_CASE("H.265: single units, an aggregation and fragments")
{
    receiver r;
    CHECK_FALSE(r.push(slice, 1, true)); // no key frame yet
    // type 48: two units of 3 and 4 bytes
    CHECK(r.push({0x60, 1, 0, 3, 0x40, 1, 9, 0, 4, 0x26, 1, 7, 8}, 2, true));
    CHECK(r.unit() == bytes{0, 0, 0, 1, 0x40, 1, 9, 0, 0, 0, 1, 0x26, 1, 7, 8});
    CHECK(r.h.key);
    CHECK(r.push(slice, 3, true));
    CHECK(r.unit() == bytes{0, 0, 0, 1, 0x02, 1, 5});
    CHECK_FALSE(r.h.key);
    // type 49: the IDR (type 19) in three fragments after its parameter set
    CHECK_FALSE(r.push(vps, 4, false));
    CHECK_FALSE(r.push({0x62, 1, 0x80 | 19, 7}, 4, false));
    CHECK_FALSE(r.push({0x62, 1, 19, 8}, 4, false));
    CHECK(r.push({0x62, 1, 0x40 | 19, 9}, 4, true));
    CHECK(r.unit() == bytes{0, 0, 0, 1, 0x40, 1, 9, 0, 0, 0, 1, 0x26, 1, 7, 8, 9});
    CHECK(r.h.timestamp == 4);
}

TEST_CASE("H.265: what is missing costs the frames up to the next key frame")
{
    receiver r;
    CHECK(r.push(idr, 1, true));
    r.seq++; // lost
    CHECK_FALSE(r.push(slice, 2, true));
    CHECK_FALSE(r.push(slice, 3, true));
    CHECK(r.push(idr, 4, true));
    CHECK_FALSE(r.push({0x62, 1, 1, 8}, 5, true)); // a fragment without beginning
    CHECK_FALSE(r.push(slice, 6, true));
    CHECK(r.push(idr, 7, true));
    for (const bytes &bad : {bytes{}, bytes{0x60}, bytes{0x60, 1, 0, 9, 1}, bytes{0x60, 1, 0, 0, 1},
                             bytes{0x62, 1, 0x80}, bytes{0x64, 1, 2, 3}}) {
        CHECK(r.push(idr, 8, true));
        CHECK_FALSE(r.push(bad, 9, true));
        CHECK_FALSE(r.push(slice, 10, true));
    }
    CHECK(r.push(idr, 11, true));
}

TEST_CASE("H.265: a unit without end is bounded, and garbage does no harm")
{
    receiver r;
    bytes part(60000, 0x11);
    part[0] = 0x62;
    part[2] = 0x80 | 19;
    for (int i = 0; i < 400; i++) {
        CHECK_FALSE(r.push(part, 1, false));
        part[2] = 19;
    }
    CHECK(r.h.room <= 2 * (size_t)HEVC_MAX_BYTES);
    CHECK_FALSE(r.push(part, 1, true));
    CHECK(r.push(idr, 2, true));
    rng random = rng_seeded(7);
    for (int i = 0; i < 20000; i++) {
        bytes data(rng_u64(&random) % 40);
        for (uint8_t &b : data)
            b = (uint8_t)rng_u64(&random);
        if (data.size() > 2 && i % 2)
            data[0] = 0x60 | (data[0] & 2);
        (void)r.push(data, (uint32_t)(i / 5), i % 5 == 4);
    }
    CHECK(r.push(idr, 1000000, true));
}
