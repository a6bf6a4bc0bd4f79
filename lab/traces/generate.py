#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes packet-delivery traces in Mahimahi's format: each line is the time in whole ms at which one packet of 1500 bytes may
leave, times do not fall, and a link repeats the trace after its last time.

  generate.py lte|wifi|steps [--seed N] [--seconds S] [--mean MBIT] [--output FILE]

lte    a cellular link: the logarithm of the rate is an AR(1) process, 50 ms per step, correlated over about 2 s, around
       the level of a Markov chain of three cell states (far 0.35, middle 1, near 2) that changes every 8 s on average;
       at each step an outage of 0.2 to 1 s begins with a probability of 0.2 %.
wifi   a shared radio channel: bursts of 2 to 16 packets at 54 Mbit/s, then a gap in which others use the channel,
       exponential with the mean that gives the mean rate; every 5 s on average a distant station makes all gaps four
       times as long for 0.5 to 2 s.
steps  a rate that jumps every 10 s through 1, 0.25, 1.5, 0.5, 2 and 0.1 times MBIT, without any randomness.

The same kind, seed, length and mean give the same trace. lte and wifi have exactly the requested mean.
"""
import argparse
import sys

import numpy as np

PACKET_BITS = 1500 * 8


def from_rates(rates, step_ms, mean_mbit):
    """Returns delivery times from a rate (any unit) for each step, scaled so that the trace has the mean rate."""
    rates = np.asarray(rates, dtype=float)
    per_step = rates / rates.mean() * mean_mbit * 1e3 * step_ms / PACKET_BITS  # packets
    credit = np.concatenate([[0.0], np.cumsum(per_step)])
    packets = np.arange(1, int(credit[-1] + 1e-6) + 1)
    times = np.interp(packets, credit, np.arange(credit.size) * step_ms)
    return np.ceil(times - 1e-9).astype(int)


def lte(seed, seconds, mean_mbit):
    rng = np.random.default_rng(seed)
    step_ms, levels = 50, (0.35, 1.0, 2.0)
    stay = 1 - step_ms / 8000
    rho = np.exp(-step_ms / 2000)
    state, x, outage, rates = 1, 0.0, 0, []
    for _ in range(round(seconds * 1000 / step_ms)):
        if rng.random() > stay:
            state = 1 if state != 1 else int(rng.choice((0, 2)))
        x = rho * x + np.sqrt(1 - rho * rho) * 0.45 * rng.standard_normal()
        if outage == 0 and rng.random() < 0.002:
            outage = int(rng.integers(4, 21))
        rates.append(0.0 if outage else levels[state] * np.exp(x))
        outage = max(0, outage - 1)
    return from_rates(rates, step_ms, mean_mbit)


def wifi(seed, seconds, mean_mbit, burst_mbit=54.0):
    if mean_mbit >= burst_mbit:
        raise ValueError(f"the mean must be below {burst_mbit:g} Mbit/s, the rate of a burst")
    rng = np.random.default_rng(seed)
    airtime = PACKET_BITS / burst_mbit / 1e3  # ms a packet
    mean_gap = 9 * PACKET_BITS / mean_mbit / 1e3 - 9 * airtime  # 9 packets a burst on average
    now, slow_until, next_slow, times = 0.0, 0.0, rng.exponential(5000), []
    wanted = round(seconds * mean_mbit * 1e6 / PACKET_BITS)
    while len(times) < wanted:
        if now >= next_slow:
            slow_until = now + rng.uniform(500, 2000)
            next_slow = slow_until + rng.exponential(5000)
        now += rng.exponential(mean_gap) * (4 if now < slow_until else 1)
        for _ in range(int(rng.integers(2, 17))):
            now += airtime
            times.append(now)
    # Slow periods reduce the mean; scaling all times restores it.
    times = np.array(times[:wanted])
    return np.ceil(times * (seconds * 1000 / times[-1]) - 1e-9).astype(int)


def steps(_seed, seconds, mean_mbit):
    pattern = np.repeat([1, 0.25, 1.5, 0.5, 2, 0.1], 10)
    rates = np.resize(pattern, max(1, round(seconds)))
    return from_rates(rates, 1000, mean_mbit * rates.mean())


KINDS = {"lte": lte, "wifi": wifi, "steps": steps}


def write(times, path):
    if len(times) == 0:
        raise ValueError("the trace has no packet")
    with open(path, "w", encoding="ascii") as f:
        f.writelines(f"{t}\n" for t in times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--mean", type=float, default=5, help="Mbit/s (default 5)")
    parser.add_argument("--output", default="/dev/stdout")
    args = parser.parse_args()
    if not 1 <= args.seconds <= 3600 or not 0.1 <= args.mean <= 1000:
        parser.error("expects 1 to 3600 seconds and 0.1 to 1000 Mbit/s")
    try:
        write(KINDS[args.kind](args.seed, args.seconds, args.mean), args.output)
    except (OSError, ValueError) as e:
        sys.exit(f"generate.py: {e}")


if __name__ == "__main__":
    main()
