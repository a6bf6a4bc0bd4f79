// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <crypt.h>
#include <cstring>
#include <sys/stat.h>
#include <uv.h>

#include "common/base/err.h"
#include "server/access/access_guest.h"
#include "server/policy/login_failures.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

// anna:good, bob:other, each coded for HTTP Basic
const char anna[] = "Basic YW5uYTpnb29k";
const char anna_wrong[] = "Basic YW5uYTpiYWQ=";
const char bob[] = "Basic Ym9iOm90aGVy";
const char nobody[] = "Basic bm9ib2R5Omdvb2Q=";

sockaddr_storage address(const char *text)
{
    sockaddr_storage out = {};
    auto *v6 = reinterpret_cast<sockaddr_in6 *>(&out);
    auto *v4 = reinterpret_cast<sockaddr_in *>(&out);
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
        out.ss_family = AF_INET6;
    else if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
        out.ss_family = AF_INET;
    return out;
}

struct server {
    temp_folder folder;
    uv_loop_t loop;
    struct access *access = nullptr;

    explicit server(const std::string &rules = "", bool has_file = true, bool insecure = false)
    {
        uv_loop_init(&loop);
        std::string text = rules;
        for (const char *password : {"good", "other"}) {
            char setting[CRYPT_GENSALT_OUTPUT_SIZE];
            crypt_data data = {};
            REQUIRE(crypt_gensalt_rn("$y$", 1, "0123456789abcdef", 16, setting, sizeof(setting)));
            std::string mark = std::string("@") + password;
            size_t at = text.find(mark);
            if (at != std::string::npos)
                text.replace(at, mark.size(), crypt_r(password, setting, &data));
        }
        std::string file = folder.write("access", text);
        chmod(file.c_str(), 0600);
        std::string state = folder / "state";
        access_config config = {.loop = &loop,
                                .file = has_file ? file.c_str() : nullptr,
                                .service = nullptr,
                                .state_dir = state.c_str(),
                                .insecure = insecure};
        access = access_new(&config);
        INFO(temp_folder::logged());
        REQUIRE(access);
    }
    ~server()
    {
        access_free(access);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    std::string key(const char *path, unsigned right = ACCESS_WATCH, int64_t seconds = 3600)
    {
        char out[ACCESS_KEY_TEXT];
        REQUIRE(access_invite(access, path, right, seconds, out) == 0);
        return out;
    }
};

access_request request(const char *path, const std::string &key = "",
                       const char *authorization = nullptr)
{
    access_request r = {};
    r.path = {path, strlen(path)};
    r.key = {key.data(), key.size()};
    if (authorization)
        r.authorization = {authorization, strlen(authorization)};
    r.right = ACCESS_WATCH;
    return r;
}

struct guest {
    uv_loop_t *loop;
    access_guest *g;
    int ready = 0;
    access_refusal why = {};

    guest(server &s, const char *peer = "127.0.0.1") : loop(&s.loop)
    {
        sockaddr_storage from = address(peer);
        access_guest_config config = {
            .access = s.access,
            .loop = loop,
            .peer = reinterpret_cast<sockaddr *>(&from),
            .on_ready = [](void *ctx, usec_t) { static_cast<guest *>(ctx)->ready++; },
            .ctx = this,
            .forgets = false};
        g = access_guest_new(&config);
        REQUIRE(g);
    }
    ~guest()
    {
        access_guest_free(g);
    }
    // Asks, and again as often as it has to wait. Returns 0: let in; else the status.
    int ask(const access_request &r, usec_t now = 0)
    {
        access_answer answer;
        while ((answer = access_guest_ask(g, &r, &why, now)) == ACCESS_WAITS) {
            int before = ready;
            while (ready == before)
                uv_run(loop, UV_RUN_ONCE);
        }
        return answer == ACCESS_GRANTED ? 0 : why.status;
    }
};

const char rules[] = "user = anna:@good\nuser = bob:@other\n"
                     "allow = anna /live watch\nallow = bob / watch,metrics\n"
                     "allow = * /public watch\n";

} // namespace

