// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/option_words.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <getopt.h>
#include <memory>
#include <string>

#include "sender/options/options.h"

namespace
{
using words = std::unique_ptr<option_words, decltype(&option_words_free)>;

// Returns the fault; "": there is none.
std::string fault(const char *const *given, const char *last = nullptr, options *out = nullptr)
{
    words w(option_words_new("weir-send", given, last), option_words_free);
    REQUIRE(w);
    options o;
    char error[256] = "";
    bool ok = option_words_parse(w.get(), options_parse, &o, error, sizeof(error));
    CHECK(ok == (*error == '\0'));
    if (ok && out)
        *out = o;
    if (ok)
        options_destroy(&o);
    return error;
}
} // namespace

TEST_CASE("option_words: options are those of the command line")
{
    CHECK(fault(nullptr) == "");
    const char *const good[] = {"--max-viewers", "7", "--loop", nullptr};
    options o;
    CHECK(fault(good, "test:", &o) == "");
    CHECK(o.max_viewers == 7);
    CHECK(o.loop);
    CHECK(o.given_count == 1);
}

TEST_CASE("option_words: faults name the option; what prints is refused")
{
    const char *const unknown[] = {"--bitrate", "3", nullptr};
    CHECK(fault(unknown).find("'--bitrate'") != std::string::npos);
    const char *const value[] = {"--timeout", "ages", nullptr};
    CHECK(fault(value).find("--timeout") != std::string::npos);
    const char *const help[] = {"--help", nullptr};
    CHECK(fault(help).find("--help") != std::string::npos);
}

TEST_CASE("option_words: a program's own getopt() keeps its place")
{
    optind = 3;
    opterr = 1;
    CHECK(fault(nullptr) == "");
    CHECK(optind == 3);
    CHECK(opterr == 1);
    optind = 1;
}
