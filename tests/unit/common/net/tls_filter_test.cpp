// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <gnutls/gnutls.h>

#include <string>

#include "common/base/err.h"
#include "common/net/tls_filter.h"
#include "tests/support/tls_pair.hpp"

using test::tls_pair;
using test::trust_of;

TEST_CASE("tls_filter: two ends agree, whatever pieces arrive, and carry bytes both ways")
{
    test::tls_keys keys;
    const size_t piece = GENERATE(1, 7, 100000);
    tls_pair p(keys, trust_of("127.0.0.1", keys.pin()));
    p.shake(piece);
    CHECK(p.client.err == 0);
    CHECK(p.server.err == 0);
    REQUIRE(p.client.ready());
    REQUIRE(p.server.ready());
    p.server.receive(p.client.encode("DESCRIBE"));
    CHECK(p.server.plain == "DESCRIBE");
    const std::string large(40000, 'x');
    p.client.receive(p.server.encode(large));
    CHECK(p.client.plain == large);
}

TEST_CASE("tls_filter: a write becomes one record of the bytes that `overhead` says")
{
    test::tls_keys keys;
    tls_pair p(keys, trust_of("127.0.0.1", keys.pin()));
    p.shake();
    for (size_t bytes : {size_t{1}, size_t{1424}, size_t{16384}, size_t{16385}, size_t{40000}}) {
        const std::string wire = p.server.encode(std::string(bytes, 'x'));
        CHECK(wire.size() == bytes + p.server.filter->ops->overhead(p.server.filter, bytes));
        // RFC 8446, 5.2: type 23, version 3.3, length
        CHECK(wire.substr(0, 3) == "\x17\x03\x03");
        const size_t first = static_cast<uint8_t>(wire[3]) << 8 | static_cast<uint8_t>(wire[4]);
        CHECK(first == (bytes < 16384 ? bytes : 16384) + 17);
        p.client.receive(wire);
        CHECK(p.client.err == 0);
    }
    CHECK(p.server.filter->ops->overhead(p.server.filter, 1424) == 22);
}

TEST_CASE("tls_filter: another key than the pin's is refused before the client has sent anything")
{
    test::tls_keys keys, other;
    tls_pair p(keys, trust_of("127.0.0.1", other.pin()));
    p.shake();
    CHECK(p.client.err == ERR_UNTRUSTED);
    CHECK_FALSE(p.client.ready());
    CHECK_FALSE(p.server.ready());
    CHECK_THAT(p.client.reason(), Catch::Contains(keys.pin()) && Catch::Contains(other.pin()));
    CHECK(p.server.err == ERR_CLOSED);
    CHECK_THAT(p.server.reason(), Catch::Contains("Certificate is bad"));
}

TEST_CASE("tls_filter: a server's plain answer to a handshake is quoted")
{
    struct {
        const char *answer, *reason;
    } const table[] = {
        {"RTSP/1.0 503 Service Unavailable\r\nCSeq: 0\r\n\r\n",
         "answers without TLS: RTSP/1.0 503 Service Unavailable"},
        {"RTSP/1.0 400 \x1b[2J\x9b\r\n", "answers without TLS: RTSP/1.0 400 ?[2J?"},
        {"RTSP/1.0 ", "answers without TLS: RTSP/1.0 "}, // the rest did not come with it
        {"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak TLS 1.3"},
    };
    for (const auto &row : table) {
        INFO(row.answer);
        test::tls_keys keys;
        tls_pair p(keys, trust_of("127.0.0.1", keys.pin()));
        p.client.receive(row.answer);
        CHECK(p.client.err < 0);
        CHECK_THAT(p.client.reason(), Catch::StartsWith(row.reason));
    }
}

TEST_CASE("tls_filter: the end of the stream is told from a cut")
{
    test::tls_keys keys;
    tls_pair p(keys, trust_of("127.0.0.1", keys.pin()));
    p.shake();
    const std::string last = p.server.encode("last");
    bytes_out out{};
    p.server.filter->ops->finish(p.server.filter, &out);
    std::string end;
    test::tls_end::take(out, end);
    p.client.receive(last + end);
    CHECK(p.client.plain == "last");
    CHECK(p.client.err == ERR_CLOSED);
}

TEST_CASE("tls_filter: a changed, repeated or foreign record ends the connection")
{
    test::tls_keys keys;
    tls_pair p(keys, trust_of("127.0.0.1", keys.pin()));
    p.shake();
    std::string record = p.server.encode("secret");
    SECTION("changed")
    {
        record[10] = static_cast<char>(record[10] ^ 1);
        p.client.receive(record);
    }
    SECTION("repeated")
    {
        p.client.receive(record);
        CHECK(p.client.err == 0);
        p.client.plain.clear();
        p.client.receive(record);
    }
    SECTION("truncated, and continued by another")
    {
        p.client.receive(record.substr(0, record.size() - 4));
        CHECK(p.client.err == 0);
        p.client.receive(p.server.encode("more"));
    }
    SECTION("of another connection")
    {
        tls_pair q(keys, trust_of("127.0.0.1", keys.pin()));
        q.shake();
        p.client.receive(q.server.encode("secret"));
    }
    CHECK(p.client.err == ERR_MALFORMED);
    CHECK(p.client.plain == "");
}