TEST_CASE("access: on the loopback everybody is let in, unless there is a file")
{
    server open("", false), closed;
    for (const char *peer : {"127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"}) {
        guest in(open, peer), out(closed, peer);
        CHECK(in.ask(request("/live")) == 0);
        CHECK(out.ask(request("/live")) == 401);
    }
    for (const char *peer : {"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "126.0.0.1"}) {
        guest out(open, peer);
        access_request r = request("/live");
        r.is_secure = true;
        CHECK(out.ask(r) == 401);
        CHECK(std::string(out.why.text).find("?key=") != std::string::npos);
        CHECK(std::string(out.why.challenge) == "Weir-Key realm=\"weir\"");
    }
}

TEST_CASE("access: off the loopback nothing but TLS is served, unless the server is insecure")
{
    server s("", false), insecure("", true, true);
    for (server *at : {&s, &insecure}) {
        guest far(*at, "192.0.2.1"), local(*at);
        const std::string key = at->key("/live");
        access_request r = request("/live", key);
        CHECK(local.ask(r) == 0);
        CHECK(far.ask(r) == (at == &s ? 403 : 0));
        if (at == &s) {
            CHECK(std::string(far.why.text).find("rtsps://") != std::string::npos);
            CHECK(std::string(far.why.text).find("--insecure") != std::string::npos);
        }
        r.is_secure = true;
        CHECK(far.ask(r) == 0);
    }
}

TEST_CASE("access: a key lets in to its path, for its time")
{
    server s;
    guest g(s);
    CHECK(g.ask(request("/live", s.key("/live"))) == 0);
    CHECK(g.ask(request("/live/trackID=1", s.key("/live"))) == 0);
    CHECK(g.ask(request("/other", s.key("/live"))) == 401);
    CHECK(std::string(g.why.text).find("not valid for this path") != std::string::npos);
    CHECK(g.ask(request("/live", s.key("/live", ACCESS_METRICS))) == 401);
    CHECK(g.ask(request("/live", s.key("/", ACCESS_WATCH, 0))) == 0);
    // One whose expiry has passed: it is made for a time, and then signed anew with an earlier one.
    std::string secret = s.folder.read("state/secret");
    char old[ACCESS_KEY_TEXT];
    access_key expired = {ACCESS_WATCH, 1000};
    REQUIRE(access_key_make(reinterpret_cast<const uint8_t *>(secret.data()), &expired, "live",
                            old) == 0);
    guest other(s);
    CHECK(other.ask(request("/live", old)) == 401);
    CHECK(std::string(other.why.text).find("has expired") != std::string::npos);
    char out[ACCESS_KEY_TEXT];
    CHECK(access_invite(s.access, "/../x", ACCESS_WATCH, 1, out) == ERR_MALFORMED);
    CHECK(access_invite(s.access, "/x", ACCESS_WATCH, INT64_C(1) << 40, out) == ERR_RANGE);
}

TEST_CASE("access: a connection stays let in for what its key was for")
{
    server s;
    guest g(s);
    CHECK(g.ask(request("/live/trackID=0")) == 401);
    REQUIRE(g.ask(request("/live", s.key("/live"))) == 0);
    CHECK(g.ask(request("/live/trackID=0")) == 0);
    CHECK(g.ask(request("/other")) == 401);
    // A request with a wrong key does not count as one without.
    CHECK(g.ask(request("/live", "x")) == 401);
    access_request playing = request("/live", "x");
    playing.in_session = true;
    CHECK(g.ask(playing) == 0);
    guest second(s);
    CHECK(second.ask(request("/live")) == 401);
}

TEST_CASE("access: users of the file")
{
    server s(rules);
    guest g(s);
    CHECK(g.ask(request("/live")) == 401);
    CHECK(std::string(g.why.challenge) == "Basic realm=\"weir\"");
    CHECK(g.ask(request("/live", "", anna)) == 0);
    CHECK(g.ask(request("/films", "", anna)) == 403);
    CHECK(g.ask(request("/films", "", bob)) == 0);
    CHECK(g.ask(request("/films", "", anna_wrong)) == 401);
    CHECK(std::string(g.why.text).find("wrong user or password: check both") == 0);
    CHECK(g.ask(request("/films", "", nobody)) == 401);
    CHECK(g.ask(request("/films", "", "Basic !")) == 401);
    CHECK(g.ask(request("/films", "", "Digest x")) == 401);
    CHECK(g.ask(request("/public/x")) == 0);
    // Off the loopback a password needs a connection that nobody overhears.
    server insecure(rules, true, true);
    guest far(insecure, "192.0.2.1");
    access_request r = request("/live", "", anna);
    CHECK(far.ask(r) == 401);
    CHECK(std::string(far.why.text).find("rtsps://") != std::string::npos);
    CHECK(std::string(far.why.challenge) == "Weir-Key realm=\"weir\"");
    r.is_secure = true;
    CHECK(far.ask(r) == 0);
}

TEST_CASE("access: an address that fails too often has to wait, with a key not")
{
    server s(rules);
    guest g(s);
    for (int i = 0; i < LOGIN_FAILURES_MAX - 1; i++)
        REQUIRE(g.ask(request("/live", "x"), 0) == 401);
    access_request wrong = request("/live", "x");
    REQUIRE(access_guest_ask(g.g, &wrong, &g.why, 0) == ACCESS_WAITS);
    CHECK(access_guest_ask(g.g, &wrong, &g.why, LOGIN_DELAY) == ACCESS_REFUSED);
    CHECK(g.why.status == 401);
    guest other(s); // another connection of the address
    CHECK(other.ask(request("/live", s.key("/live")), 1) == 0);
    access_request user = request("/films", "", bob);
    CHECK(access_guest_ask(other.g, &user, &other.why, 1) == ACCESS_WAITS);
    CHECK(other.ask(user, 2) == 0);
    guest away(s, "192.0.2.9"); // of another address
    access_request away_user = request("/live", "", "Basic YW5uYTpnb29k");
    away_user.is_secure = true;
    CHECK(away.ask(away_user, 3) == 0);
}

TEST_CASE("access: an address that fails too often guesses no faster over many connections")
{
    server s(rules);
    guest first(s);
    for (int i = 0; i < LOGIN_FAILURES_MAX; i++) {
        access_request wrong = request("/live", "x");
        (void)access_guest_ask(first.g, &wrong, &first.why, 0);
    }
    access_request user = request("/films", "", bob);
    guest a(s), b(s), c(s), d(s), e(s);
    for (guest *g : {&a, &b, &c, &d}) // their turns are at 2, 4, 6 and 8 s
        CHECK(access_guest_ask(g->g, &user, &g->why, 0) == ACCESS_WAITS);
    CHECK(access_guest_ask(e.g, &user, &e.why, 0) == ACCESS_REFUSED);
    CHECK(e.why.status == 429);
    CHECK(std::string(e.why.text).find("too many failed logins") != std::string::npos);
    guest away(s, "192.0.2.9");
    access_request away_user = request("/live", "", "Basic YW5uYTpnb29k");
    away_user.is_secure = true;
    CHECK(away.ask(away_user, 0) == 0);
    CHECK(a.ask(user, 2 * USEC_PER_SEC) == 0);
}

TEST_CASE("access: a guest may leave while its password is verified")
{
    server s(rules);
    {
        guest g(s);
        access_request r = request("/live", "", anna);
        CHECK(access_guest_ask(g.g, &r, &g.why, 0) == ACCESS_WAITS);
        CHECK(access_guest_ask(g.g, &r, &g.why, 0) == ACCESS_WAITS);
    }
    guest g(s);
    CHECK(g.ask(request("/live", "", anna)) == 0);
}

TEST_CASE("access: more passwords than the queue has room for are verified one after the other")
{
    server s(rules);
    guest a(s), b(s), c(s);
    guest *all[] = {&a, &b, &c};
    access_request r = request("/live", "", anna_wrong);
    for (guest *g : all) // two of an address are verified, the third waits for room
        CHECK(access_guest_ask(g->g, &r, &g->why, 0) == ACCESS_WAITS);
    for (guest *g : all) {
        while (!g->ready)
            uv_run(&s.loop, UV_RUN_ONCE);
        CHECK(g->ask(r, 0) == 401);
    }
}

TEST_CASE("access: the metrics' thread decides at once")
{
    server s(rules);
    access_refusal why;
    sockaddr_storage peer = address("127.0.0.1");
    auto ask = [&](const std::string &key, const char *authorization) {
        access_request r = request("/", key, authorization);
        r.right = ACCESS_METRICS;
        return access_http(s.access, reinterpret_cast<sockaddr *>(&peer), &r, &why, 0) ==
                       ACCESS_GRANTED
                   ? 0
                   : why.status;
    };
    CHECK(ask("", nullptr) == 401);
    CHECK(ask("", bob) == 0);
    CHECK(ask("", bob) == 0); // remembered
    CHECK(ask("", anna) == 403);
    CHECK(ask(s.key("/"), nullptr) == 401);
    CHECK(ask(s.key("/", ACCESS_METRICS), nullptr) == 0);
    for (int i = 1; i < LOGIN_FAILURES_MAX; i++) // one failed above
        CHECK(ask("x", nullptr) == 401);
    CHECK(ask("", anna_wrong) == 429);
    CHECK(ask("x", nullptr) == 429);
    CHECK(ask("", bob) == 0);
    CHECK(ask(s.key("/", ACCESS_METRICS), nullptr) == 0);
}

TEST_CASE("access: a login of a browser is good for its user's paths, until it ends")
{
    server s(rules);
    guest g(s);
    auto log_in = [&](guest &at, const char *authorization, const std::string &before = "") {
        char token[LOGIN_TOKEN_TEXT] = "";
        access_request r = request("", "", authorization);
        r.token = {before.data(), before.size()};
        access_answer answer;
        while ((answer = access_guest_log_in(at.g, &r, token, &at.why, 0)) == ACCESS_WAITS)
            for (int seen = at.ready; at.ready == seen;)
                uv_run(at.loop, UV_RUN_ONCE);
        return std::string(answer == ACCESS_GRANTED ? token : "");
    };
    auto ask = [&](const char *path, const std::string &token, usec_t now = 0) {
        guest each(s);
        access_request r = request(path);
        r.token = {token.data(), token.size()};
        return each.ask(r, now);
    };
    CHECK(log_in(g, anna_wrong) == "");
    CHECK(g.why.status == 401);
    const std::string first = log_in(g, anna), second = log_in(g, anna, first);
    REQUIRE(second.size() == LOGIN_TOKEN_TEXT - 1);
    CHECK(ask("/live", first) == 401);
    CHECK(ask("/live", second) == 0);
    CHECK(ask("/films", second) == 403);
    CHECK(ask("/live", second, LOGIN_SESSION_TIME - 1) == 0);
    CHECK(ask("/live", second, LOGIN_SESSION_TIME) == 401);
    access_log_out(s.access, {second.data(), second.size()});
    CHECK(ask("/live", second) == 401);

    // Another file: anna's number is another one, bob is gone.
    const std::string token = log_in(g, anna), of_bob = log_in(g, bob);
    const std::string text = s.folder.read("access");
    const size_t end = text.find('\n');
    s.folder.write("access", text + "nonsense\n");
    CHECK(access_reload(s.access) == ERR_IO);
    CHECK(ask("/films", of_bob) == 0);
    s.folder.write("access", "user = eve:$y$j75$x$y\n" + text.substr(0, end) +
                                 "\nallow = anna /other watch\nallow = eve /live watch\n");
    REQUIRE(access_reload(s.access) == 0);
    CHECK(ask("/films", of_bob) == 401);
    CHECK(ask("/other", token) == 0);
    CHECK(ask("/live", token) == 403);
    CHECK(log_in(g, bob) == "");
    // Another password.
    std::string other = s.folder.read("access");
    other.replace(other.find("anna:$y$") + 12, 1, "X");
    s.folder.write("access", other);
    (void)access_reload(s.access);
    CHECK(ask("/other", token) == 401);

    // No connection off the loopback that others can read, and no server without users.
    server insecure(rules, true, true), open("", false);
    guest far(insecure, "192.0.2.1"), none(open);
    CHECK(log_in(far, anna) == "");
    CHECK(std::string(far.why.text).find("https://") != std::string::npos);
    CHECK(log_in(none, anna) == "");
    CHECK(none.why.status == 403);
}

TEST_CASE("access: a connection of HTTP is let in by each request alone")
{
    server s(rules);
    guest g(s);
    access_guest_config config = {};
    config.access = s.access;
    config.loop = &s.loop;
    sockaddr_storage from = address("127.0.0.1");
    config.peer = reinterpret_cast<sockaddr *>(&from);
    config.on_ready = [](void *, usec_t) {};
    config.forgets = true;
    access_guest *http = access_guest_new(&config);
    REQUIRE(http);
    const std::string key = s.key("/live");
    access_request with = request("/live", key), without = request("/live");
    CHECK(access_guest_ask(http, &with, &g.why, 0) == ACCESS_GRANTED);
    CHECK(access_guest_ask(http, &without, &g.why, 0) == ACCESS_REFUSED);
    access_guest_free(http);
}

TEST_CASE("access: a file that cannot be used ends the start")
{
    temp_folder t;
    uv_loop_t loop;
    uv_loop_init(&loop);
    std::string state = t / "state", none = t / "none";
    access_config config = {.loop = &loop,
                            .file = none.c_str(),
                            .service = nullptr,
                            .state_dir = state.c_str(),
                            .insecure = false};
    CHECK(access_new(&config) == nullptr);
    std::string old = t.write("old", "user = anna:$1$x$y\n");
    config.file = old.c_str();
    CHECK(access_new(&config) == nullptr);
    CHECK(temp_folder::logged().find("--user anna") != std::string::npos);
    std::string secret = t.write("state/secret", "short");
    chmod(secret.c_str(), 0600);
    config.file = nullptr;
    CHECK(access_new(&config) == nullptr);
    CHECK(temp_folder::logged().find("is damaged") != std::string::npos);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
