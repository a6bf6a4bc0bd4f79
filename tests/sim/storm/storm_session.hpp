// SPDX-License-Identifier: GPL-2.0-or-later
// A live viewing over the storm's network: the programs' own two cores, with a model in place of
// the encoder only (its choice of references and its budget of repairs are the program's). It adds
// the viewing core to live_link.hpp's sending half.
#ifndef WEIR_TESTS_STORM_SESSION_HPP
#define WEIR_TESTS_STORM_SESSION_HPP

#include <deque>

#include "common/wire/rtcp.h"
#include "media/coded/layer_refs.h"
#include "stream/receive/frame_receiver.h"
#include "stream/receive/rtcp_exchange.h"
#include "stream/send/repair_budget.h"
#include "stream/video/video_pipeline.h"
#include "tests/sim/storm/storm_case.hpp"
#include "tests/support/live_link.hpp"

struct storm_reading { // of the sender
    int level;
    usec_t waiting; // age of the oldest frame
    double allowed_bps;
    repair_stats repair;
};

class storm_session : public live_link
{
    // Of weir-play:
    static constexpr usec_t LOW_LATENCY = 400 * MS, MIN_PLAYOUT = 20 * MS;

  public:
    std::vector<usec_t> shown;   // when each picture was on the screen, in order
    std::vector<usec_t> latency; // of each of them, since its capture
    std::vector<int64_t> numbers; // of their frames
    bool at_size_rate = false;   // the model codes each size at its own frame rate, not the source's
    int requests = 0;            // for key frames, sent by the viewer
    int keys = 0;                // key frames made
    usec_t oldest_waiting = 0;   // age of the oldest frame that waited at the sender
    size_t most_waiting = 0;     // bytes that waited there
    usec_t most_share = BOUND;   // the longest that the viewer let them wait
    int64_t last_shown = -1;     // number of the newest frame on the screen
    bool backwards = false;      // a picture was shown after a later one

    storm_session(const std::string &via, const storm_case &net)
        : live_link(via, net.link().c_str(), net.rtt, net.downloads,
                    static_cast<usec_t>(net.download_from * 1e6), net.seed, true,
                    net.link_back().c_str(), net.setting),
          tells_rtt(net.tells_rtt), rtt(net.rtt), losses(rng_seeded(net.seed + 1)),
          feedback_loss(
              net.back && via.compare(0, 3, "tcp") && via.compare(0, 6, "minbuf") ? net.loss : 0)
    {
        open_session(net.seed, net.low_latency);
    }
    // With the viewer's default latency, in a network that it shares.
    storm_session(const std::string &via, live_network &network, const live_path &path,
                  uint64_t seed, const live_setting &setting)
        : live_link(via, network, path, seed, setting), second_at(network.w.now + USEC_PER_SEC),
          tells_rtt(true), rtt(path.rtt), losses(rng_seeded(seed + 1)), feedback_loss(0)
    {
        open_session(seed, false);
    }
    ~storm_session() override
    {
        video_pipeline_free(pipeline);
        frame_receiver_free(receiver);
        repair_receiver_free(repair);
        qoe_free(report);
    }
    storm_session(const storm_session &) = delete;
    storm_session &operator=(const storm_session &) = delete;

    // Returns the pictures that the levels sent have, in the first `length` seconds.
    double expected(double length) const
    {
        double count = 0;
        for (size_t i = 0; i < frames.size() && frames[i].at < (length - 0.5) * 1e6; i++)
            count += level_has_frame(&l, frames[i].level, static_cast<int64_t>(i));
        return count;
    }
    // Returns the pictures of the levels sent that were captured between two seconds: how many there
    // are, and how many of them were shown.
    std::pair<double, double> of_levels_sent(double from, double to) const
    {
        std::vector<bool> seen(frames.size());
        for (int64_t number : numbers)
            seen[static_cast<size_t>(number)] = true;
        std::pair<double, double> out{};
        for (size_t i = 0; i < frames.size(); i++) {
            if (frames[i].at < from * 1e6 || frames[i].at >= to * 1e6 ||
                !level_has_frame(&l, frames[i].level, static_cast<int64_t>(i)))
                continue;
            out.first++;
            out.second += seen[i];
        }
        return out;
    }
    storm_reading read() const
    {
        stream_sender_stats sender;
        transport_info info;
        stream_sender_read(s, &sender, w.now);
        transport_info_clear(&info);
        carrier->media.ops->info(&carrier->media, &info, w.now);
        return {sender.level, sender.waiting, info.allowed_bps, sender.repair};
    }
    repair_stats received_repair() const // none over TCP
    {
        return repair ? repair_receiver_read(repair) : repair_stats{};
    }
    double others_bytes() const
    {
        double sum = 0;
        for (const flow *f : others)
            sum += static_cast<double>(f->counts.good_bytes);
        return sum;
    }
    int level_at(double second) const
    {
        auto i = static_cast<size_t>(second * FPS);
        return i < frames.size() ? frames[i].level : 0;
    }

