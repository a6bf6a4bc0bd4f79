// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: makes a simulation from texts in weir-sim's syntax.
#ifndef WEIR_TESTS_SIMULATION_HPP
#define WEIR_TESTS_SIMULATION_HPP

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "lab/sim/sim.h"

struct simulation {
    std::unique_ptr<scenario> setup = std::make_unique<scenario>();
    std::vector<std::string> texts;
    sim s{};
    bool made = false;
    std::string error;

    simulation(const char *link, std::vector<std::string> groups, uint64_t seed = 1, int hops = 1,
               const char *back = nullptr)
        : texts(std::move(groups))
    {
        char why[256] = "";
        *setup = scenario{};
        setup->seed = seed;
        setup->hops = hops;
        REQUIRE(link_spec_parse(link, &setup->right, why, sizeof(why)) == 0);
        REQUIRE(link_spec_parse(back ? back : link, &setup->left, why, sizeof(why)) == 0);
        for (const auto &t : texts) {
            INFO(t);
            REQUIRE(group_parse(t.c_str(), &setup->groups[setup->group_count++], why,
                                sizeof(why)) == 0);
        }
        made = sim_init(&s, setup.get(), why, sizeof(why)) == 0;
        error = why;
    }
    ~simulation()
    {
        if (made)
            sim_destroy(&s);
    }
    simulation(const simulation &) = delete;
    simulation &operator=(const simulation &) = delete;

    void run(double seconds)
    {
        REQUIRE(made);
        sim_run(&s, static_cast<usec_t>(seconds * 1e6));
    }
    const flow_counts &counts(uint32_t flow = 0) const
    {
        return s.flows[flow]->counts;
    }
};

#endif
