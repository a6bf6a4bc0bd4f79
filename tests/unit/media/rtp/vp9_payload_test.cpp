// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/vp9_payload.h"

extern "C" {
#include <libavformat/avformat.h>
}

#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/wire/rtp.h"
#include "media/rtp/depacketiser.h"

using bytes_t = std::vector<uint8_t>;

namespace
{

const vp9_structure three = {3, 3, {320, 640, 1280}, {180, 360, 720}};
const bytes_t three_bytes = {
    0x58,                   // N_S 2 (3 sizes), Y, G
    0x01, 0x40, 0x00, 0xb4, // 320x180
    0x02, 0x80, 0x01, 0x68, // 640x360
    0x05, 0x00, 0x02, 0xd0, // 1280x720
    4,                      // pictures: each TID, U, R = 1, and the difference
    0x14, 4,    0x54, 1,    0x34, 2, 0x54, 1,
};

bytes_t structure_of(const vp9_structure &s)
{
    bytes_t out(VP9_MAX_STRUCTURE);
    out.resize(vp9_structure_write(&s, out.data()));
    return out;
}

bytes_t write(const vp9_descriptor &d)
{
    bytes_t out(VP9_MAX_DESCRIPTOR);
    out.resize(vp9_descriptor_write(&d, out.data()));
    return out;
}

// "I4660 P T2U S1D g7 B E Z V12", of what is there; "malformed"
std::string read(const bytes_t &bytes)
{
    vp9_descriptor d;
    int len = vp9_descriptor_read(bytes.data(), bytes.size(), &d);
    if (len < 0)
        return len == ERR_MALFORMED ? "malformed" : "?";
    std::string out = std::to_string(len) + ":";
    if (d.has_picture_id)
        out += " I" + std::to_string(d.picture_id);
    if (d.predicted)
        out += " P";
    if (d.has_layers)
        out += " T" + std::to_string(d.temporal_id) + (d.switching_up ? "U" : "") + " S" +
               std::to_string(d.size_id) + (d.on_lower ? "D" : "");
    if (d.has_layers && !d.flexible)
        out += " g" + std::to_string(d.group);
    if (d.flexible)
        out += " F";
    for (int i = 0; i < d.diff_count; i++)
        out += "-" + std::to_string(d.diffs[i]);
    out += std::string(d.first ? " B" : "") + (d.last ? " E" : "") + (d.unused_above ? " Z" : "");
    if (d.structure)
        out += " V" + std::to_string(d.structure_len);
    return out;
}

// The packets of a frame, as bytes; `marker` per packet is the end of the picture.
std::vector<bytes_t> packets(const bytes_t &frame, const vp9_descriptor &d, size_t max)
{
    std::vector<bytes_t> out;
    vp9_packetiser p;
    rtp_payload payload;
    vp9_packetiser_init(&p, frame.data(), frame.size(), &d);
    int left = vp9_packetiser_left(&p, max);
    while (vp9_packetiser_next(&p, max, &payload)) {
        CHECK(payload.first == out.empty());
        CHECK(payload.last == (--left == 0));
        bytes_t bytes(payload.head, payload.head + payload.head_len);
        bytes.insert(bytes.end(), payload.body, payload.body + payload.body_len);
        CHECK(bytes.size() <= max);
        out.push_back(bytes);
    }
    CHECK_FALSE(vp9_packetiser_next(&p, max, &payload)); // the frame stays done
    CHECK(left == 0);
    return out;
}

} // namespace

TEST_CASE("vp9 payload: the structure of three sizes by three layers, byte by byte")
{
    CHECK(structure_of(three) == three_bytes);
    CHECK(structure_of({2, 0, {64, 128}, {36, 72}}) ==
          bytes_t{0x30, 0, 64, 0, 36, 0, 128, 0, 72}); // without a group
    CHECK(structure_of({1, 1, {64}, {36}}) == bytes_t{0x18, 0, 64, 0, 36, 1, 0x14, 1});
    CHECK(structure_of({1, 2, {64}, {36}}) ==
          bytes_t{0x18, 0, 64, 0, 36, 2, 0x14, 2, 0x34, 1}); // T0 2 back, T1 1 back
}