  protected: // a test may put something between the receiver and the viewer
    // A frame became whole.
    virtual void push(received_frame *f, usec_t now)
    {
        (void)video_pipeline_push(pipeline, f, 0, now);
        drain(now);
        if (repair)
            repair_receiver_set_keep(repair, video_pipeline_repair_time(pipeline));
    }

    struct model { // an encoder's choice of references, and its viewer's budget
        layer_refs refs;
        repair_budget budget;
        std::vector<int64_t> lost; // reported since the last frame
        bool key = false;
    };
    struct compound {
        usec_t at; // arrives at the sender
        std::vector<uint8_t> bytes;
    };

    model models[LADDER_MAX_SIZES];
    frame_receiver *receiver = nullptr;
    repair_receiver *repair = nullptr; // none over TCP
    rtcp_exchange exchange{};
    video_pipeline *pipeline = nullptr;
    clock_sync clock{};
    qoe *report = nullptr;
    std::deque<compound> under_way;
    usec_t second_at = USEC_PER_SEC;
    bool tells_rtt;
    usec_t rtt;
    rng losses;
    double feedback_loss;
    bool made = false;
    bool tells = false; // the sender what the viewer waits

    void open_session(uint64_t seed, bool low_latency)
    {
        for (int i = 0; i < l.size_count; i++) {
            layer_refs_init(&models[i].refs, l.sizes[i].layers, 8);
            repair_budget_init(&models[i].budget, w.now);
            repair_budget_viewers(&models[i].budget, 1, w.now);
            if (encoders[i].watchers)
                repair_budget_begin(&models[i].budget, 1, 0, w.now);
        }
        open_viewer(seed, low_latency);
        made = true;
    }
    void open_viewer(uint64_t seed, bool low_latency)
    {
        clock_sync_shared(&clock);
        report = qoe_new("sim:", 0, w.now);
        qoe_setup setup = {"storm", "", "storm", "", &l, true};
        qoe_on_setup(report, &setup, w.now);
        frame_receiver_config in{};
        in.ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
        in.payload_type = RTP_PT_H264;
        in.frames = true;
        in.clock = &clock;
        in.sink = {report, nullptr, this};
        in.on_packet = on_packet;
        in.on_frame = on_frame;
        in.ctx = this;
        receiver = frame_receiver_new(&in);
        rtcp_exchange_init(&exchange, seed, true, true, false);
        if (!carrier->media.reliable) {
            repair_receiver_config parts{in.ext, true, true, true, 0};
            repair = repair_receiver_new(&parts);
            REQUIRE(repair);
            repair_receiver_set_rtt(repair, rtt, w.now);
            frame_receiver_set_repair(receiver, repair);
            REQUIRE(stream_sender_set_repair(s, REPAIR_MODE_AUTO) == REPAIR_MODE_AUTO);
            stream_sender_set_playout(s, LOW_LATENCY);
        }
        video_pipeline_config v{};
        v.ladder = &l;
        v.clock = &clock;
        v.sink = {report, nullptr, this};
        v.level = -1;
        v.resume_threshold = 250 * MS;
        v.decode_lead = PLAYOUT_DECODE_LEAD;
        v.live = v.asks_keys = true;
        v.steers = true;
        v.latency = low_latency ? LATENCY_LOW : LATENCY_AUTO;
        v.sender_share = BOUND;
        pipeline = video_pipeline_new(&v);
        REQUIRE((report && receiver && pipeline));
        video_pipeline_set_rtt(pipeline, rtt);
        video_pipeline_set_stream(pipeline, carrier->media.reliable);
        if (repair)
            video_pipeline_set_repair(pipeline, repair_round_wait(rtt));
        tells = repair && !low_latency;
    }

