// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "common/base/err.h"
#include "common/net/tls_trust.h"
#include "tests/support/tls_pair.hpp"
#include "tests/unit/temp_folder.hpp"

using test::tls_pair;
using test::trust_of;

// Returns the error of a client that connects; `reason` gets its words.
static int connect_to(const test::tls_keys &keys, const tls_trust &trust, std::string *reason)
{
    tls_pair p(keys, trust);
    p.shake();
    *reason = p.client.reason();
    CHECK(p.client.ready() == (p.client.err == 0));
    return p.client.err;
}

TEST_CASE("tls_trust: the first key is remembered, a changed one refused with both fingerprints")
{
    temp_folder folder;
    const std::string file = folder.path + "/known_hosts";
    test::tls_keys first, second;
    std::string why;
    CHECK(connect_to(first, trust_of("cam.test", "", file), &why) == 0);
    struct stat st;
    REQUIRE(stat(file.c_str(), &st) == 0);
    CHECK((st.st_mode & 0777) == 0600);
    CHECK(connect_to(first, trust_of("cam.test", "", file), &why) == 0);

    CHECK(connect_to(second, trust_of("cam.test", "", file), &why) == ERR_UNTRUSTED);
    CHECK_THAT(why, Catch::Contains(first.pin()) && Catch::Contains(second.pin()) &&
                        Catch::Contains(file));
    CHECK(connect_to(second, trust_of("cam.test", "", file), &why) == ERR_UNTRUSTED);
    CHECK(connect_to(first, trust_of("cam.test", "", file), &why) == 0);

    // Another host, another port: each has its own key.
    CHECK(connect_to(second, trust_of("other.test", "", file), &why) == 0);
    tls_trust port = trust_of("cam.test", "", file);
    port.port = 8555;
    CHECK(connect_to(second, port, &why) == 0);
    CHECK(connect_to(first, trust_of("other.test", "", file), &why) == ERR_UNTRUSTED);
    CHECK_THAT(why, Catch::Contains("it was " + second.pin()));
}

TEST_CASE("tls_trust: a pin counts alone, and stores nothing")
{
    temp_folder folder;
    const std::string file = folder.path + "/known_hosts";
    test::tls_keys first, second;
    std::string why;
    CHECK(connect_to(first, trust_of("cam.test", "", file), &why) == 0);
    CHECK(connect_to(second, trust_of("cam.test", second.pin(), file), &why) == 0);
    CHECK(connect_to(first, trust_of("cam.test", second.pin(), file), &why) == ERR_UNTRUSTED);
    CHECK(connect_to(first, trust_of("cam.test", "", file), &why) == 0);
}

TEST_CASE("tls_trust: without a file, or with one that cannot be written, nothing is trusted")
{
    test::tls_keys keys;
    std::string why;
    CHECK(connect_to(keys, trust_of("cam.test", ""), &why) == ERR_UNTRUSTED);
    CHECK_THAT(why, Catch::Contains("pin=" + keys.pin()));
    CHECK(connect_to(keys, trust_of("cam.test", "", "/no/such/folder/known_hosts"), &why) ==
          ERR_UNTRUSTED);
    CHECK_THAT(why, Catch::Contains("pin=" + keys.pin()));
}
