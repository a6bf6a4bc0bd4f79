// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/library_log.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "lib/weir.h"

namespace
{

using messages = std::vector<std::pair<int, std::string>>;

void collect(void *ctx, weir_log_level level, const char *text)
{
    static_cast<messages *>(ctx)->push_back({level, text});
}

} // namespace

TEST_CASE("library log: messages up to a level reach the program")
{
    messages got;
    weir_log_to(collect, &got, WEIR_LOG_WARN);
    log_error("one %d", 1);
    log_warn("two");
    log_info("three");
    CHECK(got == messages{{WEIR_LOG_ERROR, "one 1"}, {WEIR_LOG_WARN, "two"}});
    weir_log_to(nullptr, nullptr, WEIR_LOG_DEBUG);
    log_error("four");
    CHECK(got.size() == 2);
}

TEST_CASE("library log: the first error while an object is opened is kept")
{
    messages got;
    weir_log_to(collect, &got, WEIR_LOG_ERROR);
    char error[8] = "";
    library_log_capture(error, sizeof(error));
    log_warn("not this");
    log_error("first error");
    log_error("second");
    library_log_release();
    log_error("third");
    CHECK(std::string(error) == "first e");
    CHECK(got.size() == 3);
    weir_log_to(nullptr, nullptr, WEIR_LOG_ERROR);

    error[0] = '\0';
    library_log_capture(error, sizeof(error)); // without a receiver, too
    log_error("fourth");
    library_log_release();
    CHECK(std::string(error) == "fourth");
    library_log_capture(error, 0);
    log_error("fifth");
    library_log_release();
    CHECK(std::string(error) == "fourth");
}
