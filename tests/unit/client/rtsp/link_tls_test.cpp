// SPDX-License-Identifier: GPL-2.0-or-later
// A client's connection against a TLS server in memory, on one loop.
#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "client/rtsp/link_tls.h"
#include "common/net/tcp_conn.h"
#include "tests/support/tls_pair.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

struct rig {
    uv_loop_t loop;
    int other = -1;
    tcp_conn *conn = nullptr;
    int closed = 0;
    link_tls tls{};

    rig(const test::tls_keys &keys, const std::string &url)
    {
        static const tcp_conn_ops ops = {
            nullptr,
            [](void *, const uint8_t *, size_t len, usec_t) { return static_cast<int>(len); },
            [](void *, usec_t) {},
            [](void *ctx, int err, usec_t) { static_cast<rig *>(ctx)->closed = err; }};
        uv_loop_init(&loop);
        int pair[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        other = pair[1];
        conn = tcp_conn_new(&loop, pair[0], 1024, &ops, this);
        ::url u{};
        const char *why;
        REQUIRE(url_parse(url.c_str(), &u, &why) == 0);
        link_tls_init(&tls, &u);
        REQUIRE(link_tls_open(&tls, conn, u.host, u.port));
        test::tls_end server(tls_server_filter_new(keys.credentials));
        char chunk[16384];
        ssize_t n;
        while (!closed && (n = recv(other, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0) {
            server.receive(std::string(chunk, static_cast<size_t>(n)));
            const std::string out = server.flush();
            REQUIRE(send(other, out.data(), out.size(), 0) == static_cast<ssize_t>(out.size()));
            for (int i = 0; i < 3; i++)
                uv_run(&loop, UV_RUN_NOWAIT);
        }
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig()
    {
        tcp_conn_free(conn);
        close(other);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    std::string refusal() const
    {
        char text[1024] = "";
        return link_tls_refused(&tls, conn, "h.test", 99, text, sizeof(text)) ? text : "";
    }
};

} // namespace

TEST_CASE("link_tls: pin, first use and a changed key, with the state directory's file")
{
    temp_folder folder;
    REQUIRE(setenv("STATE_DIRECTORY", (folder / "state").c_str(), 1) == 0);
    test::tls_keys keys, others;
    {
        rig r(keys, "rtsps://h.test:99/live?pin=" + keys.pin());
        CHECK(tcp_conn_is_secure(r.conn));
        CHECK(r.refusal() == "");
    }
    struct stat st;
    CHECK(stat((folder / "state").c_str(), &st) != 0); // a pin leaves no trace
    {
        rig r(keys, "rtsps://h.test:99/live?pin=" + others.pin());
        CHECK_FALSE(tcp_conn_is_secure(r.conn));
        CHECK(r.refusal().find("the server h.test port 99 is refused: its key is " + keys.pin()) ==
              0);
    }
    {
        rig r(keys, "rtsps://h.test:99/live");
        CHECK(tcp_conn_is_secure(r.conn));
    }
    REQUIRE(stat((folder / "state/known_hosts").c_str(), &st) == 0);
    CHECK((st.st_mode & 0777) == 0600);
    {
        rig r(others, "rtsps://h.test:99/live");
        CHECK_FALSE(tcp_conn_is_secure(r.conn));
        CHECK_THAT(r.refusal(), Catch::Contains("it was " + keys.pin()) &&
                                    Catch::Contains("it is " + others.pin()));
    }
    unsetenv("STATE_DIRECTORY");
}

TEST_CASE("link_tls: who cannot remember a key says why, and what to do")
{
    temp_folder folder;
    test::tls_keys keys;
    const std::string state = folder / "state", file = state + "/known_hosts";
    REQUIRE(setenv("STATE_DIRECTORY", state.c_str(), 1) == 0);
    {
        rig r(keys, "rtsps://h.test:99/live");
    }
    struct {
        std::string path;
        mode_t mode, good;
        std::string reason;
    } const table[] = {
        {file, 0644, 0600, file + " is not used: other users may read or write it (chmod 600 it"},
        {state, 0777, 0700, state + " is not used: other users may write into it (chmod 700 it)"},
        {folder.path, 0777, 0700,
         state + " is not used: other users may write into " + folder.path +
             " on the way to it (chmod go-w " + folder.path},
    };
    for (const auto &row : table) {
        CAPTURE(row.path);
        REQUIRE(chmod(row.path.c_str(), row.mode) == 0);
        rig r(keys, "rtsps://h.test:99/live");
        CHECK_FALSE(tcp_conn_is_secure(r.conn));
        CHECK_THAT(r.refusal(), Catch::Contains("its key cannot be remembered (mend that, or add "
                                                "pin=" +
                                                keys.pin() + " to the URL") &&
                                    Catch::Contains(": " + row.reason));
        REQUIRE(chmod(row.path.c_str(), row.good) == 0);
    }
    unsetenv("STATE_DIRECTORY");
}

TEST_CASE("link_tls: rtsp:// stays as it is")
{
    test::tls_keys keys;
    rig r(keys, "rtsp://h.test/live");
    CHECK_FALSE(tcp_conn_is_secure(r.conn));
    CHECK(tcp_conn_overhead(r.conn, 100) == 0);
    CHECK(r.refusal() == "");
}
