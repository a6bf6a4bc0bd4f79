// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "media/coded/synthetic.h"
#include "media/rtp/depacketiser.h"
#include "media/rtp/h264_payload.h"

namespace
{
// The bytes of the size's NAL units in one second, the number of frames, and whether they are
// evenly spaced.
struct second {
    int frames = 0;
    size_t bytes = 0;
    bool even = true;
};

second second_of(const synthetic &s, int size_id)
{
    second out;
    const int numbers = s.ladder.source_fps.num;
    const int step = numbers / s.ladder.sizes[size_id].fps.num;
    for (int64_t n = 0; n < numbers; n++) {
        coded_frame *f = synthetic_frame(&s, size_id, n);
        out.even = out.even && (f != nullptr) == (n % step == step - 1);
        if (!f)
            continue;
        out.frames++;
        for (int i = 0; i < f->nal_count; i++)
            out.bytes += f->nals[i].len;
        coded_frame_unref(f);
    }
    return out;
}
} // namespace

TEST_CASE("synthetic: goddard's levels are Figure 6's")
{
    struct row {
        int kb, fps, kbps;
    };
    const row rows[] = {{1, 10, 80},  {1, 15, 120}, {2, 15, 240}, {2, 20, 320},
                        {4, 20, 640}, {4, 30, 960}, {8, 30, 1920}};
    synthetic s;
    synthetic_goddard(&s);
    CHECK(s.kind == SDP_SOURCE_GODDARD);
    CHECK(std::string(s.name) == "synthetic:goddard");
    CHECK(ladder_is_valid(&s.ladder));
    REQUIRE(s.ladder.level_count == 7);
    for (int i = 0; i < 7; i++) {
        CAPTURE(i);
        const level &l = s.ladder.levels[i];
        CHECK(l.bitrate_bps == rows[i].kbps * 1000);
        CHECK(level_frame_rate(&s.ladder, i) == rows[i].fps);
        const second got = second_of(s, l.size_id);
        CHECK(got.frames == rows[i].fps);
        CHECK(got.bytes == static_cast<size_t>(rows[i].kb * 1000 * rows[i].fps));
        CHECK(got.even);
    }
}

TEST_CASE("synthetic: level k of the dummy layers is k + 1 layers of the same size")
{
    synthetic s;
    REQUIRE(synthetic_parse("layers:8,1024", &s) == 0);
    CHECK(s.kind == SDP_SOURCE_LAYERS);
    CHECK(std::string(s.name) == "synthetic:layers:8,1024");
    CHECK(ladder_is_valid(&s.ladder));
    CHECK(s.ladder.cumulative);
    REQUIRE(s.ladder.level_count == 8);
    for (int i = 0; i < 8; i++) {
        CAPTURE(i);
        CHECK(s.ladder.levels[i].bitrate_bps == (i + 1) * 204800); // 1024 x 8 x 25
        CHECK(s.ladder.levels[i].size_id == i);
        coded_frame *f = synthetic_frame(&s, i, 3);
        REQUIRE(f);
        CHECK(f->nal_count == 1);
        CHECK(f->nals[0].len == 1024);
        CHECK(f->size_id == i);
        CHECK(f->key == (i == 0)); // the others depend on the layer below
        CHECK(f->on_lower == (i > 0));
        CHECK(f->depends_on == -1);
        CHECK(f->pts == 120000);
        coded_frame_unref(f);
    }
}

TEST_CASE("synthetic: layers at another frame rate")
{
    synthetic s;
    REQUIRE(synthetic_parse("layers:8,1024,122", &s) == 0);
    CHECK(std::string(s.name) == "synthetic:layers:8,1024,122");
    CHECK(ladder_is_valid(&s.ladder));
    CHECK(s.ladder.levels[7].bitrate_bps == 8 * 8 * 1024 * 122);
    CHECK(second_of(s, 7).frames == 122);
    CHECK(second_of(s, 7).bytes == 122 * 1024);
}

TEST_CASE("synthetic: accepted and refused names")
{
    struct row {
        const char *text;
        int err, levels;
    };
    const row rows[] = {
        {"goddard", 0, 7},
        {"layers:8,1024", 0, 8},
        {"layers:1,16", 0, 1},
        {"layers:8,16384", 0, 8},
        {"layers:8,16384,1000", 0, 8},
        {"layers:8,1024,0", ERR_RANGE, 0},
        {"layers:8,1024,1001", ERR_RANGE, 0},
        {"layers:8,1024,", ERR_MALFORMED, 0},
        {"layers:8,1024,25,1", ERR_MALFORMED, 0},
        {"layers:0,1024", ERR_RANGE, 0},
        {"layers:9,1024", ERR_RANGE, 0},
        {"layers:8,15", ERR_RANGE, 0},
        {"layers:8,16385", ERR_RANGE, 0},
        {"layers:99999999999,1", ERR_MALFORMED, 0},
        {"layers:8", ERR_MALFORMED, 0},
        {"layers:8,", ERR_MALFORMED, 0},
        {"layers:-1,1024", ERR_MALFORMED, 0},
        {"layers:8,1024 ", ERR_MALFORMED, 0},
        {"layers", ERR_MALFORMED, 0},
        {"goddard:1", ERR_MALFORMED, 0},
        {"", ERR_MALFORMED, 0},
    };
    for (const row &r : rows) {
        CAPTURE(r.text);
        synthetic s{};
        CHECK(synthetic_parse(r.text, &s) == r.err);
        CHECK(s.ladder.level_count == r.levels);
    }
}

TEST_CASE("synthetic: a frame passes through packets unchanged")
{
    synthetic s;
    synthetic_goddard(&s);
    coded_frame *f = synthetic_frame(&s, 6, 59);
    REQUIRE(f);
    packetiser packets;
    packetiser_init(&packets, f->data, f->nals, f->nal_count);
    depacketiser *d = depacketiser_new(&h264_payload_format);
    rtp_payload payload;
    int count = 0;
    while (packetiser_next(&packets, 1000, &payload)) {
        std::vector<uint8_t> bytes(payload.head, payload.head + payload.head_len);
        bytes.insert(bytes.end(), payload.body, payload.body + payload.body_len);
        rtp_packet p{};
        p.adu.frame = 59;
        p.adu.size_id = 6;
        p.adu.key = true;
        p.adu.first = payload.first;
        p.adu.last = payload.last;
        p.has_adu = true;
        p.payload = bytes.data();
        p.payload_len = bytes.size();
        CHECK(depacketiser_push(d, &p, count++, 0) == 0);
    }
    CHECK(count == 9); // 7999 bytes in fragments of 998
    received_frame *got = depacketiser_pull(d);
    REQUIRE(got);
    CHECK(got->bytes == f->bytes);
    CHECK(memcmp(got->data, f->data, f->bytes) == 0);
    CHECK(depacketiser_malformed(d) == 0);
    received_frame_free(got);
    depacketiser_free(d);
    coded_frame_unref(f);
}
