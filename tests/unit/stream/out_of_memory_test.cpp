// SPDX-License-Identifier: GPL-2.0-or-later
// The objects of a viewing and of a sender when there is no memory: each is made wholly or not at
// all.
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <vector>

#include "common/base/err.h"
#include "stream/abr/abr_policy.h"
#include "stream/audio/audio_jitter_buffer.h"
#include "stream/outcome/frame_outcomes.h"
#include "stream/playout/frame_times.h"
#include "stream/playout/held_frames.h"
#include "stream/playout/playout.h"
#include "stream/qoe/qoe.h"
#include "stream/receive/frame_assembler.h"
#include "stream/receive/frame_receiver.h"
#include "stream/receive/repair_receiver.h"
#include "stream/send/queue_drops.h"
#include "stream/send/stream_sender.h"
#include "stream/video/video_pipeline.h"
#include "tests/support/failing_alloc.hpp"
#include "tests/support/two_sizes.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};

const audio_decoding decoding = {[](const uint8_t *, size_t) { return 0; },
                                 [](void *, const uint8_t *, size_t, int16_t *) { return 0; },
                                 [](void *, int, int16_t *) { return 0; }, [](void *) {}};

// A receiver that notes the numbers of the frames that it hands out.
struct taken {
    clock_sync clock{};
    frame_receiver_config config{};
    std::vector<int64_t> frames;

    explicit taken(bool third_party = false)
    {
        clock_sync_shared(&clock);
        config.ext = ids;
        config.payload_type = RTP_PT_H264;
        config.frames = true;
        config.third_party = third_party;
        config.fps = {25, 1};
        config.clock = &clock;
        config.sink = {nullptr, [](void *, const viewing_event *) {}, this};
        config.on_packet = [](void *, const rtp_packet *, int64_t, usec_t, usec_t) {};
        config.on_frame = [](void *ctx, received_frame *f, usec_t) {
            static_cast<taken *>(ctx)->frames.push_back(f->number);
            received_frame_free(f);
        };
        config.ctx = this;
    }
};

} // namespace

TEST_CASE("out of memory: the objects of a viewing")
{
    const ladder levels = two_sizes();
    clock_sync clock{};
    CHECK(each_allocation_fails([] { return qoe_new("rtsp://h/", 0, 0); }, qoe_free) == 1);
    CHECK(each_allocation_fails([&] { return reference_tracker_new(&levels); },
                                reference_tracker_free) >= 1);
    CHECK(each_allocation_fails([&] { return frame_times_new(&levels, true); }, frame_times_free) >=
          1);
    CHECK(each_allocation_fails(held_frames_new, held_frames_free) >= 1);
    CHECK(each_allocation_fails(frame_history_new, frame_history_free) == 1);
    frame_history *history = frame_history_new();
    REQUIRE(history);
    CHECK(each_allocation_fails([history] { return frame_outcomes_new(history); },
                                frame_outcomes_free) == 1);
    frame_history_free(history);
    playout_config playing{};
    playing.ladder = &levels;
    CHECK(each_allocation_fails([&] { return playout_new(&playing); }, playout_free) >= 3);
    video_pipeline_config viewing{};
    viewing.ladder = &levels;
    viewing.clock = &clock;
    CHECK(each_allocation_fails([&] { return video_pipeline_new(&viewing); },
                                video_pipeline_free) >= 6);
    CHECK(each_allocation_fails([] { return audio_jitter_buffer_new(&decoding, nullptr); },
                                audio_jitter_buffer_free) == 2);
}

TEST_CASE("out of memory: the objects of a receiver")
{
    CHECK(each_allocation_fails(
              [] {
                  return frame_assembler_new(SDP_H264, {25, 1});
              },
              frame_assembler_free) == 1);
    for (bool third_party : {false, true}) {
        taken t(third_party);
        CHECK(each_allocation_fails([&t] { return frame_receiver_new(&t.config); },
                                    frame_receiver_free) >= (third_party ? 4 : 3));
    }
    repair_receiver_config repair = {ids, true, true, true, USEC_PER_SEC};
    CHECK(each_allocation_fails([&repair] { return repair_receiver_new(&repair); },
                                repair_receiver_free) >= 4);
}

