// SPDX-License-Identifier: GPL-2.0-or-later
// A live session over a two-part path: origin - backbone - proxy - access - viewer. Origin and
// backbone are the storm's; the proxy is weir-proxy's own bridge and stream_sender. The viewer counts
// whole frames; it does not play.
#ifndef WEIR_TESTS_PROXY_SESSION_HPP
#define WEIR_TESTS_PROXY_SESSION_HPP

#include "proxy/bridge/bridge.h"
#include "tests/sim/storm/storm_session.hpp"

struct proxy_setting {
    std::string backbone = "tfrc", access = "minbuf:1,3"; // transports
    usec_t backbone_rtt = 200 * USEC_PER_MSEC, access_rtt = 10 * USEC_PER_MSEC;
    double backbone_mbps = 10, backbone_loss = 0;
    std::string link; // of the access, in weir-link's syntax
    reflect_mode reflect = REFLECT_LIMIT;
    scheduler_mode queue = SCHEDULER_PRIORITY;
    usec_t target = 250 * USEC_PER_MSEC;
    usec_t latency = USEC_PER_SEC; // of the viewer's buffer
    bool keeps_badput = false;
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
    };
    struct moment { // each TICK
        usec_t at, queue;
        double waiting_bytes;
    };
    std::vector<arrival> arrivals;
    std::vector<moment> moments;
    std::vector<double> access; // bytes in each tenth of a second
    double limit_bps = 0;

    explicit proxy_session(const proxy_setting &setting)
        : storm_session(setting.backbone, network(setting)), set(setting)
    {
        open_access();
        open_bridge();
        node_wake_at(&leg.flow.source, 0);
    }
    ~proxy_session() override
    {
        bridge_free(b);
        stream_sender_free(out);
        frame_receiver_free(sink);
        qoe_free(seen);
        chain_destroy(&c2);
        carrier2->ops->free(carrier2);
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
        std::vector<usec_t> all;
        for (const arrival &a : arrivals)
            if (a.decodable && a.temporal_id <= temporal_id && a.captured >= from * 1e6 &&
                a.captured < to * 1e6)
                all.push_back(a.arrived - a.captured);
        if (all.empty())
            return INFINITY;
        std::sort(all.begin(), all.end());
        return usec_to_msec(all[static_cast<size_t>(quantile * static_cast<double>(all.size() - 1))]);
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
    bridge_stats bridged() const
    {
        bridge_stats stats;
        bridge_read(b, &stats);
        return stats;
    }
    // Frames that the proxy's queue dropped.
    uint64_t dropped() const
    {
        stream_sender_stats stats;
        stream_sender_read(out, &stats, w.now);
        uint64_t count = 0;
        for (const auto &cause : stats.frames.dropped)
            for (uint64_t layer : cause)
                count += layer;
        return count;
    }

  private:
    struct access_leg {
        ::flow flow;
        proxy_session *owner;
    } leg{};
    struct relay_feed {
        media_feed base;
        proxy_session *owner;
    } feed{};
    struct request {
        usec_t at; // reaches the origin
        double bps;
    };
    proxy_setting set;
    chain c2{};
    link_spec forth{}, back{};
    stream_sender *out = nullptr;
    sim_transport *carrier2 = nullptr;
    bridge *b = nullptr;
    frame_receiver *sink = nullptr;
    qoe *seen = nullptr;
    std::vector<bool> whole; // by frame number
    std::deque<request> limits;
    usec_t tick_at = 0;

    static storm_case network(const proxy_setting &s)
    {
        storm_case c(s.seed);
        c.mbps = s.backbone_mbps;
        c.rtt = s.backbone_rtt;
        c.kind = "droptail:200ms";
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
    void open_access()
    {
        static const node_ops source_ops = {leg_source_push, leg_source_run, nullptr};
        static const node_ops sink_ops = {leg_sink_push, leg_sink_run, nullptr};
        static media_feed_ops feed_ops{};
        feed_ops.set_level = [](media_feed *, int, bool) {};
        feed_ops.request_key = [](media_feed *f, int, usec_t now) {
            reinterpret_cast<relay_feed *>(f)->owner->need_key(now);
        };
        feed_ops.repair = [](media_feed *f, int, int64_t) {
            proxy_session *o = reinterpret_cast<relay_feed *>(f)->owner;
            o->need_key(o->w.now);
        };
        feed.base.ops = &feed_ops;
        feed.owner = this;
        leg.owner = this;
        leg.flow.env = &env;
        leg.flow.stop = USEC_NEVER;
        node_init(&leg.flow.source, &source_ops, nullptr);
        node_init(&leg.flow.sink, &sink_ops, nullptr);
        char why[256] = "";
        REQUIRE(link_spec_parse(set.link.c_str(), &forth, why, sizeof(why)) == 0);
        REQUIRE(link_spec_parse("", &back, why, sizeof(why)) == 0);
        chain_config config{};
        config.hops = 1;
        config.right.spec = &forth;
        config.left.spec = &back;
        config.flows = 1;
        config.seed = set.seed + 77;
        config.on_drop = dropped_packet;
        size_t line = 0;
        REQUIRE(chain_init(&c2, &w, &config, &line, 0) == 0);
        open_sender2();
        chain_path path{};
        path.to = 1;
        path.rtt = set.access_rtt;
        path.bps = 1000000000;
        REQUIRE(chain_attach(&c2, 0, &path, &leg.flow.source, &leg.flow.sink) == 0);
    }
    static void dropped_packet(void *, const struct packet *, link_drop, usec_t) {}
    void open_sender2()
    {
        stream_sender_config sender{};
        sender.ladder = &l;
        sender.feed = &feed.base;
        sender.payload_type = RTP_PT_H264;
        sender.seed = set.seed + 5;
        sender.level = l.level_count - 1;
        sender.relays = true;
        sender.start_bps = 1e6;
        sender.latency = set.latency;
        sender.queue = set.queue;
        sender.ops = sender_ops();
        sender.ctx = this;
        out = stream_sender_new(&sender, 0);
        REQUIRE(out);
        sim_transport_config config{};
        config.via = set.access.c_str();
        config.flow = &leg.flow;
        config.packet_bytes = 1200;
        config.ssrc = stream_sender_rtp(out, TRACK_VIDEO)->ssrc;
        config.first_seq = stream_sender_rtp(out, TRACK_VIDEO)->next_seq;
        config.tcp = tcp();
        config.tcp.as_linux = true;
        config.delayed_ack = 40 * MS;
        config.token = 9;
        REQUIRE(sim_transport_check(set.access.c_str()) == 0);
        carrier2 = sim_transport_new(&config, 0);
        REQUIRE(carrier2);
        carrier2->on_room = [](void *ctx, usec_t now) { stream_sender_pump(me(ctx)->out, now); };
        carrier2->deliver = [](void *ctx, const uint8_t *bytes, size_t len, usec_t now) {
            (void)frame_receiver_packet(me(ctx)->sink, bytes, len, 0, 0, now, now);
        };
        carrier2->ctx = this;
        REQUIRE(stream_sender_attach(out, &carrier2->media, 0) == 0);
        frame_receiver_config in{};
        in.ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID};
        in.payload_type = RTP_PT_H264;
        in.frames = true;
        in.clock = &clock;
        seen = qoe_new("sim:", 0, 0);
        REQUIRE(seen);
        in.sink = {seen, nullptr, nullptr};
        in.on_packet = [](void *, const rtp_packet *, int64_t, usec_t, usec_t) {};
        in.on_frame = [](void *ctx, received_frame *f, usec_t now) { me(ctx)->view(f, now); };
        in.ctx = this;
        sink = frame_receiver_new(&in);
        REQUIRE(sink);
        stream_sender_play(out, 0);
    }
    void open_bridge()
    {
        static bridge_ops ops{};
        ops.forward = [](void *ctx, coded_frame *f, usec_t now) {
            stream_sender_frame(me(ctx)->out, f, now);
        };
        ops.lost = [](void *ctx, int packets, usec_t) { stream_sender_lost(me(ctx)->out, packets); };
        ops.request_key = [](void *ctx, usec_t now) { me(ctx)->need_key(now); };
        ops.limit = [](void *ctx, double bps, usec_t now) {
            proxy_session *o = me(ctx);
            o->limit_bps = bps;
            o->limits.push_back({now + o->way_back, bps});
            node_wake_at(&o->self.flow.source,
                         std::min(node_next_run_at(&o->self.flow.source), now + o->way_back));
        };
        ops.mark = [](void *ctx, int packets, usec_t) {
            me(ctx)->carrier->ops->mark(me(ctx)->carrier, packets);
        };
        bridge_config config{};
        config.ladder = &l;
        config.is_annexb = true;
        config.reflect = set.reflect;
        config.target = set.target;
        config.keeps_badput = set.keeps_badput;
        config.ops = &ops;
        config.ctx = this;
        b = bridge_new(&config, 0);
        REQUIRE(b);
        bridge_set_rtt(b, set.backbone_rtt);
    }
    static proxy_session *me(void *ctx)
    {
        return static_cast<proxy_session *>(ctx);
    }
    void need_key(usec_t now)
    {
        if (rtcp_exchange_need_key(&exchange))
            send_feedback(now);
    }

    // ---- The proxy

    void push(received_frame *f, usec_t now) override
    {
        usec_t captured = frames[static_cast<size_t>(f->number)].at;
        bridge_frame(b, f, captured, now);
        settle2(now);
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
    void tick(usec_t now)
    {
        stream_sender_stats stats;
        transport_info info;
        stream_sender_read(out, &stats, now);
        transport_info_clear(&info);
        carrier2->media.ops->info(&carrier2->media, &info, now);
        reflect_access a{};
        a.waiting = stats.waiting;
        a.waiting_bytes = static_cast<double>(stats.waiting_bytes);
        a.unsent_bytes = std::isnan(info.unsent_bytes) ? 0 : info.unsent_bytes;
        a.delivered_bytes = info.delivered_bytes;
        a.free = 1;
        bridge_access(b, &a, now);
        moments.push_back({now, stats.waiting, a.waiting_bytes + a.unsent_bytes});
        tick_at = now + TICK;
    }
    void settle2(usec_t now)
    {
        usec_t next = std::min({tick_at, carrier2->ops->next(carrier2, now),
                                stream_sender_next_timeout(out), bridge_next_timeout(b)});
        node_wake_at(&leg.flow.source, std::max(next, now + 1));
    }
    static proxy_session *of_leg(node *n)
    {
        return reinterpret_cast<access_leg *>(n)->owner;
    }
    static proxy_session *of_leg_sink(node *n)
    {
        return reinterpret_cast<access_leg *>(flow_of_sink(n))->owner;
    }
    static void leg_source_run(node *n, usec_t now)
    {
        proxy_session *o = of_leg(n);
        if (bridge_next_timeout(o->b) <= now)
            bridge_on_timeout(o->b, now);
        if (o->tick_at <= now)
            o->tick(now);
        if (stream_sender_next_timeout(o->out) <= now)
            stream_sender_on_timeout(o->out, now);
        o->carrier2->ops->run(o->carrier2, now);
        o->settle2(now);
    }
    static void leg_source_push(node *n, struct packet *p, usec_t now)
    {
        proxy_session *o = of_leg(n);
        o->carrier2->ops->back(o->carrier2, p, now);
        o->settle2(now);
    }

    // ---- The viewer

    void view(received_frame *f, usec_t now)
    {
        auto i = static_cast<size_t>(f->number);
        whole.resize(std::max(whole.size(), i + 1), false);
        bool decodable = f->key || (f->depends_on >= 0 && whole[static_cast<size_t>(f->depends_on)]);
        whole[i] = decodable;
        arrivals.push_back({frames[i].at, now, f->temporal_id, decodable});
        received_frame_free(f);
    }
    void settle_sink(usec_t now)
    {
        usec_t next = carrier2->ops->sink_next(carrier2);
        node_wake_at(&leg.flow.sink, next == USEC_NEVER ? next : std::max(next, now + 1));
    }
    static void leg_sink_run(node *n, usec_t now)
    {
        proxy_session *o = of_leg_sink(n);
        o->carrier2->ops->sink_run(o->carrier2, now);
        o->settle_sink(now);
    }
    static void leg_sink_push(node *n, struct packet *p, usec_t now)
    {
        proxy_session *o = of_leg_sink(n);
        o->count(o->access, p->bytes);
        o->carrier2->ops->arrived(o->carrier2, p, now);
        o->settle_sink(now);
    }
};

#endif
