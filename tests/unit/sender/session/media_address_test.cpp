// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/net/udp_socket.h"
#include "common/wire/path_token.h"
#include "sender/session/media_address.h"

static sockaddr_storage at(const char *text)
{
    sockaddr_storage a;
    REQUIRE(sockaddr_parse(text, &a) == 0);
    return a;
}

static std::string text_of(const sockaddr_storage &a)
{
    if (a.ss_family == AF_UNSPEC)
        return "";
    char text[64];
    sockaddr_text(reinterpret_cast<const sockaddr *>(&a), text, sizeof(text));
    return text;
}

static media_proof prove(media_address *a, int which, const char *from, uint64_t token)
{
    sockaddr_storage source = at(from);
    uint8_t packet[PATH_TOKEN_BYTES];
    path_token_encode(1, token, packet);
    datagram d{};
    d.data = packet;
    d.len = sizeof(packet);
    d.from = &source;
    return media_address_prove(a, which, &d);
}

static bool is_rtcp(const media_address *a, const char *from)
{
    sockaddr_storage source = at(from);
    datagram d{};
    d.from = &source;
    return media_address_is_rtcp(a, &d);
}

TEST_CASE("media_address: a stranger gets it on the host of its connection")
{
    sockaddr_storage host = at("192.0.2.1:40000");
    media_address a;
    const int both[2] = {5000, 6001}, one[2] = {5000, -1};
    media_address_on_host(&a, &host, both);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5000");
    CHECK(text_of(a.peer[1]) == "192.0.2.1:6001");
    media_address_on_host(&a, &host, one);
    CHECK(text_of(a.peer[1]) == "192.0.2.1:5001");
    CHECK(is_rtcp(&a, "192.0.2.1:5000"));
    CHECK(is_rtcp(&a, "192.0.2.1:5001"));
    CHECK_FALSE(is_rtcp(&a, "192.0.2.1:9")); // another behind its NAT, or another of its programs
    CHECK_FALSE(is_rtcp(&a, "192.0.2.2:5001"));
    CHECK(prove(&a, 0, "192.0.2.2:5000", 0) == PROOF_NONE); // there is no token
    CHECK(a.wrong_tokens == 0);
}

TEST_CASE("media_address: the token tells where")
{
    media_address a;
    const sockaddr_storage host = at("192.0.2.1:40000");
    REQUIRE(media_address_by_token(&a, &host) == 0);
    CHECK(text_of(a.peer[0]) == "");
    CHECK_FALSE(is_rtcp(&a, "192.0.2.1:5001"));
    CHECK(prove(&a, 0, "192.0.2.1:5000", a.token ^ 1) == PROOF_NONE);
    CHECK(a.wrong_tokens == 1);
    CHECK(text_of(a.peer[0]) == "");

    CHECK(prove(&a, 0, "192.0.2.1:5000", a.token) == PROOF_NEW);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5000");
    CHECK(text_of(a.peer[1]) == ""); // each port for itself
    CHECK(prove(&a, 0, "192.0.2.1:5000", a.token) == PROOF_KNOWN);
    CHECK(prove(&a, 1, "198.51.100.7:7", a.token) ==
          PROOF_NONE); // forged: not the connection's host
    CHECK(a.wrong_tokens == 2);
    CHECK(prove(&a, 1, "192.0.2.1:7", a.token) == PROOF_NEW);
    CHECK(is_rtcp(&a, "192.0.2.1:7"));
    CHECK_FALSE(is_rtcp(&a, "192.0.2.1:8"));
    CHECK_FALSE(is_rtcp(&a, "198.51.100.7:7"));

    CHECK(prove(&a, 0, "192.0.2.1:5002", a.token) == PROOF_NEW); // it moved
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5002");
    CHECK(prove(&a, 0, "192.0.2.1:1", ~a.token) == PROOF_NONE);
    CHECK(text_of(a.peer[0]) == "192.0.2.1:5002");
    CHECK(a.wrong_tokens == 3);
}
