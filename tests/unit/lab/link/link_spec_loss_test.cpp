// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/unit/lab/link/parsed_link.hpp"

TEST_CASE("link_spec: losses")
{
    struct loss_config c = parsed("loss=ge:p=1%:r=25%").loss;
    CHECK(c.kind == LOSS_GILBERT_ELLIOTT);
    CHECK(c.p == 0.01);
    CHECK(c.r == 0.25);
    CHECK(c.good == 0);
    CHECK(c.bad == 1);
    c = parsed("loss=ge:bad=50%:good=0.1%:r=10%:p=2%").loss;
    CHECK(c.good == Approx(0.001));
    CHECK(c.bad == 0.5);

    c = parsed("loss=mask:0010000001*").loss;
    CHECK(c.kind == LOSS_MASK);
    CHECK(c.mask_packets == 10);
    CHECK(c.mask_repeats);
    CHECK(c.mask[0] == 4); // packet 2
    CHECK(c.mask[1] == 2); // packet 8 + 1
    c = parsed("loss=mask:" + std::string(LOSS_MASK_MAX, '1')).loss;
    CHECK(c.mask_packets == LOSS_MASK_MAX);
    CHECK(!c.mask_repeats);
    CHECK(c.mask[LOSS_MASK_MAX / 8 - 1] == 0xff);

    CHECK(parsed("loss=0%").loss.kind == LOSS_NONE);
    CHECK(parsed("loss=100%").loss.probability == 1);
}
