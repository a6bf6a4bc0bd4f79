// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>

#include "stream/qoe/qoe_channels.h"

namespace
{

struct fixture {
    std::unique_ptr<qoe_channels> c{new qoe_channels};
    std::unique_ptr<qoe_json> report{new qoe_json()};

    fixture()
    {
        qoe_channels_init(c.get());
    }
    const qoe_json &read()
    {
        qoe_channels_read(c.get(), report.get());
        return *report;
    }
};

} // namespace

TEST_CASE("qoe_channels: each choice has a picture, an error, or neither")
{
    fixture f;
    qoe_channels_chosen(f.c.get(), 2, "rtsp://h/b", 1.5);
    qoe_channels_shown(f.c.get(), 120000);
    qoe_channels_chosen(f.c.get(), 3, "rtsp://h/c", 3);
    qoe_channels_failed(f.c.get(), "404");
    qoe_channels_chosen(f.c.get(), 4, "rtsp://h/d", 4); // the next choice comes first
    qoe_channels_chosen(f.c.get(), 5, std::string(2 * QOE_MAX_TEXT, 'x').c_str(), 4.1);
    qoe_channels_shown(f.c.get(), 80000);
    const qoe_json &r = f.read();
    CHECK(r.channels.count == 4);
    CHECK(r.channels.wait.count == 2);
    CHECK(r.channels.wait.max == Approx(120).epsilon(0.02));
    REQUIRE(r.channels.listed == 4);
    const qoe_channel_entry *e = r.channels.list;
    CHECK((e[0].number == 2 && e[0].at == 1.5 && e[0].wait == 120 && !*e[0].error));
    CHECK((std::isnan(e[1].wait) && std::string(e[1].error) == "404"));
    CHECK((std::isnan(e[2].wait) && !*e[2].error));
    CHECK((e[3].wait == 80 && std::string(e[3].url).size() == QOE_MAX_TEXT - 1));
}

TEST_CASE("qoe_channels: an outcome without a choice is none; an outcome counts once")
{
    fixture f;
    qoe_channels_shown(f.c.get(), 1000);
    qoe_channels_failed(f.c.get(), "x");
    CHECK(f.read().channels.listed == 0);
    CHECK(f.read().channels.wait.count == 0);
    qoe_channels_chosen(f.c.get(), 1, "u", 0);
    qoe_channels_shown(f.c.get(), 1000);
    qoe_channels_shown(f.c.get(), 2000);
    qoe_channels_failed(f.c.get(), "late");
    CHECK(f.read().channels.wait.count == 1);
    CHECK(f.read().channels.list[0].wait == 1);
    CHECK(!*f.read().channels.list[0].error);
}

TEST_CASE("qoe_channels: all are counted, the first ones are listed")
{
    fixture f;
    for (int i = 0; i < QOE_MAX_CHANNELS + 10; i++) {
        qoe_channels_chosen(f.c.get(), i + 1, "u", i);
        qoe_channels_shown(f.c.get(), 1000);
    }
    CHECK(f.read().channels.count == QOE_MAX_CHANNELS + 10);
    CHECK(f.read().channels.wait.count == QOE_MAX_CHANNELS + 10);
    CHECK(f.read().channels.listed == QOE_MAX_CHANNELS);
    CHECK(f.read().channels.list[QOE_MAX_CHANNELS - 1].number == QOE_MAX_CHANNELS);
}
