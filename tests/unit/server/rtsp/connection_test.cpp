// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "sender/feed/filler_media.h"
#include "server/rtsp/connection.h"
#include "server/session/catalog.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <fcntl.h>

TEST_CASE("connection: a descriptor that the loop cannot watch is refused, and nothing is left")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    stream s;
    stream_media *media = filler_media_new(SDP_SOURCE_GREEDY, 1000000);
    REQUIRE(media);
    stream_init(&s, media, nullptr);
    catalog *offered = catalog_new_one("/live", &s);
    REQUIRE(offered);
    connection_config config = {&loop, offered, nullptr, "weir-send", nullptr, nullptr};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); // a file: epoll refuses it
    REQUIRE(fd >= 0);
    CHECK(connection_new(fd, &config, USEC_PER_SEC) == nullptr);
    CHECK(fcntl(fd, F_GETFD) == -1);
    offered->ops->free(offered);
    stream_destroy(&s);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