    // ---- The encoders

    void asked(int size_id, request what, int64_t number) override
    {
        model &m = models[size_id];
        if (what == ASKED_BEGIN && made)
            repair_budget_begin(&m.budget, 1, 0, w.now);
        else if (what == ASKED_KEY)
            (void)repair_budget_pli(&m.budget, 1, w.now);
        else if (what == ASKED_REPAIR && std::count(m.lost.begin(), m.lost.end(), number) == 0) {
            if (m.lost.size() < 8)
                m.lost.push_back(number);
            else
                (void)repair_budget_wait(&m.budget, 1, w.now);
        }
    }
    // As encoder_thread.c does it between two frames.
    bool wants_key(model *m, int64_t number, usec_t now)
    {
        bool key = repair_budget_key_is_due(&m->budget, number, now);
        for (int64_t lost : m->lost) {
            layer_loss loss = layer_refs_loss(&m->refs, lost);
            if (key || loss == LAYER_LOSS_HARMLESS)
                continue;
            if (loss == LAYER_LOSS_NEEDS_KEY || !repair_budget_take(&m->budget, 1, now))
                (void)repair_budget_wait(&m->budget, 1, now);
            else
                (void)layer_refs_lost(&m->refs, lost);
        }
        m->lost.clear();
        return key || repair_budget_key_is_due(&m->budget, number, now);
    }
    void give(int size_id, int64_t number, usec_t now) override
    {
        model &m = models[size_id];
        const size_spec &size = l.sizes[size_id];
        int64_t index = size_index_of_frame(size.fps, l.source_fps, number);
        if (index < 0 && at_size_rate)
            return;
        int64_t step = at_size_rate ? std::llround(FPS / fps_value(size.fps)) : 1;
        int temporal_id = at_size_rate ? layer_temporal_id(index, size.layers) : number % 2 ? 1 : 0;
        m.key = wants_key(&m, number, now) || m.key;
        layer_choice choice = layer_refs_choose(&m.refs, temporal_id);
        if (temporal_id == 0 && m.key)
            choice = {true, -1, -1, -1};
        if (choice.key && temporal_id > 0)
            return;
        bool far = !choice.key && temporal_id == 0 && choice.depends_on < number - 2 * step;
        size_t bytes = encode(size_id, choice.key, temporal_id) * static_cast<size_t>(step) *
                       (far ? 2 : 1);
        layer_refs_kept(&m.refs, number, temporal_id, &choice);
        if (choice.key) {
            m.key = false;
            keys++;
            repair_budget_key_made(&m.budget, number, now);
        }
        coded_frame *f = coded_frame_new(bytes);
        REQUIRE(f);
        f->number = number;
        f->size_id = size_id;
        f->temporal_id = temporal_id;
        f->key = choice.key;
        f->depends_on = choice.depends_on;
        f->captured = f->capture_wall = now;
        f->nal_count = 1;
        f->nals[0] = {0, static_cast<uint32_t>(bytes)};
        memset(f->data, 0x55, bytes);
        f->data[0] = choice.key ? 0x65 : 0x41;
        stream_sender_frame(s, f, now);
        coded_frame_unref(f);
        stream_sender_stats stats;
        stream_sender_read(s, &stats, now);
        oldest_waiting = std::max(oldest_waiting, stats.waiting);
        most_waiting = std::max(most_waiting, stats.waiting_bytes);
    }

    // ---- The viewer

