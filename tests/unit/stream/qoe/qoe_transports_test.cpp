// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_transports.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace
{

std::string text_of(const qoe_transports &t, double end)
{
    auto out = std::make_unique<qoe_json>();
    qoe_transports_read(&t, out.get(), end);
    std::string text;
    for (int i = 0; i < out->session.transport_count; i++) {
        const qoe_carried &c = out->session.transports[i];
        text += std::string(i ? ", " : "") + c.name + " " + std::to_string((int)c.from) + "-" +
                std::to_string((int)c.to);
    }
    return text;
}

} // namespace

TEST_CASE("qoe transports: each carries the media until the next one does")
{
    qoe_transports t{};
    CHECK(text_of(t, 5).empty());
    qoe_transports_set(&t, "minbuf", "", 1);
    CHECK(text_of(t, 5) == "minbuf 1-5");
    qoe_transports_set(&t, "scream", "UDP passes", 3);
    CHECK(text_of(t, 5) == "minbuf 1-3, scream 3-5");
    qoe_transports_set(&t, "scream", "", 4); // after a reconnect
    CHECK(text_of(t, 5) == "minbuf 1-3, scream 3-5");
    qoe_transports_set(&t, "minbuf", "UDP is silent", 7);
    CHECK(text_of(t, 9) == "minbuf 1-3, scream 3-7, minbuf 7-9");
    qoe_transports_set(&t, "scream", "UDP passes", 9);
    qoe_transports_set(&t, "scream", "the address has changed", 10);
    CHECK(text_of(t, 12) == "minbuf 1-3, scream 3-7, minbuf 7-9, scream 9-10, scream 10-12");
    CHECK(std::string(t.list[0].why).empty());
    CHECK(std::string(t.list[4].why) == "the address has changed");
}

TEST_CASE("qoe transports: of many changes the last are kept")
{
    qoe_transports t{};
    for (int i = 0; i < 3 * QOE_MAX_TRANSPORTS; i++)
        qoe_transports_set(&t, i % 2 ? "scream" : "minbuf", "", i);
    CHECK(t.count == QOE_MAX_TRANSPORTS);
    const std::string text = text_of(t, 1000);
    CHECK(text.find("minbuf 64-65") == 0);
    CHECK(text.find("scream 95-1000") != std::string::npos);
}