TEST_CASE("tls_filter: a second handshake on the connection is refused")
{
    test::tls_keys keys;
    tls_pair p(keys, trust_of("127.0.0.1", keys.pin()));
    const std::string hello = p.client.wire;
    p.shake();
    p.server.receive(hello);
    CHECK(p.server.err == ERR_MALFORMED);
}

TEST_CASE("tls_filter: the server refuses what is no TLS 1.3, and too much of it")
{
    test::tls_keys keys;
    test::tls_end server(tls_server_filter_new(keys.credentials));
    SECTION("garbage")
    {
        server.receive("\x16" + std::string(200, '\xa5'));
        CHECK(server.err == ERR_MALFORMED);
    }
    SECTION("RTSP")
    {
        server.receive("OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n");
        CHECK(server.err == ERR_MALFORMED);
    }
    SECTION("a hello without end")
    {
        // A handshake message of 100,000 bytes, in records of 16,000
        std::string record = std::string("\x16\x03\x01\x3e\x80", 5) +
                             std::string("\x01\x01\x86\xa0", 4) + std::string(15996, '\0');
        server.receive(record);
        for (int i = 0; i < 6 && !server.err; i++)
            server.receive(std::string("\x16\x03\x01\x3e\x80", 5) + std::string(16000, '\0'));
        CHECK((server.err == ERR_TOO_BIG || server.err == ERR_MALFORMED));
    }
    SECTION("bits of a record, endlessly small")
    {
        std::string record("\x16\x03\x01\x00\x01\x01", 6);
        int sent = 0;
        for (; sent < TLS_HANDSHAKE_SERVER && !server.err; sent++)
            server.receive(record);
        CHECK(server.err < 0);
    }
    CHECK_FALSE(server.ready());
}

namespace
{

// Returns the first message of a client that offers what `rules` says (GnuTLS's priority string).
std::string hello_of(const char *rules)
{
    gnutls_session_t client;
    gnutls_certificate_credentials_t none;
    std::string hello;
    REQUIRE(gnutls_init(&client, GNUTLS_CLIENT | GNUTLS_NONBLOCK) == 0);
    REQUIRE(gnutls_certificate_allocate_credentials(&none) == 0);
    REQUIRE(gnutls_credentials_set(client, GNUTLS_CRD_CERTIFICATE, none) == 0);
    REQUIRE(gnutls_priority_set_direct(client, rules, nullptr) == 0);
    gnutls_transport_set_ptr(client, &hello);
    gnutls_transport_set_push_function(
        client, [](gnutls_transport_ptr_t ctx, const void *data, size_t len) {
            static_cast<std::string *>(ctx)->append(static_cast<const char *>(data), len);
            return static_cast<ssize_t>(len);
        });
    gnutls_transport_set_pull_function(client, [](gnutls_transport_ptr_t, void *, size_t) {
        errno = EAGAIN;
        return static_cast<ssize_t>(-1);
    });
    CHECK(gnutls_handshake(client) == GNUTLS_E_AGAIN);
    gnutls_deinit(client);
    gnutls_certificate_free_credentials(none);
    return hello;
}

} // namespace

TEST_CASE("tls_filter: a client that offers TLS 1.2 only is refused with an alert")
{
    test::tls_keys keys;
    test::tls_end server(tls_server_filter_new(keys.credentials));
    server.receive(hello_of("NORMAL:-VERS-ALL:+VERS-TLS1.2"));
    CHECK(server.err == ERR_MALFORMED);
    CHECK(server.wire.substr(0, 1) == "\x15"); // alert
}

TEST_CASE("tls_filter: the server computes with three curves, and with no costly group")
{
    test::tls_keys keys;
    const std::string rules = "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-";
    for (const char *group : {"X25519", "SECP256R1", "SECP384R1"}) {
        test::tls_end server(tls_server_filter_new(keys.credentials));
        server.receive(hello_of((rules + group).c_str()));
        CHECK(server.err == 0);
        CHECK(server.wire.substr(0, 1) == "\x16"); // its part of the handshake
    }
    for (const char *group : {"FFDHE2048", "FFDHE8192", "SECP521R1", "X448"}) {
        test::tls_end server(tls_server_filter_new(keys.credentials));
        server.receive(hello_of((rules + group).c_str()));
        CHECK(server.err == ERR_MALFORMED);
        CHECK(server.wire.substr(0, 1) == "\x15"); // alert
    }
}
