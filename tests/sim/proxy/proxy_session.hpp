// SPDX-License-Identifier: GPL-2.0-or-later
// A live session over a two-part path: origin - backbone - proxy - access - viewer. Origin and
// backbone are the storm's; the proxy is weir-proxy's own bridge and stream_sender. The viewer
// counts whole frames; it does not play.
#ifndef WEIR_TESTS_PROXY_SESSION_HPP
#define WEIR_TESTS_PROXY_SESSION_HPP

#include <map>

#include "lab/sim/sim_relay.h"
#include "tests/sim/storm/storm_session.hpp"

struct proxy_setting {
    std::string backbone = "tfrc", access = "minbuf:1,3"; // transports
    usec_t backbone_rtt = 200 * USEC_PER_MSEC, access_rtt = 10 * USEC_PER_MSEC;
    double backbone_mbps = 10, backbone_loss = 0;
    std::string backbone_queue =
        "droptail:200ms"; // of the backbone; more keys of the link may follow
    live_setting media{live_setting::SACK, {}};
    std::string link; // of the access, in weir-link's syntax
    reflect_mode reflect = REFLECT_LIMIT;
    scheduler_mode queue = SCHEDULER_PRIORITY;
    usec_t target = 250 * USEC_PER_MSEC;
    int64_t window = 0;            // of the viewer's TCP, packets; 0: live_link's
    usec_t latency = USEC_PER_SEC; // of the viewer's buffer
    bool keeps_badput = false;
    int level = -1;       // of the viewer; -1: the highest
    bool is_live = true;  // false: layered media is sent as a film's is, and follows no network
    double length = 65; // seconds
    uint64_t seed = 1;
};

class proxy_session : public storm_session
{
    static constexpr usec_t TICK = 20 * MS;

  public:
    struct arrival {
        usec_t captured, arrived;
        int temporal_id;
        bool decodable;
        int size_id;
        usec_t relayed; // whole at the proxy
    };
    struct moment { // each TICK
        usec_t at, queue;
    };
    std::vector<arrival> arrivals;
    std::vector<moment> moments;
    std::vector<double> access; // bytes in each tenth of a second
    std::vector<double> told; // limits, in order; 0: none

    explicit proxy_session(const proxy_setting &setting)
        : storm_session(setting.backbone, network(setting)), set(setting)
    {
        open_viewer();
        open_relay();
        if (set.level >= 0)
            REQUIRE(stream_sender_set_level(s, set.level, 0) == 0);
    }
    ~proxy_session() override
    {
        world_destroy(&w); // it knows the relay's nodes
        sim_relay_free(relay);
        frame_receiver_free(sink);
        qoe_free(seen);
    }
    proxy_session(const proxy_session &) = delete;
    proxy_session &operator=(const proxy_session &) = delete;

