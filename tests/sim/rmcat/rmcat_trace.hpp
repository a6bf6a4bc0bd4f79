// SPDX-License-Identifier: GPL-2.0-or-later
// Packet-delivery traces of the kinds of lab/traces/generate.py, from a seed; the random numbers
// are not the same.
#ifndef WEIR_TESTS_RMCAT_TRACE_HPP
#define WEIR_TESTS_RMCAT_TRACE_HPP

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/base/rng.h"

struct rmcat_trace {
    std::string text;            // in Mahimahi's format
    std::vector<double> seconds; // Mbit in each of them

    rmcat_trace(const std::string &kind, uint64_t seed, double length, double mean_mbps)
        : r(rng_seeded(seed + 4711))
    {
        std::vector<double> times =
            kind == "wifi" ? wifi(length, mean_mbps) : lte(length, mean_mbps);
        seconds.resize(static_cast<size_t>(length) + 1);
        for (double ms : times) {
            text += std::to_string(std::lround(std::ceil(ms))) + "\n";
            size_t second = std::min(seconds.size() - 1, static_cast<size_t>(ms / 1e3));
            seconds[second] += BITS * 1e-6;
        }
    }
    double mbps(double t) const
    {
        return seconds[std::min(seconds.size() - 1, static_cast<size_t>(t))];
    }

  private:
    static constexpr double BITS = 1500 * 8;
    rng r;

    double gauss()
    {
        return std::sqrt(-2 * std::log(1 - rng_unit(&r))) * std::cos(2 * M_PI * rng_unit(&r));
    }
    double exponential(double mean)
    {
        return -mean * std::log(1 - rng_unit(&r));
    }
    std::vector<double> wifi(double length, double mean_mbps)
    {
        const double AIR = BITS / 54e3; // ms a packet
        double gap = 9 * BITS / mean_mbps / 1e3 - 9 * AIR, now = 0, slow_until = 0,
               next_slow = exponential(5000);
        std::vector<double> times;
        auto wanted = static_cast<size_t>(length * mean_mbps * 1e6 / BITS);
        while (times.size() < wanted) {
            if (now >= next_slow) {
                slow_until = now + 500 + 1500 * rng_unit(&r);
                next_slow = slow_until + exponential(5000);
            }
            now += exponential(gap) * (now < slow_until ? 4 : 1);
            for (uint64_t n = 2 + rng_below(&r, 15); n; n--)
                times.push_back(now += AIR);
        }
        times.resize(wanted);
        double scale = length * 1e3 / times.back();
        for (double &t : times)
            t *= scale;
        return times;
    }
    std::vector<double> lte(double length, double mean_mbps)
    {
        const double STEP = 50, LEVELS[] = {0.35, 1, 2}, RHO = std::exp(-STEP / 2000);
        std::vector<double> rates;
        int state = 1, outage = 0;
        double x = 0, sum = 0;
        for (double t = 0; t < length * 1e3; t += STEP) {
            if (rng_unit(&r) < STEP / 8000)
                state = state != 1 ? 1 : rng_below(&r, 2) ? 0 : 2;
            x = RHO * x + std::sqrt(1 - RHO * RHO) * 0.45 * gauss();
            if (!outage && rng_unit(&r) < 0.002)
                outage = 4 + static_cast<int>(rng_below(&r, 17));
            rates.push_back(outage ? 0 : LEVELS[state] * std::exp(x));
            sum += rates.back();
            outage = std::max(0, outage - 1);
        }
        double scale = mean_mbps * 1e3 * length * 1e3 / BITS / sum, credit = 0; // packets
        std::vector<double> times;
        for (size_t i = 0; i < rates.size(); i++) {
            double packets = rates[i] * scale;
            for (double k = std::floor(credit) + 1; k <= credit + packets; k++)
                times.push_back((static_cast<double>(i) + (k - credit) / packets) * STEP);
            credit += packets;
        }
        return times;
    }
};

#endif
