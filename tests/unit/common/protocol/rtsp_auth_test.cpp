// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_auth.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "client/rtsp/rtsp_hash.h"

namespace
{
rtsp_auth someone(const char *user, const char *password)
{
    rtsp_auth a = {};
    strcpy(a.user, user);
    strcpy(a.password, password);
    a.hash = rtsp_hash;
    return a;
}

bool challenge(rtsp_auth *a, const std::string &headers)
{
    static std::string text;
    text = "RTSP/1.0 401 Unauthorized\r\nCSeq: 2\r\n" + headers + "\r\n";
    rtsp_item item;
    size_t used;
    REQUIRE(rtsp_decode((const uint8_t *)text.data(), text.size(), &item, &used) == 0);
    return rtsp_auth_challenge(a, &item);
}

std::string line(rtsp_auth *a, const char *method, const char *uri)
{
    char out[RTSP_AUTH_MAX_LINE];
    rtsp_auth_line(a, method, uri, 0x0a4f113b, out);
    return out;
}
} // namespace

TEST_CASE("Digest: the example of RFC 2617, 3.5")
{
    rtsp_auth a = someone("Mufasa", "Circle Of Life");
    CHECK(line(&a, "GET", "/dir/index.html") == ""); // nobody asked
    REQUIRE(challenge(&a, "WWW-Authenticate: Digest realm=\"testrealm@host.com\", "
                          "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", "
                          "opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"\r\n"));
    // Without qop (RFC 2069):
    // MD5("939e7578ed9e3c518a452acee763bce9:dcd9...:39aff3a2bab6126f332b942af96d3366")
    CHECK(line(&a, "GET", "/dir/index.html") ==
          "Authorization: Digest username=\"Mufasa\", realm=\"testrealm@host.com\", "
          "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", uri=\"/dir/index.html\", "
          "response=\"670fd8c2df070c60b045671b8b24ff02\", "
          "opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"\r\n");
    rtsp_auth q = someone("Mufasa", "Circle Of Life");
    REQUIRE(challenge(&q,
                      "WWW-Authenticate: Digest realm=\"testrealm@host.com\",qop=\"auth,auth-int\","
                      "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"\r\n"));
    std::string first = line(&q, "GET", "/dir/index.html");
    CHECK(first.find("qop=auth, nc=00000001, cnonce=\"0a4f113b\"") != std::string::npos);
    CHECK(first.find("response=\"6629fae49393a05397450978507c4ef1\"") !=
          std::string::npos); // as printed
    CHECK(line(&q, "GET", "/dir/index.html").find("nc=00000002") != std::string::npos);
}

TEST_CASE("Basic, and the choice among several challenges")
{
    rtsp_auth a = someone("Aladdin", "open sesame"); // RFC 2617, 2
    REQUIRE(challenge(&a, "WWW-Authenticate: Basic realm=\"WallyWorld\"\r\n"));
    CHECK(line(&a, "DESCRIBE", "rtsp://h/x") ==
          "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n");
    for (const auto &[user, line_sent] :
         {std::pair("u", "dTpw"), {"us", "dXM6cA=="}, {"use", "dXNlOnA="}}) {
        rtsp_auth padded = someone(user, "p"); // 0, 2 and 1 characters of padding
        REQUIRE(challenge(&padded, "WWW-Authenticate: Basic\r\n"));
        CHECK(line(&padded, "DESCRIBE", "rtsp://h/x") ==
              std::string("Authorization: Basic ") + line_sent + "\r\n");
    }
    for (const char *order :
         {"WWW-Authenticate: Basic realm=\"r\"\r\n"
          "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n",
          "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"
          "WWW-Authenticate: Basic realm=\"r\"\r\n",
          "WWW-Authenticate: Basic realm=\"a, Digest b\", Digest realm=\"r\", nonce=\"n\"\r\n",
          "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\",Basic realm=\"r\"\r\n",
          "WWW-Authenticate: Digest realm=\"r\", nonce=\"x\", algorithm=SHA-512-256\r\n"
          "WWW-Authenticate: digest nonce=n , realm=r,algorithm=md5\r\n"}) {
        rtsp_auth both = someone("u", "p");
        CHECK(challenge(&both, order));
        CHECK(both.scheme == rtsp_auth::RTSP_AUTH_DIGEST);
        CHECK(std::string(both.nonce) == "n");
    }
}

TEST_CASE("Digest with SHA-256: the example of RFC 7616, 3.9.1, with a cnonce of ours")
{
    const std::string rest = " realm=\"http-auth@example.org\", qop=\"auth, auth-int\", "
                             "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
                             "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"\r\n";
    const std::string sha = "WWW-Authenticate: Digest algorithm=SHA-256," + rest;
    const std::string md5 = "WWW-Authenticate: Digest algorithm=MD5," + rest;
    for (const std::string &order : {sha + md5, md5 + sha}) {
        rtsp_auth a = someone("Mufasa", "Circle of Life");
        REQUIRE(challenge(&a, order));
        char out[RTSP_AUTH_MAX_LINE];
        rtsp_auth_line(&a, "GET", "/dir/index.html", 0x0a4f113b, out);
        CHECK(std::string(out).find(", algorithm=SHA-256, qop=auth, nc=00000001, "
                                    "cnonce=\"0a4f113b\", opaque=\"FQhe") != std::string::npos);
        CHECK(
            std::string(out).find(
                "response=\"dfd7723f4b179285f90101503175f2079a1505eac857d92a48146b37eded4d74\"") !=
            std::string::npos);
    }
}

TEST_CASE("when another attempt is useless")
{
    const char *digest = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n";
    rtsp_auth nobody = {};
    CHECK_FALSE(challenge(&nobody, digest));
    rtsp_auth a = someone("u", "wrong");
    CHECK_FALSE(challenge(&a, ""));
    CHECK_FALSE(challenge(&a, "WWW-Authenticate: Negotiate\r\n"));
    CHECK_FALSE(challenge(&a, "WWW-Authenticate: Digest realm=\"r\"\r\n"));
    CHECK_FALSE(
        challenge(&a, "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"\r\n"));
    CHECK_FALSE(challenge(&a, "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\\\"\"\r\n"));
    CHECK_FALSE(
        challenge(&a, "WWW-Authenticate: Digest nonce=\"" + std::string(300, 'n') + "\"\r\n"));
    CHECK(challenge(&a, digest));
    CHECK_FALSE(challenge(&a, digest)); // it was refused
    CHECK(challenge(&a, "WWW-Authenticate: Digest realm=\"r\", nonce=\"m\", stale=TRUE\r\n"));
    CHECK(std::string(a.nonce) == "m");
}

TEST_CASE("a new nonce without `stale` is tried once")
{
    auto digest = [](const char *nonce) {
        return std::string("WWW-Authenticate: Digest realm=\"r\", nonce=\"") + nonce + "\"\r\n";
    };
    rtsp_auth a = someone("u", "p");
    CHECK(challenge(&a, digest("1")));
    CHECK(challenge(&a, digest("2")));
    CHECK_FALSE(challenge(&a, digest("3"))); // the password is wrong
    rtsp_auth b = someone("u", "p");
    CHECK(challenge(&b, digest("1")));
    for (const char *nonce : {"2", "3", "4"}) {
        rtsp_auth_accepted(&b);
        CHECK(challenge(&b, digest(nonce)));
        CHECK(std::string(b.nonce) == nonce);
    }
    CHECK_FALSE(challenge(&b, digest("4")));
}

TEST_CASE("a server that never accepts")
{
    const char *basic = "WWW-Authenticate: Basic realm=\"r\"\r\n";
    const char *digest = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n";
    const char *stale = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", stale=true\r\n";
    rtsp_auth a = someone("u", "p");
    CHECK(challenge(&a, basic));
    CHECK(challenge(&a, digest)); // a stronger scheme
    CHECK_FALSE(challenge(&a, basic));
    CHECK(a.scheme == rtsp_auth::RTSP_AUTH_DIGEST);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 8; i++)
            CHECK(challenge(&a, stale));
        CHECK_FALSE(challenge(&a, stale));
        rtsp_auth_accepted(&a); // nonces of a long session grow old one by one
    }
}