    double backbone_mbps(double from, double to) const
    {
        return got_mbps(from, to);
    }
    double access_mbps(double from, double to) const
    {
        return sum(access, from, to) * 8e-6 / (to - from);
    }
    // Part of the time between two instants in which the queue was at most so long.
    double below(usec_t queue, double from, double to) const
    {
        int all = 0, below = 0;
        for (const moment &m : moments)
            if (m.at >= from * 1e6 && m.at < to * 1e6) {
                all++;
                below += m.queue <= queue;
            }
        return static_cast<double>(below) / all;
    }
    // A quantile of the time from capture to arrival, ms, of the decodable frames of layers up to
    // `temporal_id` that were captured between two instants; and how many there are a second.
    double delay_ms(double quantile, int temporal_id, double from, double to) const
    {
        return delay_ms(quantile, temporal_id, from, to, &arrival::captured);
    }
    // The same from when the frame was whole at the proxy.
    double access_delay_ms(double quantile, int temporal_id, double from, double to) const
    {
        return delay_ms(quantile, temporal_id, from, to, &arrival::relayed);
    }
    double delay_ms(double quantile, int temporal_id, double from, double to,
                    usec_t arrival::*since) const
    {
        std::vector<usec_t> all;
        for (const arrival &a : arrivals)
            if (a.decodable && a.temporal_id <= temporal_id && a.captured >= from * 1e6 &&
                a.captured < to * 1e6)
                all.push_back(a.arrived - a.*since);
        if (all.empty())
            return INFINITY;
        std::sort(all.begin(), all.end());
        return usec_to_msec(
            all[static_cast<size_t>(quantile * static_cast<double>(all.size() - 1))]);
    }
    double frames_a_second(double from, double to) const
    {
        double count = 0;
        for (const arrival &a : arrivals)
            count += a.decodable && a.captured >= from * 1e6 && a.captured < to * 1e6;
        return count / (to - from);
    }
    // Standard deviation over mean of the backbone's rate in windows of a second.
    double variation(double from, double to) const
    {
        double sum = 0, squares = 0;
        int count = 0;
        for (double t = from; t + 1 <= to; t += 1, count++) {
            double rate = got_mbps(t, t + 1);
            sum += rate;
            squares += rate * rate;
        }
        double mean = sum / count;
        return std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean;
    }
    // The viewer's requests, to proxy and origin.
    void choose(int level)
    {
        sim_relay_set_level(relay, level, w.now);
        REQUIRE(stream_sender_set_level(s, level, w.now) == 0);
    }
    void pause_all()
    {
        sim_relay_pause(relay, w.now);
        pause();
    }
    void play_all()
    {
        play();
        sim_relay_play(relay, w.now);
    }
    sim_relay_stats relayed() const
    {
        sim_relay_stats stats;
        sim_relay_read(relay, &stats, w.now);
        return stats;
    }
    // Frames that the proxy's queue dropped.
    uint64_t dropped() const
    {
        uint64_t count = 0;
        for (const auto &cause : relayed().frames.dropped)
            for (uint64_t layer : cause)
                count += layer;
        return count;
    }

  private:
    struct request {
        usec_t at; // reaches the origin
        double bps;
    };
    proxy_setting set;
    link_spec link{};
    sim_relay *relay = nullptr;
    frame_receiver *sink = nullptr;
    qoe *seen = nullptr;
    std::vector<bool> whole;                              // by frame number
    std::vector<int> layers;                              // that are decodable, by frame number
    std::map<std::pair<int64_t, int>, usec_t> relayed_at; // by frame number and size
    std::deque<request> limits;
    uint64_t counted = 0; // bytes at the viewer
    usec_t tick_at = 0;

