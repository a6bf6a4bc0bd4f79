// SPDX-License-Identifier: GPL-2.0-or-later
// A live stream through a proxy, in virtual time: what reflection and the queue's order reach.
#include <cstdio>
#include <cstdlib>

#include "tests/sim/proxy/proxy_session.hpp"

namespace
{
void tell(const char *what, const proxy_session &n, double from, double to)
{
    bridge_stats s = n.bridged();
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
                         ",queue=droptail:50p,loss=" + std::to_string(loss);
                s.reflect = mode;
                proxy_session n(s);
                n.run_to(65);
                static const char *const names[] = {"off", "marks", "limit", "blocking"};
                tell((std::string(rate) + " " + names[mode] + " " + std::to_string(loss)).c_str(),
                     n, 15, 65);
            }
}
