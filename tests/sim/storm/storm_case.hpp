// SPDX-License-Identifier: GPL-2.0-or-later
// One network of the storm, drawn from a seed: rate, round trip, queue, losses, what else is on the
// link, and one disturbance. The same seed is the same network for every transport.
#ifndef WEIR_TESTS_STORM_CASE_HPP
#define WEIR_TESTS_STORM_CASE_HPP

#include <cmath>
#include <cstdio>
#include <string>

#include "common/base/rng.h"
#include "common/base/usec.h"
#include "tests/support/live_link.hpp"

struct storm_case {
    enum disturbance { CALM, STEP, OUTAGE };

    uint64_t seed;
    double mbps;  // of the link
    usec_t rtt;   // without queues
    double queue; // max delay of its queue at `mbps`, seconds
    std::string kind;
    double loss; // mean fraction of packets lost at random, without the queue's losses
    bool bursts; // they come in bursts
    bool back;   // packets to the sender are lost, too
    disturbance what;
    double from, to; // seconds: the disturbance
    double during;   // Mbit/s from `from` to `to`
    int downloads;   // greedy TCPs on the same link
    double download_from;
    bool low_latency; // the viewer plays at once; false: with the default, auto
    double length;    // of the media, seconds
    live_setting setting{live_setting::SACK, {}};
    bool tells_rtt = false; // the sender tells the viewer the round trip, with its queues

    explicit storm_case(uint64_t s) : seed(s)
    {
        rng r = rng_seeded(s * 2654435761U + 17);
        mbps = log_between(&r, 0.4, 10);
        rtt = static_cast<usec_t>(log_between(&r, 10, 300) * 1000);
        draw_queue(&r);
        draw_loss(&r);
        draw_disturbance(&r);
        downloads = static_cast<int>(std::max(int64_t{0}, below(&r, 5) - 2)); // mostly none
        download_from = between(&r, 0, 6);
        low_latency = below(&r, 2);
    }
    std::string link() const
    {
        char text[256];
        std::string rate = in_kbit(mbps);
        if (what != CALM)
            rate += ":" + in_kbit(during) + at(from) + ":" + in_kbit(mbps) + at(to);
        snprintf(text, sizeof(text), "rate=%s,queue=%s%s", rate.c_str(), kind.c_str(),
                 lost().c_str());
        return text;
    }
    std::string link_back() const
    {
        std::string text = lost();
        return back && !text.empty() ? text.substr(1) : "";
    }
    // Returns a fair share of the link, Mbit/s, but in an outage.
    double share() const
    {
        return (what == STEP ? std::min(mbps, during) : mbps) / (1 + downloads);
    }
    // Returns the Mbit that the link carries between two instants.
    double carries(double a, double b) const
    {
        double overlap = what == CALM ? 0 : std::max(0.0, std::min(b, to) - std::max(a, from));
        return mbps * (b - a - overlap) + during * overlap;
    }
    std::string text() const
    {
        char out[512];
        snprintf(out, sizeof(out), "seed %llu: %s, rtt %.0f ms, back \"%s\", %d downloads from %.1f s, %s",
                 static_cast<unsigned long long>(seed), link().c_str(), usec_to_msec(rtt),
                 link_back().c_str(), downloads, download_from,
                 low_latency ? "at once" : "auto");
        return out;
    }

  private:
    static double between(rng *r, double low, double high)
    {
        return low + (high - low) * rng_unit(r);
    }
    static double log_between(rng *r, double low, double high)
    {
        return low * std::pow(high / low, rng_unit(r));
    }
    static int64_t below(rng *r, uint64_t n)
    {
        return static_cast<int64_t>(rng_below(r, n));
    }
    static std::string in_kbit(double mbps)
    {
        return std::to_string(std::lround(mbps * 1000)) + (std::lround(mbps * 1000) ? "kbit" : "");
    }
    static std::string at(double seconds)
    {
        return "@" + std::to_string(std::lround(seconds * 1000)) + "ms";
    }
    void draw_queue(rng *r)
    {
        static const char *const kinds[] = {"codel", "codel", "dualpi2", "red"};
        double bytes = log_between(r, 15e3, 250e3);
        int64_t one = below(r, 10);
        kind = (one < 4 ? kinds[one] : "droptail") + (":" + std::to_string(std::lround(bytes))) + "B";
        if (one == 1)
            kind += ":ecn";
        if (one == 3) // the usual weight is for links of more packets a second
            kind += ":gentle:weight=0.02";
        queue = bytes * 8e-6 / mbps;
    }
    void draw_loss(rng *r)
    {
        loss = below(r, 2) ? 0 : between(r, 0, 0.05);
        bursts = below(r, 3) == 0;
        back = below(r, 2);
    }
    std::string lost() const
    {
        char text[64] = "";
        // Of a burst of 3 packets every other one is lost. A burst is as many packets, not a time: one
        // that loses all would last for as long as TCP's timeouts double.
        const double LEAVE = 0.33, BAD = 0.5;
        if (loss > 0 && bursts)
            snprintf(text, sizeof(text), ",loss=ge:p=%.3f%%:r=%.0f%%:bad=%.0f%%",
                     loss / BAD * LEAVE / (1 - loss / BAD) * 100, LEAVE * 100, BAD * 100);
        else if (loss > 0)
            snprintf(text, sizeof(text), ",loss=%.2f%%", loss * 100);
        return text;
    }
    void draw_disturbance(rng *r)
    {
        what = static_cast<disturbance>(below(r, 3));
        from = between(r, 4, 6);
        to = from + (what == OUTAGE ? between(r, 0.5, 2.5) : between(r, 2, 4));
        double factor = below(r, 3) ? between(r, 0.25, 0.8) : between(r, 1.5, 4);
        during = what == OUTAGE ? 0 : std::max(0.2, std::min(10.0, mbps * factor));
        length = (what == CALM ? 5 : to) + 7;
    }
};

#endif
