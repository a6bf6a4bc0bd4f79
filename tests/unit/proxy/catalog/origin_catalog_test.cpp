// SPDX-License-Identifier: GPL-2.0-or-later
// The requests that are refused without asking an origin. tests/e2e/test_proxy.py has the others.
#include "proxy/catalog/origin_catalog.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>

TEST_CASE("origin_catalog: what is refused without asking an origin")
{
    struct {
        const char *path, *via;
        int status;
        const char *said;
    } const table[] = {
        {"/", "", 404, "rtsp://PROXY/HOST[:PORT]/PATH"},
        {"/evil/live", "", 403, "does not relay that host"},
        {"/good@evil/live", "", 404, "no such stream"},
        {"/good/live", "RTSP/1.0 me", 502, "loop"},
        {"/good/live", "RTSP/1.0 a, RTSP/1.0 me, RTSP/1.0 b", 502, "loop"},
        {"/good/live", "RTSP/1.0 a, RTSP/1.0 b, RTSP/1.0 c, RTSP/1.0 d", 502, "too many proxies"},
    };
    uv_loop_t loop;
    uv_loop_init(&loop);
    auto rules = std::make_unique<origin_rules>();
    REQUIRE(origin_url_allow(rules.get(), "good") == nullptr);
    auto choices = std::make_unique<relay_choices>();
    auto config = std::make_unique<origin_catalog_config>();
    config->loop = &loop;
    config->rules = rules.get();
    config->choices = choices.get();
    strcpy(config->name, "me");
    catalog *c = origin_catalog_new(config.get());
    REQUIRE(c);
    for (const auto &row : table) {
        INFO(row.path << " " << row.via);
        catalog_hold hold = {};
        struct stream *out = nullptr;
        strcpy(hold.via, row.via);
        REQUIRE(c->ops->take(c, row.path, &hold, false, &out) == CATALOG_REFUSED);
        CHECK(hold.refusal.status == row.status);
        INFO(hold.refusal.text);
        CHECK(strstr(hold.refusal.text, row.said) != nullptr);
        CHECK(out == nullptr);
        CHECK(hold.film == nullptr);
        c->ops->leave(c, &hold);
    }
    c->ops->free(c);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
