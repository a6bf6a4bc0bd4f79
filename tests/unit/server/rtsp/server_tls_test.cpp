// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "common/base/err.h"
#include "common/net/tls_credentials.h"
#include "common/net/udp_socket.h"
#include "server/rtsp/server_tls.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

sockaddr_storage at(const char *text)
{
    sockaddr_storage out;
    REQUIRE(sockaddr_parse(text, &out) == 0);
    return out;
}

// Returns the pin; "": no credentials.
std::string open(const char *listen, const std::string &dir, int expected = 0,
                 const char *certificate = nullptr, const char *key = nullptr)
{
    const sockaddr_storage address = at(listen);
    server_tls_config config{};
    config.listen = &address;
    config.state_dir = dir.empty() ? nullptr : dir.c_str();
    config.certificate = certificate;
    config.key = key;
    tls_credentials *c = nullptr;
    CHECK(server_tls_open(&config, &c) == expected);
    const std::string pin = c ? tls_credentials_pin(c) : "";
    tls_credentials_free(c);
    return pin;
}

} // namespace

TEST_CASE("server_tls: the key is made once; the certificate follows the addresses")
{
    temp_folder folder;
    const std::string dir = folder / "state";
    const std::string pin = open("192.0.2.1:8554", dir);
    CHECK(pin.size() == TLS_PIN_TEXT - 1);
    struct stat st;
    for (const char *name : {"tls-key.pem", "tls-cert.pem"}) {
        REQUIRE(stat((dir + "/" + name).c_str(), &st) == 0);
        CHECK((st.st_mode & 0777) == 0600);
    }
    const std::string first = folder.read("state/tls-cert.pem");
    CHECK(open("192.0.2.1:9000", dir) == pin);
    CHECK(folder.read("state/tls-cert.pem") == first);
    CHECK(open("192.0.2.2:8554", dir) == pin);
    CHECK(folder.read("state/tls-cert.pem") != first);
    CHECK(open("192.0.2.1:8554", folder / "other") != pin);
}

TEST_CASE("server_tls: on the loopback a key is used, but none is made unasked")
{
    temp_folder folder;
    REQUIRE(setenv("STATE_DIRECTORY", (folder / "state").c_str(), 1) == 0);
    CHECK(open("127.0.0.1:8554", "") == "");
    CHECK(open("[::1]:8554", "") == "");
    struct stat st;
    CHECK(stat((folder / "state").c_str(), &st) != 0);
    const std::string pin = open("192.0.2.1:8554", "");
    CHECK(pin != "");
    CHECK(open("127.0.0.1:8554", "") == pin);
    unsetenv("STATE_DIRECTORY");
    CHECK(open("127.0.0.1:8554", folder / "asked") != "");
}

TEST_CASE("server_tls: files of the user; what cannot be used is an error")
{
    temp_folder folder;
    const std::string dir = folder / "state";
    const std::string pin = open("192.0.2.1:8554", dir);
    (void)open("192.0.2.1:8554", folder / "other");
    const std::string key = dir + "/tls-key.pem", certificate = dir + "/tls-cert.pem";
    CHECK(open("127.0.0.1:1", "", 0, certificate.c_str(), key.c_str()) == pin);
    const std::string wrong = folder / "other/tls-key.pem";
    CHECK(open("127.0.0.1:1", "", ERR_UNTRUSTED, certificate.c_str(), wrong.c_str()) == "");
    CHECK(open("127.0.0.1:1", "", ERR_IO, "/no/such/file", key.c_str()) == "");
    std::ofstream(key) << "no key";
    CHECK(open("192.0.2.1:8554", dir, ERR_IO) == "");
}

TEST_CASE("server_url: what a viewer is given")
{
    temp_folder folder;
    const std::string dir = folder / "state";
    const sockaddr_storage address = at("192.0.2.1:8554");
    server_tls_config config{&address, nullptr, nullptr, dir.c_str(), false};
    tls_credentials *c = nullptr;
    REQUIRE(server_tls_open(&config, &c) == 0);
    const std::string pin = tls_credentials_pin(c);
    char out[512];
    server_url(&address, "192.0.2.1:8554", "/live", "", nullptr, out, sizeof(out));
    CHECK(std::string(out) == "rtsp://192.0.2.1:8554/live");
    server_url(&address, "192.0.2.1:8554", "/live", "K", nullptr, out, sizeof(out));
    CHECK(std::string(out) == "rtsp://192.0.2.1:8554/live?key=K");
    server_url(&address, "192.0.2.1:8554", "/live", "", c, out, sizeof(out));
    CHECK(std::string(out) == "rtsps://192.0.2.1:8554/live?pin=" + pin);
    server_url(&address, "192.0.2.1:8554", "/live", "K", c, out, sizeof(out));
    CHECK(std::string(out) == "rtsps://192.0.2.1:8554/live?key=K&pin=" + pin);
    tls_credentials_free(c);
}