TEST_CASE("out of memory: a sender, and the policies that choose a film's levels")
{
    const ladder levels = two_sizes();
    static const stream_sender_ops ops{};
    static const media_feed_ops none{};
    media_feed feed{};
    feed.ops = &none;
    stream_sender_config sender{};
    sender.ladder = &levels;
    sender.feed = &feed;
    sender.codec = SDP_H264;
    sender.level = 1;
    sender.start_bps = 1e6;
    sender.latency = 400 * ms;
    sender.ops = &ops;
    CHECK(each_allocation_fails([&] { return stream_sender_new(&sender, 0); },
                                stream_sender_free) == 1);
    CHECK(each_allocation_fails([] { return queue_drops_new(0); }, queue_drops_free) == 1);

    const film_shape shape = {3, 100, 60, 60, {30, 1}, true};
    auto table = [&shape] {
        film_table *t = nullptr;
        int err = film_table_new(&shape, &t);
        CHECK(err == (t ? 0 : ERR_NO_MEMORY));
        return t;
    };
    CHECK(each_allocation_fails(table, film_table_free) >= 1);
    std::unique_ptr<film_table, void (*)(film_table *)> whole(table(), film_table_free);
    std::vector<uint8_t> bytes(film_table_encoded_bytes(whole.get()));
    film_table_encode(whole.get(), bytes.data());
    auto decode = [&bytes] {
        film_table *t = nullptr;
        int err = film_table_decode(bytes.data(), bytes.size(), &t);
        CHECK(err == (t ? 0 : ERR_NO_MEMORY));
        return t;
    };
    CHECK(each_allocation_fails(decode, film_table_free) >= 1);
    abr_config config{};
    config.table = whole.get();
    config.target = 30 * USEC_PER_SEC;
    for (int l = 0; l < 3; l++)
        config.bitrates_bps[l] = (l + 1) * 100000;
    const char *name;
    for (int i = 0; (name = abr_policy_name(i)) != nullptr; i++) {
        INFO(name);
        auto make = [&] {
            abr_policy *p = nullptr;
            int err = abr_policy_new(name, &config, &p);
            CHECK(err == (p ? 0 : ERR_NO_MEMORY));
            return p;
        };
        CHECK(each_allocation_fails(make, abr_policy_free) == 1);
    }
}

TEST_CASE("out of memory: a receiver loses the frames that it has no memory for, and hands out the "
          "others in order")
{
    const bool third_party = GENERATE(false, true);
    size_t whole = 0;
    for (int n = -1; n < 40; n++) {
        taken t(third_party);
        frame_receiver *r = frame_receiver_new(&t.config);
        REQUIRE(r);
        failing_alloc_set(n);
        for (int i = 0; i < 8; i++) {
            rtp_packet p{};
            p.payload_type = RTP_PT_H264;
            p.seq = (uint16_t)i;
            p.timestamp = (uint32_t)(3600 * i);
            p.marker = true;
            p.ssrc = 7;
            p.has_adu = !third_party;
            p.adu.frame = (uint32_t)i;
            p.adu.first = p.adu.last = true;
            p.adu.key = i == 0;
            p.adu.depends = i > 0;
            uint8_t b[RTP_MAX_HEADER + 64];
            memset(b, 0, sizeof(b));
            size_t len = rtp_encode(&p, b);
            b[len] = i ? 0x41 : 0x65; // the slice of a picture
            b[len + 1] = 0x88;
            frame_receiver_packet(r, b, len + 20, 0, 0, i * 40 * ms, i * 40 * ms);
        }
        const bool failed = failing_alloc_end();
        frame_receiver_free(r);
        for (size_t i = 1; i < t.frames.size(); i++)
            CHECK(t.frames[i] > t.frames[i - 1]);
        if (n < 0)
            whole = t.frames.size();
        CAPTURE(n);
        if (failed)
            CHECK(t.frames.size() < whole);
        else
            CHECK(t.frames.size() == whole);
    }
    CHECK(whole >= 7);
}
