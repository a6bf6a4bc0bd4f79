// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/listen_argument.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/net/udp_socket.h"

TEST_CASE("listen_argument: an address, a port, all addresses")
{
    struct {
        const char *value, *expected; // expected NULL: refused
    } table[] = {
        {"127.0.0.1:8554", "127.0.0.1:8554"},
        {"0.0.0.0:0", "0.0.0.0:0"},
        {"[::1]:8554", "[::1]:8554"},
        {"8554", "127.0.0.1:8554"},
        {"0", "127.0.0.1:0"},
        {"localhost:8554", "127.0.0.1:8554"},
        {":8554", "0.0.0.0:8554"},
        {"", nullptr},
        {":", nullptr},
        {"65536", nullptr},
        {":65536", nullptr},
        {"-1", nullptr},
        {"localhost", nullptr},
        {"localhost:", nullptr},
        {"localhost:x", nullptr},
        {"::1", nullptr},
        {"example.org:8554", nullptr},
        {"127.0.0.1", nullptr},
        {"1 ", nullptr},
    };
    for (const auto &row : table) {
        INFO(row.value);
        struct sockaddr_storage out = {};
        const char *wrong = listen_argument_read(row.value, &out);
        CHECK((wrong == nullptr) == (row.expected != nullptr));
        if (wrong || !row.expected)
            continue;
        char text[SOCKADDR_TEXT];
        sockaddr_text(reinterpret_cast<struct sockaddr *>(&out), text, sizeof(text));
        CHECK(std::string(text) == row.expected);
    }
    struct sockaddr_storage out;
    CHECK(std::string(listen_argument_read("[fe80::1]:1", &out)).find("requires its network") !=
          std::string::npos);
    CHECK(std::string(listen_argument_read(std::string(500, '1').c_str(), &out))
              .find("expects ADDR:PORT") != std::string::npos);
}
