// SPDX-License-Identifier: GPL-2.0-or-later
// Two TLS filters against each other, in memory.
#ifndef WEIR_TEST_TLS_PAIR_HPP
#define WEIR_TEST_TLS_PAIR_HPP

#include <string>

#include "common/net/tcp_filter.h"
#include "common/net/tls_filter.h"
#include "common/net/tls_trust.h"
#include "tests/support/tls_keys.hpp"

namespace test
{

struct tls_end {
    tcp_filter *filter;
    std::string wire;  // to be sent
    std::string plain; // received
    int err = 0;       // of the last call

    explicit tls_end(tcp_filter *f) : filter(f)
    {
        REQUIRE(f);
        bytes_out out{};
        err = f->ops->start(f, &out);
        take(out, wire);
    }
    tls_end(const tls_end &) = delete;
    tls_end &operator=(const tls_end &) = delete;
    ~tls_end()
    {
        filter->ops->free(filter);
    }
    static void take(bytes_out &from, std::string &to)
    {
        to.append(reinterpret_cast<char *>(from.data), from.len);
        bytes_out_free(&from);
    }
    void receive(const std::string &bytes)
    {
        bytes_out in{}, out{};
        err = filter->ops->decode(filter, reinterpret_cast<const uint8_t *>(bytes.data()),
                                  bytes.size(), &in, &out);
        take(in, plain);
        take(out, wire);
    }
    std::string encode(std::string text)
    {
        bytes_out out{};
        std::string all;
        const iovec parts[] = {{text.data(), text.size() / 2},
                               {text.data() + text.size() / 2, text.size() - text.size() / 2}};
        REQUIRE(filter->ops->encode(filter, parts, 2, &out) == 0);
        take(out, all);
        return all;
    }
    std::string flush()
    {
        std::string all;
        all.swap(wire);
        return all;
    }
    bool ready() const
    {
        return filter->ops->ready(filter);
    }
    std::string reason() const
    {
        return tls_filter_reason(filter);
    }
};

struct tls_pair {
    tls_end client, server;

    tls_pair(const tls_keys &keys, const tls_trust &trust)
        : client(tls_client_filter_new(&trust)), server(tls_server_filter_new(keys.credentials))
    {
    }
    // `piece`: bytes that arrive at once.
    void shake(size_t piece = 100000)
    {
        while (!client.err && !server.err && (!client.wire.empty() || !server.wire.empty())) {
            for (std::string out = client.flush(); !out.empty() && !server.err; out.erase(0, piece))
                server.receive(out.substr(0, piece));
            for (std::string out = server.flush(); !out.empty() && !client.err; out.erase(0, piece))
                client.receive(out.substr(0, piece));
        }
        // The alert of one that refuses
        if (client.err && !client.wire.empty())
            server.receive(client.flush());
    }
};

inline tls_trust trust_of(const char *host, const std::string &pin, const std::string &file = "")
{
    tls_trust t{};
    snprintf(t.host, sizeof(t.host), "%s", host);
    t.port = 8554;
    snprintf(t.pin, sizeof(t.pin), "%s", pin.c_str());
    snprintf(t.known_hosts, sizeof(t.known_hosts), "%s", file.c_str());
    return t;
}

} // namespace test

#endif