TEST_CASE("vp9 payload: descriptors, byte by byte")
{
    vp9_descriptor key = vp9_descriptor_of(0, -1);
    key.has_layers = true;
    key.first = true;
    key.structure = three_bytes.data();
    key.structure_len = three_bytes.size();
    bytes_t expected = {0xba, 0x80, 0x00, 0x10}; // I L F B V; id 0; T0 U S0
    expected.insert(expected.end(), three_bytes.begin(), three_bytes.end());
    CHECK(write(key) == expected);

    vp9_descriptor top = vp9_descriptor_of(0x1234 + 0x8000, 0x1233 + 0x8000);
    top.has_layers = true;
    top.temporal_id = top.size_id = 2;
    top.on_lower = top.last = top.unused_above = true;
    // I P L F E Z; id 0x1234; T2 U S2 D; 1 back
    CHECK(write(top) == bytes_t{0xf5, 0x92, 0x34, 0x55, 0x02});
    top.flexible = false;
    top.diff_count = 0;
    top.group = 0x8d;
    CHECK(write(top) == bytes_t{0xe5, 0x92, 0x34, 0x55, 0x8d});

    vp9_descriptor flexible = {};
    flexible.has_picture_id = flexible.flexible = flexible.predicted = true;
    flexible.picture_id = 0x7fff;
    flexible.diff_count = 2;
    flexible.diffs[0] = 1;
    flexible.diffs[1] = 127;
    CHECK(write(flexible) == bytes_t{0xd0, 0xff, 0xff, 0x03, 0xfe});
    CHECK(write(vp9_descriptor{}) == bytes_t{0x00});
}

TEST_CASE("vp9 payload: what is read of a descriptor")
{
    struct {
        const char *what;
        bytes_t bytes;
        const char *read;
    } table[] = {
        {"no bytes", {}, "malformed"},
        {"nothing after the descriptor", {0x00}, "malformed"},
        {"the shortest", {0x0c, 1}, "1: B E"},
        {"a picture id of 7 bits", {0x80, 0x7f, 1}, "2: I127"},
        {"of 15 bits", {0x80, 0xff, 0xfe, 1}, "3: I32766"},
        {"of 15 bits, truncated", {0x80, 0xff}, "malformed"},
        {"missing", {0x80}, "malformed"},
        {"layers", {0xe5, 0x92, 0x34, 0x55, 0x8d, 1}, "5: I4660 P T2U S2D g141 E Z"},
        {"layers without group", {0x20, 0x40}, "malformed"},
        {"inter-layer dependency of the smallest size", {0x20, 0x01, 0, 1}, "malformed"},
        {"flexible: no group", {0xf0, 5, 0x40, 0x04, 1}, "4: I5 P T2 S0 F-2"},
        {"three differences", {0xd0, 5, 0x03, 0x05, 0x06, 1}, "5: I5 P F-1-2-3"},
        {"four differences", {0xd0, 5, 0x03, 0x05, 0x07, 0x08, 1}, "malformed"},
        {"a difference of 0", {0xd0, 5, 0x00, 1}, "malformed"},
        {"differences without picture id", {0x50, 0x02, 1}, "malformed"},
        {"differences missing", {0xd0, 5}, "malformed"},
        {"flexible, not predicted", {0x90, 5, 1}, "2: I5 F"},
        {"an empty structure", {0x02, 0x00, 1}, "2: V1"},
        {"one size", {0x02, 0x10, 0, 64, 0, 36, 1}, "6: V5"},
        {"a width of 0", {0x02, 0x10, 0, 0, 0, 36, 1}, "malformed"},
        {"a size that is missing", {0x02, 0x30, 0, 64, 0, 36, 1, 2, 3}, "malformed"},
        {"a group without pictures", {0x02, 0x08, 0, 1}, "3: V2"},
        {"a picture of 3 differences", {0x02, 0x08, 1, 0x0c, 1, 2, 3, 1}, "7: V6"},
        {"... truncated", {0x02, 0x08, 1, 0x0c, 1, 2}, "malformed"},
        {"... of 0", {0x02, 0x08, 1, 0x04, 0, 1}, "malformed"},
        {"255 pictures in 2 bytes", {0x02, 0x08, 255, 0x00, 0x00}, "malformed"},
        {"a structure that is missing", {0x02}, "malformed"},
    };
    for (auto &row : table) {
        INFO(row.what);
        CHECK(read(row.bytes) == row.read);
    }
    bytes_t key = {0xaa, 0x80, 0x00, 0x10, 0x00};
    key.insert(key.end(), three_bytes.begin(), three_bytes.end());
    for (size_t len = 0; len <= key.size(); len++) // each is truncated
        CHECK(read(bytes_t(key.begin(), key.begin() + (long)len)) == "malformed");
    key.push_back(1);
    CHECK(read(key) == "27: I0 T0U S0 g0 B V22");
}

