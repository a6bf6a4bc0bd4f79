// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "server/session/catalog.h"
#include "server/session/stream.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("catalog: of one stream, only the stream's own path finds it")
{
    stream only{};
    catalog *c = catalog_new_one("/cam/live", &only);
    REQUIRE(c);
    catalog_hold hold{};
    for (const char *good : {"/cam/live", "/cam/live/", "/cam/live?level=1", "/cam/live/trackID=0",
                             "/cam/live/trackID=1?x", "/cam/%6Cive", "/cam/live#end"}) {
        CAPTURE(good);
        stream *found = nullptr;
        CHECK(c->ops->take(c, good, &hold, false, &found) == 0);
        CHECK(found == &only);
    }
    for (const char *wrong :
         {"/", "/cam", "/cam/", "/cam/live/guest", "/cam/live/guest/trackID=0", "/cam/live2",
          "/cam/live/../live", "/cam/live/trackID=2", "/cam//live", "/cam/live%00", "cam/live"}) {
        CAPTURE(wrong);
        stream *found = nullptr;
        CHECK(c->ops->take(c, wrong, &hold, false, &found) == ERR_NOT_FOUND);
        CHECK(found == nullptr);
    }
    CHECK_FALSE(c->ops->recorded(c, "cam/live"));
    only.record = "/srv/%Y.mkv";
    CHECK(std::string(c->ops->recorded(c, "cam/live")) == "/srv/%Y.mkv");
    CHECK_FALSE(c->ops->recorded(c, "cam/live/x"));
    c->ops->free(c);
}
