// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/err.h"
#include "media/audio/audio_encoder.h"
#include "media/pattern/pattern_tone.h"
#include "tests/support/coded_stream.hpp"
#include "tests/support/failing_alloc.hpp"
#include "tests/support/mp4_reader.hpp"

namespace
{

struct chunk : cmaf_chunk {
    chunk() : cmaf_chunk{} {}
    ~chunk()
    {
        cmaf_chunk_destroy(this);
    }
    chunk(const chunk &) = delete;
    chunk &operator=(const chunk &) = delete;

    // Appends the chunk to a file, and empties it.
    void write(std::vector<uint8_t> &to, uint32_t sequence, usec_t wall)
    {
        mp4_writer w{};
        cmaf_chunk_write(this, sequence, wall, &w);
        append(to, w);
        cmaf_chunk_destroy(this);
    }
};

} // namespace

TEST_CASE("cmaf_chunk: libavformat reads back times, durations, key frames and pictures")
{
    ladder l = one_size(160, 96, 30, 2, {{1, 150000}});
    encoder_ptr e = make_encoder(l);
    cmaf_track t{};
    t.codec = CMAF_H264;
    t.timescale = 30000;
    t.width = 160;
    t.height = 96;
    std::vector<uint8_t> bytes;
    chunk c;
    for (int64_t n = 0; n < 24; n++) {
        if (n == 12)
            encoder_request_key(e.get(), -1);
        frame_ptr f = encode(e.get(), l, 0, n);
        REQUIRE(f);
        if (n == 0) {
            REQUIRE(cmaf_track_learn(&t, f.get()) == 0);
            bytes = init_segment(t);
        }
        if (n == 5) // never arrived
            continue;
        cmaf_sample s{};
        s.time = n * 1000;
        s.duration = 1000;
        s.key = f->key;
        REQUIRE(cmaf_chunk_add_h264(&c, &s, f.get()) == 0);
        CHECK(cmaf_chunk_end(&c) == (n + 1) * 1000);
        if (n == 6)
            CHECK(c.samples[4].duration == 2000); // up to the next frame
        if (n % 8 == 7)
            c.write(bytes, static_cast<uint32_t>(n), n == 7 ? 0 : 1700000000 * USEC_PER_SEC);
    }
    mp4_file file(bytes);
    REQUIRE(file.packets.size() == 23);
    for (size_t i = 0; i < file.packets.size(); i++) {
        int64_t n = static_cast<int64_t>(i) + (i > 4);
        INFO("frame " << n);
        CHECK(file.packets[i].dts == n * 1000);
        CHECK(file.packets[i].pts == n * 1000);
        if (n != 4) // libavformat's parser makes it a usual one
            CHECK(file.packets[i].duration == 1000);
        CHECK(file.packets[i].key == (n == 0 || n == 12));
        CHECK((file.packets[i].data[4] & 0x1f) <= 6); // without parameter sets
    }
    CHECK(file.decode().size() == 23);
}

TEST_CASE("cmaf_chunk: the time of presentation may be later than that of decoding")
{
    cmaf_track t{};
    t.codec = CMAF_OPUS;
    t.timescale = 48000;
    std::vector<uint8_t> bytes = init_segment(t);
    chunk c;
    const int32_t offsets[] = {2, 5, 0};
    for (int i = 0; i < 3; i++) {
        cmaf_sample s{};
        s.time = 960 * i;
        s.duration = 960;
        s.offset = offsets[i] * 960;
        s.key = i == 0;
        REQUIRE(cmaf_chunk_add(&c, &s, "abc", 3) == 0);
    }
    c.write(bytes, 1, 0);
    mp4_file file(bytes);
    REQUIRE(file.packets.size() == 3);
    for (size_t i = 0; i < 3; i++)
        CHECK(file.packets[i].pts - file.packets[i].dts == offsets[i] * 960);
}