TEST_CASE("vp9 payload: the packets of a frame")
{
    vp9_descriptor d = vp9_descriptor_of(5, 4);
    d.has_layers = true;
    d.temporal_id = 2;
    d.size_id = 1;
    d.on_lower = true;
    // 5 bytes of descriptor, 59 of the frame.
    struct {
        size_t frame, packets;
    } table[] = {{1, 1}, {59, 1}, {60, 2}, {118, 2}, {119, 3}};
    for (auto &row : table) {
        bytes_t frame(row.frame);
        for (size_t i = 0; i < frame.size(); i++)
            frame[i] = (uint8_t)i;
        std::vector<bytes_t> out = packets(frame, d, 64);
        CHECK(out.size() == row.packets);
        bytes_t again;
        for (size_t i = 0; i < out.size(); i++) {
            std::string flags = std::string(i == 0 ? " B" : "") + (i + 1 == out.size() ? " E" : "");
            CHECK(read(out[i]) == "5: I5 P T2U S1D F-1" + flags);
            again.insert(again.end(), out[i].begin() + 5, out[i].end());
        }
        CHECK(again == frame);
    }
    // The structure is on the first packet only.
    d.structure = three_bytes.data();
    d.structure_len = three_bytes.size();
    std::vector<bytes_t> out = packets(bytes_t(37 + 59), d, 64);
    REQUIRE(out.size() == 2);
    CHECK(read(out[0]) == "27: I5 P T2U S1D F-1 B V22");
    CHECK(read(out[1]) == "5: I5 P T2U S1D F-1 E");
}

// Pushes payloads as the packets of one frame; returns the frame's bytes, empty if there is none.
static bytes_t unpacked(const std::vector<bytes_t> &payloads)
{
    depacketiser *d = depacketiser_new(&vp9_payload_format);
    for (size_t i = 0; i < payloads.size(); i++) {
        rtp_packet p = {};
        p.has_adu = true;
        p.adu.first = i == 0;
        p.adu.last = i + 1 == payloads.size();
        p.payload = payloads[i].data();
        p.payload_len = payloads[i].size();
        depacketiser_push(d, &p, (int64_t)i, 1);
    }
    received_frame *f = depacketiser_pull(d);
    bytes_t out;
    if (f)
        out.assign(f->data, f->data + f->bytes);
    CHECK((f || depacketiser_malformed(d) > 0));
    received_frame_free(f);
    depacketiser_free(d);
    return out;
}

TEST_CASE("vp9 payload: the depacketiser restores a frame, and no other")
{
    // I L F of picture 5, T0, S1: B, none or E.
    struct {
        const char *what;
        std::vector<bytes_t> payloads;
        bytes_t frame;
    } table[] = {
        {"one packet", {{0xbc, 5, 0x02, 7, 8}}, {7, 8}},
        {"three", {{0xb8, 5, 0x02, 7}, {0xb0, 5, 0x02, 8, 9}, {0xb4, 5, 0x02, 1}}, {7, 8, 9, 1}},
        {"no begin", {{0xb0, 5, 0x02, 7}, {0xb4, 5, 0x02, 1}}, {}},
        {"no end", {{0xb8, 5, 0x02, 7}, {0xb0, 5, 0x02, 1}}, {}},
        {"two begins", {{0xb8, 5, 0x02, 7}, {0xbc, 5, 0x02, 1}}, {}},
        {"more after the end", {{0xbc, 5, 0x02, 7}, {0xb4, 5, 0x02, 1}}, {}},
        {"another picture", {{0xb8, 5, 0x02, 7}, {0xb4, 6, 0x02, 1}}, {}},
        {"another size", {{0xb8, 5, 0x02, 7}, {0xb4, 5, 0x04, 1}}, {}},
        {"another layer", {{0xb8, 5, 0x02, 7}, {0xb4, 5, 0x22, 1}}, {}},
        {"a malformed packet", {{0xb8, 5, 0x02, 7}, {0xb4, 5, 0x02}}, {}},
    };
    for (auto &row : table) {
        INFO(row.what);
        CHECK(unpacked(row.payloads) == row.frame);
    }
    rng r = rng_seeded(4);
    for (int round = 0; round < 100; round++) {
        bytes_t frame(1 + rng_below(&r, 5000));
        for (uint8_t &b : frame)
            b = (uint8_t)rng_u64(&r);
        vp9_descriptor d = vp9_descriptor_of(round, round - 1);
        d.has_layers = true;
        CHECK(unpacked(packets(frame, d, 64 + rng_below(&r, 1400))) == frame);
    }
}

