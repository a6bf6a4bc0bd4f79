// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "stream/goddard/goddard_params.h"

TEST_CASE("goddard params: the defaults are Figure 7's")
{
    goddard_params p;
    goddard_params_init(&p);
    CHECK(p.pkp_timeout_interval == 2);
    CHECK(p.buf_factor == 1.5);
    CHECK(p.play_buf_thresh == 5);
    CHECK(p.loss_monitor_interval == 5);
    CHECK(p.downscale_frame_loss_rate == 0.05);
    CHECK(p.upscale_interval == 60);
    CHECK(p.upscale_frame_loss_rate == 0.01);
    CHECK(p.upscale_limit_time_factor == 3);
}

TEST_CASE("goddard params: every name is read into its own field")
{
    goddard_params p;
    goddard_params_init(&p);
    char error[GODDARD_PARAMS_ERROR];
    REQUIRE(goddard_params_read("upscale_limit_time_factor=2,upscale_frame_loss_rate=0.02,"
                                "upscale_interval=30,downscale_frame_loss_rate=0.1,"
                                "loss_monitor_interval=3,play_buf_thresh=1.5,buf_factor=4,"
                                "pkp_timeout_interval=0.5",
                                &p, error, sizeof(error)) == 0);
    CHECK(p.pkp_timeout_interval == 0.5);
    CHECK(p.buf_factor == 4);
    CHECK(p.play_buf_thresh == 1.5);
    CHECK(p.loss_monitor_interval == 3);
    CHECK(p.downscale_frame_loss_rate == Approx(0.1));
    CHECK(p.upscale_interval == 30);
    CHECK(p.upscale_frame_loss_rate == Approx(0.02));
    CHECK(p.upscale_limit_time_factor == 2);
}

TEST_CASE("goddard params: a wrong text is refused completely, with a reason")
{
    struct row {
        const char *text;
        int err;
        const char *told; // a part of the text
    };
    const row rows[] = {
        {"", 0, ""},
        {"buf_factor=1", 0, ""},
        {"buf_factor=4", 0, ""},
        {"buf_factor=0.99", ERR_RANGE, "a number of 1 to 4 as buf_factor, not \"0.99\""},
        {"buf_factor=4.01", ERR_RANGE, "a number of 1 to 4 as buf_factor"},
        {"buf_factor=fast", ERR_MALFORMED, "a number of 1 to 4 as buf_factor, not \"fast\""},
        {"buf_factor=", ERR_MALFORMED, "a number of 1 to 4 as buf_factor, not \"\""},
        {"buf_factor", ERR_MALFORMED, "a number of 1 to 4 as buf_factor"},
        {"buf_factor=2,buf_factor=3", ERR_MALFORMED, "not buf_factor twice"},
        {"buf_factor=2,", ERR_MALFORMED, "names: pkp_timeout_interval, buf_factor, "},
        {"haste=2", ERR_MALFORMED, ", upscale_limit_time_factor"},
        {"Buf_factor=2", ERR_MALFORMED, "names: pkp_timeout_interval"},
        {" buf_factor=2", ERR_MALFORMED, "names: pkp_timeout_interval"},
        {"upscale_interval=60.1234567890123456789012345678901234567890123456789", 0, ""},
        {"upscale_interval=0."
         "12345678901234567890123456789012345678901234567890123456789012345678901"
         "234567890123456789012345678901234567890123456789012345678901234567890123456789012345678",
         ERR_RANGE, "not \"0.12345678901234567890123456789012345678901234567890123456789012...\""},
        {"upscale_frame_loss_rate=0.05", 0, ""},
        {"upscale_frame_loss_rate=0.06", ERR_RANGE, "at most downscale_frame_loss_rate (0.05)"},
        {"downscale_frame_loss_rate=0", ERR_RANGE, "at most downscale_frame_loss_rate (0)"},
        {"downscale_frame_loss_rate=0,upscale_frame_loss_rate=0", 0, ""},
    };
    for (const row &r : rows) {
        CAPTURE(r.text);
        goddard_params p;
        goddard_params_init(&p);
        const goddard_params before = p;
        char error[GODDARD_PARAMS_ERROR] = "";
        CHECK(goddard_params_read(r.text, &p, error, sizeof(error)) == r.err);
        CHECK_THAT(std::string(error), Catch::Contains(r.told));
        CHECK(strlen(error) < GODDARD_PARAMS_ERROR - 1);
        if (r.err)
            CHECK(memcmp(&p, &before, sizeof(p)) == 0);
    }
}

TEST_CASE("goddard_params: how long a frame may wait at the sender")
{
    CHECK(goddard_params_sender_wait(0) == USEC_PER_SEC);
    CHECK(goddard_params_sender_wait(USEC_PER_SEC / 4) == USEC_PER_SEC);
    CHECK(goddard_params_sender_wait(5 * USEC_PER_SEC) == 5500 * USEC_PER_MSEC);
}
