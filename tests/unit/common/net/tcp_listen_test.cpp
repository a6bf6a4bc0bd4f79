// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tcp_listen.h"

#include <catch2/catch.hpp>

#include <string>
#include <unistd.h>

#include "common/net/udp_socket.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

int listen_at(const std::string &text)
{
    sockaddr_storage at;
    REQUIRE(sockaddr_parse(text.c_str(), &at) == 0);
    return tcp_listen(reinterpret_cast<sockaddr *>(&at), "--listen");
}

std::string address_of(int fd)
{
    char text[SOCKADDR_TEXT];
    tcp_listen_address(fd, text, sizeof(text));
    return text;
}

} // namespace

TEST_CASE(
    "tcp_listen: port 0 selects a free port, the address contains it, connections are accepted")
{
    int fd = listen_at("127.0.0.1:0");
    REQUIRE(fd >= 0);
    std::string address = address_of(fd);
    CHECK(address.find("127.0.0.1:") == 0);
    CHECK(address != "127.0.0.1:0");
    CHECK(accept(fd, nullptr, nullptr) < 0); // does not wait for one
    CHECK(errno == EAGAIN);
    sockaddr_storage at;
    REQUIRE(sockaddr_parse(address.c_str(), &at) == 0);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(client, reinterpret_cast<sockaddr *>(&at),
                  sockaddr_len(reinterpret_cast<sockaddr *>(&at))) == 0);
    int server = accept(fd, nullptr, nullptr);
    CHECK(server >= 0);
    for (int each : {server, client, fd})
        close(each);
}

TEST_CASE("tcp_listen: an unavailable address, and the option that chooses another")
{
    temp_folder t;
    int fd = listen_at("127.0.0.1:0");
    std::string taken = address_of(fd);
    CHECK(listen_at(taken) == -1);
    CHECK(temp_folder::logged() == "cannot listen on " + taken +
                                       ": Address already in use; choose another port with "
                                       "--listen ADDR:PORT\n");
    close(fd);
    temp_folder::logged().clear();
    CHECK(listen_at("192.0.2.1:8554") == -1); // RFC 5737: nobody's
    CHECK(temp_folder::logged() ==
          "cannot listen on 192.0.2.1:8554: Cannot assign requested address; it is not this "
          "machine's: choose another with --listen ADDR:PORT\n");
}
