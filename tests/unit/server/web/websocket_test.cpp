// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/websocket.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{

// A frame as a browser sends it.
std::string frame(int opcode, const std::string &payload, bool fin = true, bool masked = true,
                  int rsv = 0)
{
    std::string out;
    out += static_cast<char>((fin ? 0x80 : 0) | rsv << 4 | opcode);
    char mask = static_cast<char>(masked ? 0x80 : 0);
    size_t n = payload.size();
    if (n < 126) {
        out += static_cast<char>(mask | static_cast<char>(n));
    } else if (n < 65536) {
        out += static_cast<char>(mask | 126);
        out += static_cast<char>(n >> 8);
        out += static_cast<char>(n);
    } else {
        out += static_cast<char>(mask | 127);
        for (int i = 7; i >= 0; i--)
            out += static_cast<char>(static_cast<uint64_t>(n) >> 8 * i);
    }
    const char key[] = {1, 2, 3, 4};
    if (masked)
        out.append(key, 4);
    for (size_t i = 0; i < n; i++)
        out += static_cast<char>(masked ? payload[i] ^ key[i % 4] : payload[i]);
    return out;
}

struct Socket {
    struct tcp_filter *f = websocket_new();
    struct bytes_out plain = {}, wire = {};
    ~Socket()
    {
        f->ops->free(f);
        bytes_out_free(&plain);
        bytes_out_free(&wire);
    }
    int take(const std::string &s)
    {
        return f->ops->decode(f, reinterpret_cast<const uint8_t *>(s.data()), s.size(), &plain,
                              &wire);
    }
    std::string in() const
    {
        return std::string(reinterpret_cast<const char *>(plain.data), plain.len);
    }
    std::string out() const
    {
        return std::string(reinterpret_cast<const char *>(wire.data), wire.len);
    }
};

enum { MORE, TEXT, BINARY, CLOSE = 8, PING, PONG };

} // namespace

TEST_CASE("websocket: payload is a byte stream, at any cut of the input")
{
    std::string s = frame(BINARY, "OPTIONS") + frame(TEXT, " *", false) + frame(PING, "p") +
                    frame(MORE, "", false) + frame(MORE, " x") +
                    frame(BINARY, std::string(70000, 'y')) + frame(PONG, "unasked");
    for (size_t step : {size_t(1), size_t(3), size_t(1000), s.size()}) {
        Socket w;
        for (size_t at = 0; at < s.size(); at += step)
            REQUIRE(w.take(s.substr(at, step)) == 0);
        CHECK(w.in() == "OPTIONS * x" + std::string(70000, 'y'));
        CHECK(w.out() == frame(PONG, "p", true, false));
    }
}

TEST_CASE("websocket: a write is one binary message, unmasked")
{
    for (size_t n : {size_t(1), size_t(125), size_t(126), size_t(65535), size_t(65536)}) {
        Socket w;
        std::string a(n / 2, 'a'), b(n - n / 2, 'b');
        struct iovec parts[] = {{a.data(), a.size()}, {nullptr, 0}, {b.data(), b.size()}};
        REQUIRE(w.f->ops->encode(w.f, parts, 3, &w.wire) == 0);
        CHECK(w.out() == frame(BINARY, a + b, true, false));
        CHECK(w.wire.len == n + w.f->ops->overhead(w.f, n));
    }
    Socket none;
    struct iovec empty = {nullptr, 0};
    CHECK(none.f->ops->encode(none.f, &empty, 1, &none.wire) == 0);
    CHECK(none.wire.len == 0);
}

TEST_CASE("websocket: the end")
{
    Socket w;
    CHECK(w.take(frame(BINARY, "a") + frame(CLOSE, std::string("\x03\xe8", 2) + "bye")) ==
          ERR_CLOSED);
    CHECK(w.in() == "a");
    CHECK(w.out() == frame(CLOSE, std::string("\x03\xe8", 2), true, false));
    w.f->ops->finish(w.f, &w.wire); // a second close frame would be one too many
    CHECK(w.out().size() == 4);
    Socket own;
    own.f->ops->finish(own.f, &own.wire);
    CHECK(own.out() == frame(CLOSE, std::string("\x03\xe9", 2), true, false));
    CHECK(own.take(frame(CLOSE, "")) == ERR_CLOSED);
    CHECK(own.out().size() == 4);
}

TEST_CASE("websocket: frames that a browser does not send")
{
    struct {
        std::string s;
        int err;
    } rows[] = {
        {frame(BINARY, "a", true, false), ERR_MALFORMED},                // no mask
        {frame(BINARY, "a", true, true, 4), ERR_MALFORMED},              // compressed
        {frame(MORE, "a"), ERR_MALFORMED},                               // continues nothing
        {frame(BINARY, "a", false) + frame(BINARY, "b"), ERR_MALFORMED}, // within a message
        {frame(3, "a"), ERR_MALFORMED},                                  // reserved
        {frame(11, "a"), ERR_MALFORMED},                                 //
        {frame(PING, "a", false), ERR_MALFORMED},                        // 5.5
        {frame(PING, std::string(126, 'a')), ERR_MALFORMED},             //
        {frame(BINARY, std::string(WEBSOCKET_FRAME_MAX + 1, 'a')), ERR_TOO_BIG},
        {std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10) + "1234", ERR_MALFORMED},
        {std::string("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10) + "1234x", ERR_TOO_BIG},
    };
    for (auto &row : rows) {
        Socket w;
        CHECK(w.take(row.s) == row.err);
        CHECK(w.wire.len == 0);
    }
}

TEST_CASE("websocket: a flood of pings gets one answer")
{
    Socket w;
    std::string s;
    for (int i = 0; i < 1000; i++)
        s += frame(PING, std::to_string(i));
    CHECK(w.take(s) == 0);
    CHECK(w.out() == frame(PONG, "999", true, false));
}

TEST_CASE("websocket: the accept key")
{
    char out[WEBSOCKET_ACCEPT_TEXT];
    auto key = [&](const char *s) { return websocket_accept_key({s, strlen(s)}, out); };
    REQUIRE(key("dGhlIHNhbXBsZSBub25jZQ==") == 0); // RFC 6455, 1.3
    CHECK(std::string(out) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    for (const char *bad : {"", "a", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQAA"})
        CHECK(key(bad) == ERR_MALFORMED);
}
