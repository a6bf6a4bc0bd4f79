// SPDX-License-Identifier: GPL-2.0-or-later
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

TEST_CASE("weir log: messages up to a level reach the program")
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
