// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/stream_recording.h"

#include <filesystem>

#include "media/coded/audio.h"
#include "tests/support/coded_stream.hpp"
#include "tests/support/reread.hpp"

namespace fs = std::filesystem;

namespace
{

sdp described(const ladder &l)
{
    sdp s{};
    s.codec = SDP_H264;
    s.source = SDP_SOURCE_TEST;
    s.ladder = l;
    s.duration = -1;
    s.ext.adu = 2;
    return s;
}

struct rig {
    scratch_folder folder;
    ladder l = one_size(64, 48, 25, 1, {{0, 60000}});
    sdp described_as = described(l);
    encoder_ptr encoder = make_encoder(l);
    stream_recording *s;
    usec_t now = 0;

    rig()
    {
        s = stream_recording_new((folder.path + "/a.mkv").c_str());
        REQUIRE(s);
    }
    ~rig()
    {
        stream_recording_free(s, now);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    frame_ptr encode(int64_t number)
    {
        picture_ptr p = draw(l, 0, number);
        coded_frame *f = nullptr;
        REQUIRE(encoder_encode(encoder.get(), p.get(), &f) == 0);
        REQUIRE(f);
        return {f, coded_frame_unref};
    }
    // `seq`, `pts`: of a third party's packets.
    bool give(const coded_frame *f, int64_t seq = 0, usec_t pts = 0, int size_id = 0)
    {
        received_frame r{};
        r.number = f->number;
        r.size_id = size_id;
        r.last_written_us = (uint32_t)now;
        r.first_seq = seq;
        r.key = f->key;
        r.depends_on = f->depends_on;
        r.capture_wall = 1700000000000000LL;
        r.data = f->data;
        r.bytes = f->bytes;
        stream_recording_take(s, &r);
        return stream_recording_push(s, pts, now);
    }
    void audio(usec_t at)
    {
        const uint8_t opus[] = {0xfc, 0xff, 0xfe};
        const received_audio a = {audio_samples(at), 0, now, opus, sizeof(opus)};
        stream_recording_audio(s, &a);
    }
    std::string path(const char *name) const
    {
        return folder.path + "/" + name;
    }
};

} // namespace

TEST_CASE("stream_recording: frames that arrive late take their place, with their audio",
          "[threads]")
{
    rig r;
    stream_recording_open(r.s, &r.described_as, true, 0);
    std::vector<frame_ptr> frames;
    for (int64_t n = 100; n < 110; n++)
        frames.push_back(r.encode(n));
    for (size_t i : {0, 1, 3, 4, 2, 5, 6, 7, 8, 9}) { // 2 is repaired
        r.now += 40000;
        CHECK_FALSE(r.give(frames[i].get()));
        r.audio(frames[i]->number * 40000);
    }
    CHECK(stream_recording_finish(r.s, r.now) == 0);
    reread_file f(r.path("a.mkv"));
    CHECK(f.decoded == 10);
    REQUIRE(f.video.size() == 10);
    REQUIRE(f.audio.size() == 10);
    for (int i = 0; i < 10; i++) {
        CHECK(f.video[(size_t)i].msec == 40 * i);
        CHECK(f.audio[(size_t)i].msec == 40 * i);
    }
}

TEST_CASE("stream_recording: a frame that never comes costs what depends on it", "[threads]")
{
    rig r;
    stream_recording_open(r.s, &r.described_as, false, 0);
    bool asked = false;
    for (int64_t n = 0; n < 60; n++) {
        frame_ptr f = r.encode(n);
        r.now += 40000;
        if (n != 5 && r.give(f.get())) {
            asked = true;
            encoder_request_key(r.encoder.get(), -1);
        }
    }
    CHECK(asked);
    CHECK(stream_recording_finish(r.s, r.now) == 0);
    reread_file f(r.path("a.mkv"));
    CHECK(f.decoded == f.video.size());
    CHECK(f.video.size() > 25);
    CHECK(f.video.size() < 50);
    CHECK(f.video.back().msec == 59 * 40); // the gap stays a gap
}

TEST_CASE("stream_recording: where the size changes, no picture is missing or comes twice",
          "[threads]")
{
    rig r;
    encoder_ptr other = make_encoder(r.l);
    auto encode = [&r, &other](int size_id, int64_t number) {
        if (size_id == 0)
            return r.encode(number);
        picture_ptr p = draw(r.l, 0, number);
        coded_frame *f = nullptr;
        REQUIRE(encoder_encode(other.get(), p.get(), &f) == 0);
        return frame_ptr(f, coded_frame_unref);
    };
    const struct {
        int size_id;
        int64_t from, until; // the other size begins with the last picture, or before it
    } parts[] = {{0, 0, 10}, {1, 9, 20}, {0, 20, 32}, {1, 30, 40}};
    stream_recording_open(r.s, &r.described_as, false, 0);
    for (auto &part : parts) {
        encoder_request_key((part.size_id ? other : r.encoder).get(), -1);
        for (int64_t n = part.from; n < part.until; n++) {
            r.now += 40000;
            CHECK_FALSE(r.give(encode(part.size_id, n).get(), 0, 0, part.size_id));
        }
    }
    CHECK(stream_recording_finish(r.s, r.now) == 0);
    reread_file f(r.path("a.mkv"));
    CHECK(f.decoded == 40);
    REQUIRE(f.video.size() == 40);
    for (int i = 0; i < 40; i++)
        CHECK(f.video[(size_t)i].msec == 40 * i);
}

TEST_CASE("stream_recording: a key frame of another size that comes too late", "[threads]")
{
    rig r;
    encoder_ptr other = make_encoder(r.l);
    stream_recording_open(r.s, &r.described_as, false, 0);
    for (int64_t n = 0; n < 20; n++) {
        r.now += 40000;
        r.give(r.encode(n).get());
    }
    r.now += 400000;
    r.give(r.encode(20).get()); // the frames before it are recorded
    for (int64_t n = 19; n < 30; n++) {
        picture_ptr p = draw(r.l, 0, n);
        coded_frame *f = nullptr;
        REQUIRE(encoder_encode(other.get(), p.get(), &f) == 0);
        r.now += 40000;
        r.give(frame_ptr(f, coded_frame_unref).get(), 0, 0, 1);
    }
    CHECK(stream_recording_finish(r.s, r.now) == 0);
    reread_file f(r.path("a.mkv"));
    CHECK(f.decoded == 31);
    REQUIRE(f.video.size() == 31); // picture 19 at both sizes
    for (int i = 0; i < 31; i++)
        CHECK(f.video[(size_t)i].msec == (i < 20 ? 40 * i : i == 20 ? 761 : 40 * (i - 1)));
}

TEST_CASE("stream_recording: each stream has its own file", "[threads]")
{
    rig r;
    sdp again = r.described_as;
    stream_recording_open(r.s, &r.described_as, false, 0);
    r.give(r.encode(0).get());
    stream_recording_open(r.s, &again, false, r.now);
    stream_recording_close(r.s, &r.described_as, r.now); // the old one is freed later
    encoder_request_key(r.encoder.get(), -1);
    r.give(r.encode(1).get());
    stream_recording_close(r.s, &again, r.now);
    CHECK(stream_recording_finish(r.s, r.now) == 0);
    CHECK(reread_file(r.path("a.mkv")).video.size() == 1);
    CHECK(reread_file(r.path("a+2.mkv")).video.size() == 1);
}

TEST_CASE("stream_recording: VP9 is not recorded, and that is an error")
{
    rig r;
    r.described_as.codec = SDP_VP9;
    stream_recording_open(r.s, &r.described_as, false, 0);
    r.give(r.encode(0).get());
    CHECK(stream_recording_finish(r.s, r.now) != 0);
    CHECK(fs::is_empty(r.folder.path));
    CHECK(stream_recording_finish(nullptr, 0) == 0);
}

TEST_CASE(
    "stream_recording: a third party's frames come in decoding order, with times of their own",
    "[threads]")
{
    bool is_passed_on = GENERATE(false, true); // by weir-send, with levels
    rig r;
    if (is_passed_on)
        r.described_as.source = SDP_SOURCE_RELAYED;
    else
        r.described_as.ext.adu = 0;
    stream_recording_open(r.s, &r.described_as, false, 0);
    const struct {
        int64_t seq;
        usec_t pts; // as of B frames: one is shown before the frame that was sent before it
    } sent[] = {{70, 1000000}, {75, 1120000}, {77, 1040000}, {79, 1080000}, {84, 1240000}};
    int64_t number = 0;
    for (auto &f : sent) {
        r.now += 40000;
        r.give(r.encode(number++).get(), f.seq, f.pts);
    }
    CHECK(stream_recording_finish(r.s, r.now) == 0);
    reread_file f(r.path("a.mkv"));
    REQUIRE(f.video.size() == 5);
    const int64_t shown[] = {0, 120, 40, 80, 240};
    for (size_t i = 0; i < 5; i++)
        CHECK(f.video[i].msec == shown[i]);
}
