// SPDX-License-Identifier: GPL-2.0-or-later
// A live stream through a proxy, in virtual time: what reflection and the queue's order reach.
#include <cstdio>
#include <cstdlib>

#include "tests/sim/proxy/proxy_session.hpp"

namespace
{
void tell(const char *what, const proxy_session &n, double from, double to)
{
    bridge_stats s = n.relayed().bridge;
    if (std::getenv("WEIR_PROXY_PRINT"))
        std::printf(
            "%-28s backbone %.3f access %.3f Mbit/s, queue<=350ms %.3f, base p95 %.0f ms, all p95 "
            "%.0f ms, %.1f frames/s, variation %.2f, dropped %lu, badput %lu, lost %lu, marks "
            "%lu\n",
            what, n.backbone_mbps(from, to), n.access_mbps(from, to),
            n.below(350 * USEC_PER_MSEC, from, to), n.delay_ms(.95, 0, from, to),
            n.delay_ms(.95, 3, from, to), n.frames_a_second(from, to), n.variation(from, to),
            n.dropped(), s.badput_frames, s.lost, s.marks);
}
} // namespace

TEST_CASE("proxy: trial")
{
    for (const char *rate : {"1mbit", "512kbit", "128kbit"})
        for (reflect_mode mode : {REFLECT_LIMIT, REFLECT_MARKS, REFLECT_OFF})
            for (double loss : {0.0, 0.05}) {
                proxy_setting s;
                s.link = std::string("rate=") + rate +
                         ",queue=droptail:10p,loss=" + (loss > 0 ? "5%" : "0%");
                s.reflect = mode;
                proxy_session n(s);
                n.run_to(65);
                static const char *const names[] = {"off", "marks", "limit", "blocking"};
                tell((std::string(rate) + " " + names[mode] + " " + std::to_string(loss)).c_str(),
                     n, 15, 65);
            }
}

TEST_CASE("proxy: look", "[.]")
{
    proxy_setting s;
    s.link = std::string("rate=") + std::getenv("RATE") +
             ",queue=droptail:10p,loss=" + std::getenv("LOSS");
    s.reflect = std::getenv("MARKS") ? REFLECT_MARKS : REFLECT_LIMIT;
    proxy_session n(s);
    for (int i = 1; i < 130; i++) {
        n.run_to(i * 0.5);
        auto r = n.read();
        std::printf(
            "%.1f queue %ld ms limit %.0f backbone %.3f access %.3f level %d allowed %.0f\n",
            i * 0.5, long(n.moments.back().queue / 1000), n.relayed().bridge.limit_bps,
            n.backbone_mbps(i * 0.5 - .5, i * .5), n.access_mbps(i * .5 - .5, i * .5), r.level,
            r.allowed_bps);
    }
}
