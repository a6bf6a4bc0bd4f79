// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/rate_limit.h"

#include <catch2/catch.hpp>

// By hand. 40 bytes are 320 bit a packet; a full packet has 1200 bytes, 9600 bit.
TEST_CASE("rate_limit: what a limit leaves to the media")
{
    struct {
        const char *what;
        double bps, header_bytes, frames_ps, audio_bps, audio_ps; // of the limit and the flow
        double media_bps, packets_ps;                             // before the spare part
    } const table[] = {
        {"REMB: headers do not count", 90000, 0, 25, 0, 0, 90000, 25},
        {"a packet a frame: 25 * 320", 128000, 40, 25, 0, 0, 120000, 25},
        {"a packet a frame, also if few", 8000, 40, 12.5, 0, 0, 4000, 12.5},
        {"large frames: (L - 12.5 * 320) * 30 / 31", 1004000, 40, 25, 0, 0, 967741.94, 113.306},
        {"50 packets of audio: 75 * 320", 164000, 40, 25, 40000, 50, 140000, 75},
        {"audio alone: 50 * 320", 56000, 40, 0, 40000, 50, 40000, 50},
        {"large frames with audio", 1000000, 40, 25, 40000, 50, 949677.42, 157.258},
        {"UDP with IPv6 and SRTP", 64000, 70, 25, 0, 0, 50000, 25},
        {"headers alone take it", 8000, 511, 60, 0, 0, 1000, 60},
    };
    for (const auto &row : table) {
        CAPTURE(row.what);
        const rate_limit limit = {row.bps, row.header_bytes};
        const rate_limit_flow flow = {row.frames_ps, 1200, row.audio_bps, row.audio_ps};
        const rate_limit_share share = rate_limit_divide(&limit, &flow);
        CHECK(share.media_bps == Approx(row.media_bps > 1000 ? row.media_bps / 1.05 : 1000));
        CHECK(share.rtp_bps == Approx(row.media_bps + row.packets_ps * 12 * 8));
        // The law: with its headers it is the limit, unless that is too low for any media.
        if (row.media_bps > 1000)
            CHECK(row.media_bps + row.packets_ps * row.header_bytes * 8 ==
                  Approx(row.bps).epsilon(1e-4));
    }
}