TEST_CASE("cmaf_chunk: Opus packets are read back byte for byte")
{
    cmaf_track t{};
    t.codec = CMAF_OPUS;
    t.timescale = AUDIO_RATE;
    std::vector<uint8_t> bytes = init_segment(t);
    audio_encoder *e = audio_encoder_new(64000);
    std::vector<int16_t> pcm(AUDIO_PACKET * AUDIO_CHANNELS);
    std::vector<std::vector<uint8_t>> sent;
    chunk c;
    for (int i = 0; i < 50; i++) {
        pattern_tone_fill(i * AUDIO_PACKET, pcm.data(), AUDIO_PACKET);
        audio_encoder_push(e, i * AUDIO_PACKET, pcm.data(), AUDIO_PACKET);
        coded_audio *a = audio_encoder_pull(e);
        REQUIRE(a);
        cmaf_sample s{};
        s.time = 5000 + i * AUDIO_PACKET;
        s.duration = AUDIO_PACKET;
        s.key = true;
        REQUIRE(cmaf_chunk_add(&c, &s, a->data, a->bytes) == 0);
        sent.emplace_back(a->data, a->data + a->bytes);
        coded_audio_unref(a);
    }
    audio_encoder_free(e);
    c.write(bytes, 1, 0);
    mp4_file file(bytes);
    REQUIRE(file.packets.size() == sent.size());
    for (size_t i = 0; i < sent.size(); i++) {
        CHECK(file.packets[i].data == sent[i]);
        CHECK(file.packets[i].pts == 5000 + static_cast<int64_t>(i) * AUDIO_PACKET);
        CHECK(file.packets[i].key);
    }
    CHECK(file.decode().size() == sent.size());
}

TEST_CASE("cmaf_chunk: refuses more samples than it has room for")
{
    chunk c;
    for (int i = 0; i < CMAF_CHUNK_SAMPLES; i++) {
        cmaf_sample s{};
        s.time = i;
        REQUIRE(cmaf_chunk_add(&c, &s, "a", 1) == 0);
    }
    cmaf_sample s{};
    s.time = CMAF_CHUNK_SAMPLES;
    CHECK(cmaf_chunk_add(&c, &s, "a", 1) == ERR_FULL);
}

TEST_CASE("cmaf_chunk: a full one takes no more; empty NAL units and delimiters are left out; no "
          "memory is an error")
{
    const uint8_t data[] = {1, 2, 3};
    chunk c;
    cmaf_sample s{};
    frame_ptr f(coded_frame_new(8), coded_frame_unref);
    REQUIRE(f);
    const uint8_t nals[8] = {0x09, 0xf0, 0x65, 0x88, 0x80, 0x67, 0x68, 0};
    memcpy(f->data, nals, sizeof(nals));
    const uint32_t lengths[] = {2, 0, 3, 1, 1}; // a delimiter, nothing, a slice, SPS, PPS
    uint32_t at = 0;
    for (uint32_t len : lengths) {
        f->nals[f->nal_count].offset = at;
        f->nals[f->nal_count++].len = len;
        at += len;
    }
    s.duration = 10;
    REQUIRE(cmaf_chunk_add_h264(&c, &s, f.get()) == 0);
    CHECK(c.samples[0].bytes == 4 + 3);
    for (int i = 1; i < CMAF_CHUNK_SAMPLES; i++) {
        s.time = 10 * i;
        REQUIRE(cmaf_chunk_add(&c, &s, data, sizeof(data)) == 0);
    }
    s.time = 10 * CMAF_CHUNK_SAMPLES;
    CHECK(cmaf_chunk_add(&c, &s, data, sizeof(data)) == ERR_FULL);
    CHECK(cmaf_chunk_add_h264(&c, &s, f.get()) == ERR_FULL);
    CHECK(c.count == CMAF_CHUNK_SAMPLES);
    CHECK(cmaf_chunk_end(&c) == 10 * CMAF_CHUNK_SAMPLES);

    chunk d;
    failing_alloc_set(0);
    CHECK(cmaf_chunk_add(&d, &s, data, sizeof(data)) == ERR_NO_MEMORY);
    CHECK(failing_alloc_end());
    CHECK(d.count == 0);
}