namespace
{

// What libavformat makes of RTP packets: an SDP first, then a packet a read, through its own
// reader.
struct stock_receiver {
    std::vector<bytes_t> input;
    size_t next = 0;
    std::vector<bytes_t> frames;

    static int read(void *ctx, uint8_t *out, int size)
    {
        stock_receiver *self = (stock_receiver *)ctx;
        if (self->next == self->input.size())
            return AVERROR_EOF;
        const bytes_t &bytes = self->input[self->next++];
        REQUIRE((int)bytes.size() <= size);
        std::copy(bytes.begin(), bytes.end(), out);
        return (int)bytes.size();
    }
    // RTCP answers: none.
    static int write(void *, uint8_t *, int size)
    {
        return size;
    }
    void run()
    {
        int level = av_log_get_level();
        av_log_set_level(AV_LOG_QUIET);
        std::string sdp =
            "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            "m=video 5000 RTP/AVP 96\r\na=rtpmap:96 VP9/90000\r\n";
        input.insert(input.begin(), bytes_t(sdp.begin(), sdp.end()));
        AVFormatContext *c = avformat_alloc_context();
        auto open = [&](int writable) {
            return avio_alloc_context((uint8_t *)av_malloc(65536), 65536, writable, this, read,
                                      write, nullptr);
        };
        AVIOContext *text = open(0), *media = open(1);
        c->pb = text;
        AVDictionary *options = nullptr;
        av_dict_set(&options, "sdp_flags", "custom_io", 0);
        av_dict_set(&options, "reorder_queue_size", "0", 0);
        // It reads the SDP to its end, so that has to end before the packets.
        std::vector<bytes_t> packets(input.begin() + 1, input.end());
        input.resize(1);
        REQUIRE(avformat_open_input(&c, "", av_find_input_format("sdp"), &options) == 0);
        input.insert(input.end(), packets.begin(), packets.end());
        av_dict_free(&options);
        c->pb = media;
        AVPacket *p = av_packet_alloc();
        while (av_read_frame(c, p) == 0) {
            frames.push_back(bytes_t(p->data, p->data + p->size));
            av_packet_unref(p);
        }
        av_packet_free(&p);
        avformat_close_input(&c);
        for (AVIOContext *io : {text, media}) {
            av_free(io->buffer);
            avio_context_free(&io);
        }
        av_log_set_level(level);
    }
};

bytes_t rtp(uint16_t seq, uint32_t timestamp, bool marker, const bytes_t &payload)
{
    rtp_packet p = {};
    p.marker = marker;
    p.payload_type = 96;
    p.seq = seq;
    p.timestamp = timestamp;
    p.ssrc = 7;
    bytes_t out(RTP_MAX_HEADER);
    out.resize(rtp_encode(&p, out.data()));
    out.insert(out.end(), payload.begin(), payload.end());
    return out;
}

} // namespace

TEST_CASE("vp9 payload: libavformat receives a plain stream, with any of its temporal layers")
{
    rng r = rng_seeded(6);
    for (int top = 0; top < 3; top++) { // of all temporal ids, the highest that is sent
        stock_receiver receiver;
        std::vector<bytes_t> sent;
        uint16_t seq = 65530;
        for (int64_t index = 0; index < 16; index++) {
            int temporal_id = index % 4 == 0 ? 0 : index % 4 == 2 ? 1 : 2;
            if (temporal_id > top)
                continue;
            bytes_t frame(1 + rng_below(&r, 3000));
            for (uint8_t &b : frame)
                b = (uint8_t)rng_u64(&r);
            int64_t reference = index == 0 ? -1 : index + 32760 - 1;
            vp9_descriptor d = vp9_descriptor_of(index + 32760, reference); // ids wrap
            d.flexible = false;
            d.diff_count = 0;
            std::vector<bytes_t> payloads = packets(frame, d, 500);
            for (size_t i = 0; i < payloads.size(); i++)
                receiver.input.push_back(
                    rtp(seq++, (uint32_t)index * 3000, i + 1 == payloads.size(), payloads[i]));
            sent.push_back(frame);
        }
        receiver.run();
        CHECK(sent.size() == 4u << top);
        CHECK(receiver.frames.size() == sent.size());
        CHECK((receiver.frames == sent)); // without the bytes in a failure's message
    }
}
