// SPDX-License-Identifier: GPL-2.0-or-later
// Cells of Fiksdal's thesis (2003, figures 28, 44 and 47) in virtual time: the media, paths and
// proxies of `lab proxy`, which runs them as programs (docs/lab-proxy.md has both). Delays are from
// capture, as the viewer's.
#include <cstdio>
#include <cstdlib>

#include "tests/sim/proxy/proxy_session.hpp"
#include "tests/support/sanitized.hpp"

namespace
{

constexpr double SECONDS = 60, SETTLED = 12;

struct path {
    const char *name;
    int backbone_ms, access_ms, access_kbit;
    double loss;  // %, at the access
    bool endless; // the access's queue has no limit
};
// The thesis's proxy, the same with its blocking, Weir's, and Weir's without reflection.
enum contender { KOMSSYS, BLOCKING, WEIR, NO_REFLECTION };

class layered_session : public proxy_session
{
    const synthetic *media;

  public:
    layered_session(const proxy_setting &setting)
        : proxy_session(setting), media(setting.media.media)
    {
    }

    void give(int size_id, int64_t number, usec_t now) override
    {
        coded_frame *f = synthetic_frame(media, size_id, number);
        REQUIRE(f);
        f->captured = f->capture_wall = now;
        stream_sender_frame(s, f, now);
        coded_frame_unref(f);
    }
    // From capture to arrival, in ms and in order, of a layer, or of all (-1).
    std::vector<double> delays(int layer) const
    {
        std::vector<double> all;
        for (const arrival &a : arrivals)
            if (layer < 0 || a.size_id == layer)
                all.push_back(usec_to_msec(a.arrived - a.captured));
        REQUIRE_FALSE(all.empty());
        std::sort(all.begin(), all.end());
        return all;
    }
    double badput() const
    {
        auto valid = std::count_if(arrivals.begin(), arrivals.end(),
                                   [](const arrival &a) { return a.decodable; });
        return 1 - static_cast<double>(valid) / static_cast<double>(arrivals.size());
    }
};

struct reading {
    double mean, p95, base_p95; // ms
    double backbone, access;    // kbit/s
    double variation, badput, layers;
    double below; // part of the time with a queue of 350 ms at most
};

reading run(const path &p, contender who, uint64_t seed)
{
    static synthetic media;
    REQUIRE(synthetic_parse("layers:8,1024,11", &media) == 0);
    proxy_setting s;
    s.media.media = &media;
    s.media.latency = USEC_PER_SEC;
    s.is_live = false;
    s.backbone_mbps = 100;
    s.backbone_rtt = p.backbone_ms * USEC_PER_MSEC;
    s.backbone_queue = "droptail:" + std::to_string(p.backbone_ms * 12500) +
                       "B,delay=" + std::to_string(p.backbone_ms) + "ms";
    // sim_relay.h wants twice the delay as the round trip.
    s.access_rtt = 2 * p.access_ms * USEC_PER_MSEC;
    s.link = "rate=" + std::to_string(p.access_kbit) +
             "kbit,queue=droptail:" + (p.endless ? "1000000p" : "15000B") +
             ",loss=" + std::to_string(p.loss) + "%,delay=" + std::to_string(p.access_ms) + "ms";
    s.window = p.endless ? 44 : 0; // 64 KB
    s.length = SECONDS;
    s.seed = seed;
    if (who == KOMSSYS || who == BLOCKING) {
        s.backbone = "tfrc:komssys";
        s.access = "tcp:sndbuf=65KB";
        s.queue = SCHEDULER_FIFO;
    }
    s.reflect = who == WEIR ? REFLECT_LIMIT : who == BLOCKING ? REFLECT_BLOCKING : REFLECT_OFF;
    layered_session n(s);
    n.run_to(SECONDS);
    std::vector<double> all = n.delays(-1), base = n.delays(0);
    auto at95 = [](const std::vector<double> &v) {
        return v[static_cast<size_t>(.95 * static_cast<double>(v.size() - 1))];
    };
    double sum = 0;
    for (double d : all)
        sum += d;
    return {sum / static_cast<double>(all.size()),
            at95(all),
            at95(base),
            n.backbone_mbps(SETTLED, SECONDS) * 1e3,
            n.access_mbps(SETTLED, SECONDS) * 1e3,
            n.variation(SETTLED, SECONDS),
            n.badput(),
            static_cast<double>(all.size()) / static_cast<double>(base.size()),
            n.below(350 * USEC_PER_MSEC, SETTLED, SECONDS)};
}

// The mean over three seeds.
reading mean_of(const path &p, contender who)
{
    reading m{};
    for (uint64_t seed = 1; seed <= seeds_of(3); seed++) {
        reading r = run(p, who, seed);
        double *to = &m.mean;
        const double *from = &r.mean;
        for (size_t i = 0; i < sizeof(reading) / sizeof(double); i++)
            to[i] += from[i] / seeds_of(3);
    }
    static const char *const names[] = {"komssys", "komssys-blocking", "weir", "weir reflect=off"};
    if (std::getenv("WEIR_PROXY_PRINT"))
        std::printf("%-16s %-16s mean %.0f 95%% %.0f base %.0f ms, backbone %.0f access %.0f "
                    "kbit/s, variation %.3f, badput %.4f, "
                    "layers %.2f, queue<=350ms %.3f\n",
                    p.name, names[who], m.mean, m.p95, m.base_p95, m.backbone, m.access,
                    m.variation, m.badput, m.layers, m.below);
    return m;
}

const path NO_LOSS = {"fig28-none-0%", 200, 10, 1000, 0, false};
const path LOSS_2 = {"fig28-none-2%", 400, 13, 1000, 2, false};
const path LOSS_5 = {"fig28-none-5%", 200, 10, 1000, 5, false};
const path NARROW[] = {
    {"fig44-none-512kbit", 100, 8, 512, 0, false}, {"fig47-512kbit-0%", 200, 10, 512, 0, true},
    {"fig47-512kbit-2%", 200, 10, 512, 2, true},   {"fig47-512kbit-5%", 200, 10, 512, 5, true},
    {"fig47-128kbit-0%", 200, 10, 128, 0, true},   {"fig47-128kbit-2%", 200, 10, 128, 2, true},
    {"fig47-128kbit-5%", 200, 10, 128, 5, true},
};

} // namespace