    static storm_case network(const proxy_setting &s)
    {
        storm_case c(s.seed);
        c.mbps = s.backbone_mbps;
        c.rtt = s.backbone_rtt;
        c.kind = s.backbone_queue;
        c.setting = s.media;
        c.queue = 0.2;
        c.loss = s.backbone_loss;
        c.bursts = false;
        c.back = false;
        c.what = storm_case::CALM;
        c.downloads = 0;
        c.low_latency = false;
        c.length = s.length;
        return c;
    }
    static proxy_session *me(void *ctx)
    {
        return static_cast<proxy_session *>(ctx);
    }
    void open_viewer()
    {
        seen = qoe_new("sim:", 0, 0);
        REQUIRE(seen);
        frame_receiver_config in{};
        in.ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
        in.payload_type = RTP_PT_H264;
        in.codec = SDP_H264;
        in.frames = true;
        in.clock = &clock;
        in.sink = {seen, nullptr, nullptr};
        in.on_packet = [](void *, const rtp_packet *, int64_t, usec_t, usec_t) {};
        in.on_frame = [](void *ctx, received_frame *f, usec_t now) { me(ctx)->view(f, now); };
        in.ctx = this;
        sink = frame_receiver_new(&in);
        REQUIRE(sink);
    }
    void open_relay()
    {
        char why[256] = "";
        REQUIRE(link_spec_parse(set.link.c_str(), &link, why, sizeof(why)) == 0);
        REQUIRE(sim_transport_check(set.access.c_str()) == 0);
        sim_relay_config config{};
        config.world = &w;
        config.env = &the_network.env;
        config.ladder = &l;
        config.access = &link;
        config.via = set.access.c_str();
        config.rtt = set.access_rtt;
        config.codec = SDP_H264;
        config.level = set.level < 0 ? l.level_count - 1 : set.level;
        config.is_live = set.is_live;
        config.packet_bytes = 1200;
        config.reflect = set.reflect;
        config.target = set.target;
        config.queue = set.queue;
        config.latency = set.latency;
        config.keeps_badput = set.keeps_badput;
        config.backbone_rtt = set.backbone_rtt;
        config.tcp = tcp();
        config.tcp.as_linux = true;
        if (set.window)
            config.tcp.max_window = set.window;
        config.delayed_ack = 40 * MS;
        config.seed = set.seed + 77;
        config.on_rtp = [](void *ctx, const uint8_t *data, size_t len, usec_t now) {
            (void)frame_receiver_packet(me(ctx)->sink, data, len, 0, 0, now, now);
        };
        config.limit = [](void *ctx, double bps, usec_t now) { me(ctx)->ask_limit(bps, now); };
        config.mark = [](void *ctx, int packets, usec_t) {
            me(ctx)->carrier->ops->mark(me(ctx)->carrier, packets);
        };
        config.request_key = [](void *ctx, usec_t now) {
            if (rtcp_exchange_need_key(&me(ctx)->exchange))
                me(ctx)->send_feedback(now);
        };
        config.released = [](void *ctx, struct packet *p, usec_t now) { me(ctx)->read_packet(p, now); };
        config.captured = [](void *ctx, const received_frame *f) {
            return me(ctx)->frames[static_cast<size_t>(f->number)].at;
        };
        config.ctx = this;
        relay = sim_relay_new(&config, 0);
        REQUIRE(relay);
    }

    bool blocks() const override
    {
        return relay && sim_relay_blocks(relay);
    }
    bool hold(struct packet *p) override
    {
        return relay && sim_relay_hold(relay, p);
    }

    // ---- The origin's end of the requests

    void ask_limit(double bps, usec_t now)
    {
        usec_t at = now + way_back;
        told.push_back(bps);
        limits.push_back({at, bps});
        node_wake_at(&self.flow.source, std::min(node_next_run_at(&self.flow.source), at));
    }
    usec_t feedback_next() const override
    {
        usec_t next = storm_session::feedback_next();
        return limits.empty() ? next : std::min(next, limits.front().at);
    }
    void hear(usec_t now) override
    {
        storm_session::hear(now);
        for (; !limits.empty() && limits.front().at <= now; limits.pop_front())
            stream_sender_set_max_rate(s, limits.front().bps, now);
    }

    // ---- The proxy, and the viewer behind it

    void push(received_frame *f, usec_t now) override
    {
        relayed_at[{f->number, f->size_id}] = now;
        sim_relay_frame(relay, f, now);
    }
    usec_t viewer_next() const override
    {
        return std::min(storm_session::viewer_next(), tick_at);
    }
    void viewer_run(usec_t now) override
    {
        storm_session::viewer_run(now);
        if (now < tick_at)
            return;
        sim_relay_stats stats = relayed();
        moments.push_back({now, stats.waiting});
        count(access, static_cast<double>(stats.arrived_bytes - counted));
        counted = stats.arrived_bytes;
        tick_at = now + TICK;
    }
    void view(received_frame *f, usec_t now)
    {
        auto i = static_cast<size_t>(f->number);
        whole.resize(std::max(whole.size(), i + 1), false);
        layers.resize(whole.size(), 0);
        bool decodable = f->on_lower ? layers[i] == f->size_id
                                     : f->key || (f->depends_on >= 0 &&
                                                  whole[static_cast<size_t>(f->depends_on)]);
        whole[i] = whole[i] || decodable;
        layers[i] += decodable;
        arrivals.push_back({frames[i].at, now, f->temporal_id, decodable, f->size_id,
                            relayed_at[{f->number, f->size_id}]});
        received_frame_free(f);
    }
};

#endif
