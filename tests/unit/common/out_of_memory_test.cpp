// SPDX-License-Identifier: GPL-2.0-or-later
// The protocols' objects when there is no memory: each is made wholly or not at all.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "common/base/err.h"
#include "common/congestion/controller.h"
#include "common/mtp/mtp_sender.h"
#include "common/protocol/datagram_sender.h"
#include "common/repair/fec_decoder.h"
#include "common/repair/fec_encoder.h"
#include "common/repair/loss_detector.h"
#include "common/repair/repair_sender.h"
#include "common/repair/request_fates.h"
#include "tests/support/failing_alloc.hpp"

TEST_CASE("out of memory: repair")
{
    CHECK(each_allocation_fails(fec_decoder_new, fec_decoder_free) == 1);
    CHECK(each_allocation_fails(fec_encoder_new, fec_encoder_free) == 1);
    CHECK(each_allocation_fails(loss_detector_new, loss_detector_free) == 2);
    CHECK(each_allocation_fails(request_fates_new, request_fates_free) == 1);
    for (bool parity : {false, true}) {
        repair_sender_config config{};
        config.kept_bytes = 1000;
        config.viewer_has_fec = parity;
        CHECK(each_allocation_fails([&config] { return repair_sender_new(&config); },
                                    repair_sender_free) == (parity ? 4 : 3));
    }
}

TEST_CASE("out of memory: rate controllers, and the sender that takes one over")
{
    controller_config config{};
    config.packet_bytes = 1200;
    config.max_rate_bps = 1e9;
    for (const controller_kind *k = controller_kinds; k->name; k++) {
        INFO(k->name);
        CHECK(each_allocation_fails([&] { return controller_new(k->name, &config, 0); }, free) ==
              1);
        failing_alloc_set(0);
        CHECK(controller_check(k->name) == ERR_NO_MEMORY);
        CHECK(failing_alloc_end());
        CHECK(controller_check(k->name) == 0);
    }
    for (int n = 0;; n++) {
        CAPTURE(n);
        controller *c = controller_new("tfrc", &config, 0);
        REQUIRE(c);
        datagram_sender s{};
        const datagram_sender_config sender = {1, 0, 0, false};
        failing_alloc_set(n);
        const int err =
            datagram_sender_init(&s, c, &sender, 0); // takes the controller over, on failure too
        const bool failed = failing_alloc_end();
        CHECK(err == (failed ? ERR_NO_MEMORY : 0));
        if (!err)
            datagram_sender_destroy(&s);
        if (!failed)
            break;
    }
}

TEST_CASE("out of memory: a sender of MTP")
{
    mtp_sender_config config{};
    config.slot_bytes = 8;
    config.window = 16;
    config.cwnd = 4;
    config.ssthresh = 8;
    int n = 0;
    for (;; n++) {
        CAPTURE(n);
        mtp_sender s{};
        failing_alloc_set(n);
        const int err = mtp_sender_init(&s, &config, 0);
        const bool failed = failing_alloc_end();
        CHECK(err == (failed ? ERR_NO_MEMORY : 0));
        if (!err)
            mtp_sender_destroy(&s);
        if (!failed)
            break;
    }
    CHECK(n >= 1);
}