    static storm_session *of(void *ctx)
    {
        return static_cast<storm_session *>(ctx);
    }
    static void on_packet(void *ctx, const rtp_packet *p, int64_t ext_seq, usec_t arrived,
                          usec_t now)
    {
        of(ctx)->request_missing(now);
        video_pipeline_packet(of(ctx)->pipeline, p, ext_seq, arrived);
    }
    static void on_frame(void *ctx, received_frame *f, usec_t now)
    {
        of(ctx)->push(f, now);
    }
    void request_missing(usec_t now)
    {
        while (repair && rtcp_exchange_requests(&exchange, repair, now)) {
            send_feedback(now);
            video_pipeline_nacked(pipeline, now);
        }
    }
    void received(const uint8_t *bytes, size_t len, usec_t now) override
    {
        if (!frame_receiver_packet(receiver, bytes, len, rtt, 0, now, now))
            return;
        drain(now);
    }
    void drain(usec_t now)
    {
        video_output out;
        while (video_pipeline_poll(pipeline, &out, now)) {
            if (out.kind == VIDEO_ASK_KEY) {
                requests++;
                if (rtcp_exchange_need_key(&exchange))
                    send_feedback(now);
                continue;
            }
            received_frame *f = out.frame;
            video_shown seen = {f->number, out.level, f->bytes,    f->capture_wall, f->last_arrived,
                                now,       5 * MS,    out.show_at, out.show_at,     out.show_at};
            if (out.show) {
                video_pipeline_shown(pipeline, &seen, 0, now);
                backwards = backwards || f->number < last_shown;
                last_shown = f->number;
                shown.push_back(out.show_at);
                numbers.push_back(f->number);
                latency.push_back(out.show_at - f->capture_wall);
            }
            received_frame_free(f);
        }
    }
    void send_feedback(usec_t now)
    {
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = rtcp_feedback_compound(&exchange.feedback, frame_receiver_rtp(receiver), out,
                                            sizeof(out), now);
        if (rng_unit(&losses) < feedback_loss)
            return;
        usec_t at = now + way_back;
        under_way.push_back({at, {out, out + len}});
        node_wake_at(&self.flow.source, std::min(node_next_run_at(&self.flow.source), at));
    }
    // As weir-play learns it from the sender's answers.
    void hear_rtt(usec_t now)
    {
        transport_info info;
        transport_info_clear(&info);
        carrier->media.ops->info(&carrier->media, &info, now);
        if (!(info.rtt_ms > 0))
            return;
        auto smoothed = static_cast<usec_t>(info.rtt_ms * 1e3);
        video_pipeline_set_rtt(pipeline, smoothed);
        if (!repair)
            return;
        repair_receiver_set_rtt(repair, smoothed, now);
        video_pipeline_set_repair(pipeline, repair_round_wait(smoothed));
    }
    usec_t viewer_next() const override
    {
        usec_t next = repair ? repair_receiver_next_timeout(repair) : USEC_NEVER;
        return std::min({second_at, next, video_pipeline_next_timeout(pipeline)});
    }
    void viewer_run(usec_t now) override
    {
        if (now >= second_at) {
            send_feedback(now);
            second_at += USEC_PER_SEC;
            if (tells_rtt)
                hear_rtt(now);
            else if (repair)
                repair_receiver_set_rtt(repair, rtt, now);
            usec_t share = video_pipeline_sender_share(pipeline);
            if (share) { // as weir-play requests it
                stream_sender_set_latency(s, share);
                most_share = std::max(most_share, share);
            }
            usec_t target = tells ? video_pipeline_target(pipeline) : 0;
            if (target) // weir-play tells it several times a second
                stream_sender_set_playout(s, std::max(target, MIN_PLAYOUT));
        }
        request_missing(now);
        drain(now);
    }
    usec_t feedback_next() const override
    {
        return under_way.empty() ? USEC_NEVER : under_way.front().at;
    }
    void hear(usec_t now) override
    {
        for (; !under_way.empty() && under_way.front().at <= now; under_way.pop_front()) {
            const std::vector<uint8_t> &b = under_way.front().bytes;
            rtcp_item item;
            size_t at = 0;
            while (rtcp_next(b.data(), b.size(), &at, &item) == 1)
                if (item.kind == RTCP_IS_NACK || item.kind == RTCP_IS_PLI)
                    stream_sender_feedback(s, &item, now);
        }
    }
};

#endif