TEST_CASE("proxy cells: the thesis's proxy is as late as in figure 51, up to 2 % loss")
{
    struct {
        const path &p;
        double mean, p95;
    } const published[] = {{NO_LOSS, 233.8, 244.0}, {LOSS_2, 452.2, 565.0}};
    for (const auto &row : published) {
        CAPTURE(row.p.name);
        reading r = mean_of(row.p, KOMSSYS);
        CHECK_MEAN(std::abs(r.mean / row.mean - 1) < 0.2);
        CHECK_MEAN(std::abs(r.p95 / row.p95 - 1) < 0.2);
        CHECK_MEAN(r.layers > 7);
    }
}

TEST_CASE("proxy cells: without losses the proxies differ in nothing")
{
    reading old = mean_of(NO_LOSS, KOMSSYS), own = mean_of(NO_LOSS, WEIR);
    CHECK_MEAN(own.p95 < 1.05 * old.p95);
    CHECK_MEAN(own.layers > 0.95 * old.layers);
}

TEST_CASE("proxy cells: at 5 % loss, layers are less late than behind a fifo, and none is badput")
{
    reading fifo = mean_of(LOSS_5, KOMSSYS);
    for (contender who : {WEIR, NO_REFLECTION}) {
        CAPTURE(who);
        reading own = mean_of(LOSS_5, who);
        CHECK_MEAN(own.p95 < 0.65 * fifo.p95);
        CHECK_MEAN(own.base_p95 < 0.65 * fifo.base_p95);
        CHECK_MEAN(own.badput < 0.005);
    }
}

TEST_CASE("proxy cells: reflection brings the backbone down to the access, without a zig-zag")
{
    for (const path &p : NARROW) {
        CAPTURE(p.name);
        reading own = mean_of(p, WEIR), off = mean_of(p, NO_REFLECTION);
        CHECK_MEAN(std::abs(own.backbone / own.access - 1) < 0.1);
        CHECK_MEAN(own.variation < 0.4);
        CHECK_MEAN(own.below > 0.9);
        CHECK_MEAN(own.badput < 0.005);
        CHECK_MEAN(off.backbone > 700);
        CHECK_MEAN(off.below < 0.15);
    }
}

// The thesis's way: at 128 kbit/s the backbone's rate swings between nothing and too much, as the
// programs do (a variation of 0.52 to 0.60; docs/lab-proxy.md).
TEST_CASE("proxy cells: blocking brings the backbone down to the access, too, in a zig-zag")
{
    for (const path &p : NARROW) {
        CAPTURE(p.name);
        reading r = mean_of(p, BLOCKING), own = mean_of(p, WEIR);
        CHECK_MEAN(r.backbone < 1.15 * p.access_kbit);
        CHECK_MEAN(std::abs(r.backbone / r.access - 1) < 0.15);
        CHECK_MEAN(r.variation > 0.35);
        CHECK_MEAN(r.variation > 1.7 * own.variation);
        CHECK_MEAN(r.p95 > 2 * own.p95);
    }
}
