// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/request_fates.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>

namespace
{
struct fates {
    std::unique_ptr<request_fates, decltype(&request_fates_free)> f{request_fates_new(),
                                                                    request_fates_free};
    // "+": arrived, "x": lost; all that is known now.
    std::string told(usec_t wait, usec_t now)
    {
        std::string all;
        bool lost;
        while (request_fates_next(f.get(), wait, &lost, now))
            all += lost ? 'x' : '+';
        return all;
    }
};
} // namespace

TEST_CASE("request fates: what was not requested has arrived")
{
    fates v;
    CHECK(v.told(0, 0).empty());
    for (int i = 0; i < 6; i++)
        request_fates_sent(v.f.get(), static_cast<uint16_t>(65533 + i), i * 10);
    request_fates_requested(v.f.get(), 65534);
    request_fates_requested(v.f.get(), 1);
    request_fates_requested(v.f.get(), 1);
    request_fates_requested(v.f.get(), 65532); // before the first
    request_fates_requested(v.f.get(), 3);     // not sent yet
    CHECK(v.told(100, 99).empty());
    CHECK(v.told(100, 120) == "+x+");
    request_fates_requested(v.f.get(), 65533); // was told
    CHECK(v.told(100, 150) == "+x+");
    CHECK(v.told(100, 1000).empty());
    request_fates_sent(v.f.get(), 3, 1000);
    CHECK(v.told(100, 1100) == "+");
}

TEST_CASE("request fates: of too many the oldest are not told")
{
    fates v;
    for (int i = 0; i < REQUEST_FATES_PACKETS + 5; i++)
        request_fates_sent(v.f.get(), static_cast<uint16_t>(i), i);
    request_fates_requested(v.f.get(), 4);
    request_fates_requested(v.f.get(), 5);
    std::string all = v.told(0, 1 << 20);
    CHECK(all.size() == REQUEST_FATES_PACKETS);
    CHECK(all.substr(0, 2) == "x+");
    CHECK(all.find('x', 1) == std::string::npos);
}
