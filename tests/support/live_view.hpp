// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a live session over a simulated link (live_link.hpp) and its viewer: weir-play's
// receiver of frames and video pipeline in virtual time. Encoding takes no time, decoding
// live_view::DECODER. The wall clocks of both ends are one. A key frame that the pipeline requests is
// coded at once, without the request's way to the sender.
#ifndef WEIR_TESTS_LIVE_VIEW_HPP
#define WEIR_TESTS_LIVE_VIEW_HPP

#include "stream/receive/frame_receiver.h"
#include "stream/video/video_pipeline.h"
#include "tests/support/live_link.hpp"

class live_view
{
  public:
    static constexpr usec_t DECODER = 4 * USEC_PER_MSEC;

    live_link link;

    // `target`: of LATENCY_FIXED. The other arguments are live_link's.
    live_view(latency_mode mode, usec_t target, const std::string &via, const char *spec,
              usec_t rtt, uint64_t seed = 1)
        : link(via, spec, rtt, 0, 0, seed)
    {
        clock_sync_shared(&clock);
        qoe_setup setup = {"", "", "test", "", &link.levels(), true};
        q = qoe_new("sim:", 0, 0);
        REQUIRE(q);
        qoe_on_setup(q, &setup, 0);
        frame_receiver_config r{};
        r.ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
        r.payload_type = RTP_PT_H264;
        r.frames = true;
        r.clock = &clock;
        r.sink = {q, nullptr, nullptr};
        r.on_packet = on_packet;
        r.on_frame = on_frame;
        r.ctx = this;
        receiver = frame_receiver_new(&r);
        REQUIRE(receiver);
        video_pipeline_config c{};
        c.ladder = &link.levels();
        c.clock = &clock;
        c.sink = {q, nullptr, nullptr};
        c.level = link.levels().level_count - 1;
        c.decode_lead = PLAYOUT_DECODE_LEAD;
        c.live = c.steers = c.asks_keys = true;
        c.latency = mode;
        c.target = target;
        v = video_pipeline_new(&c);
        REQUIRE(v);
        link.on_rtp = [this](const uint8_t *bytes, size_t len, usec_t now) {
            run(now);
            frame_receiver_packet(receiver, bytes, len, 0, 0, now, now);
        };
    }
    ~live_view()
    {
        video_pipeline_free(v);
        frame_receiver_free(receiver);
        qoe_free(q);
    }
    live_view(const live_view &) = delete;
    live_view &operator=(const live_view &) = delete;

    void run_to(double second)
    {
        link.run_to(second);
        run(static_cast<usec_t>(second * 1e6));
    }
    // A quantile, in ms, of the time from capture to shown of the pictures shown between two
    // instants.
    double latency_ms(double quantile, double from, double to) const
    {
        std::vector<double> all;
        for (const picture &p : pictures)
            if (p.shown >= from * 1e6 && p.shown < to * 1e6)
                all.push_back(usec_to_msec(p.shown - p.captured));
        REQUIRE_FALSE(all.empty());
        std::sort(all.begin(), all.end());
        return all[static_cast<size_t>(quantile * static_cast<double>(all.size() - 1))];
    }
    // The longest time between two pictures in ms.
    double gap_ms(double from, double to) const
    {
        usec_t gap = 0;
        for (size_t i = 1; i < pictures.size(); i++)
            if (pictures[i].shown >= from * 1e6 && pictures[i].shown < to * 1e6)
                gap = std::max(gap, pictures[i].shown - pictures[i - 1].shown);
        return usec_to_msec(gap);
    }
    double shown(double from, double to) const // pictures a second
    {
        return static_cast<double>(std::count_if(pictures.begin(), pictures.end(),
                                                 [&](const picture &p) {
                                                     return p.shown >= from * 1e6 &&
                                                            p.shown < to * 1e6;
                                                 })) /
               (to - from);
    }
    qoe_json report(double second) // what weir-play's report says
    {
        qoe_json out;
        qoe_read(q, &out, static_cast<usec_t>(second * 1e6));
        return out;
    }
    video_pipeline *pipeline()
    {
        return v;
    }

  private:
    struct picture {
        usec_t captured, shown;
    };
    clock_sync clock{};
    qoe *q = nullptr;
    frame_receiver *receiver = nullptr;
    video_pipeline *v = nullptr;
    std::vector<picture> pictures;
    usec_t decoded_at = 0, last = 0;

    static live_view *of(void *ctx)
    {
        return static_cast<live_view *>(ctx);
    }
    static void on_packet(void *ctx, const rtp_packet *p, int64_t ext_seq, usec_t arrived, usec_t)
    {
        video_pipeline_packet(of(ctx)->v, p, ext_seq, arrived);
    }
    static void on_frame(void *ctx, received_frame *f, usec_t now)
    {
        // live_link's packets do not carry it. 0 is unknown, so frame 0 is a little younger.
        f->capture_wall = std::max<usec_t>(1, f->number * static_cast<usec_t>(1e6 / live_link::FPS));
        (void)video_pipeline_push(of(ctx)->v, f, 0, now);
        of(ctx)->drain(now);
    }
    void drain(usec_t now)
    {
        video_output out;
        while (video_pipeline_poll(v, &out, now)) {
            if (out.kind == VIDEO_ASK_KEY) {
                link.request_key();
                continue;
            }
            received_frame *f = out.frame;
            decoded_at = std::max(decoded_at, now) + DECODER;
            usec_t at = std::max(decoded_at, out.show_at);
            video_shown s = {f->number, out.level, f->bytes,   f->capture_wall, f->last_arrived,
                             now,       DECODER,   decoded_at, out.show_at,     at};
            if (out.show) {
                if (f->capture_wall)
                    pictures.push_back({f->capture_wall, at});
                video_pipeline_shown(v, &s, 0, now);
            }
            received_frame_free(f);
        }
    }
    void run(usec_t now)
    {
        for (usec_t at; (at = video_pipeline_next_timeout(v)) <= now;) {
            last = std::max(last, at);
            drain(last);
        }
        last = now;
        drain(now);
    }
};

#endif
