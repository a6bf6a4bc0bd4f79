// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log_budget.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

namespace
{

// Returns the texts that were written of `count` messages.
std::vector<std::string> write(log_budget *b, int count, log_level level = LOG_WARN,
                               const std::string &message = "lost")
{
    std::vector<std::string> out;
    for (int i = 0; i < count; i++) {
        std::vector<char> text(LOG_TEXT);
        std::strcpy(text.data(), message.c_str());
        if (log_budget_take(b, level, text.data()))
            out.push_back(text.data());
    }
    return out;
}

std::vector<std::string> seen;

void keep(const log_entry *e)
{
    seen.push_back(e->text);
}

} // namespace

TEST_CASE("log_budget: so many lines, then one every five minutes")
{
    log_budget b;
    log_budget_init(&b, 7);
    std::vector<std::string> first = write(&b, 100);
    REQUIRE(first.size() == LOG_BUDGET_LINES);
    CHECK(first[0] == "lost");
    CHECK(first.back() == "lost (further messages are left out for some minutes)");
    log_budget_advance(&b, 6 + LOG_BUDGET_EVERY);
    CHECK(write(&b, 1).empty());
    log_budget_advance(&b, 7 + LOG_BUDGET_EVERY);
    CHECK(write(&b, 5) ==
          std::vector<std::string>{"lost (81 messages were left out before) (further "
                                   "messages are left out for some minutes)"});
    log_budget_advance(&b, 7 + 3 * LOG_BUDGET_EVERY);
    CHECK(write(&b, 9).size() == 2);
    log_budget_advance(&b, 7 + 1000 * LOG_BUDGET_EVERY);
    CHECK(write(&b, 100).size() == LOG_BUDGET_LINES);
    CHECK(write(&b, 100, LOG_DEBUG).size() == 100);
}

TEST_CASE("log_budget: the remarks fit behind the longest message")
{
    log_budget b;
    log_budget_init(&b, 0);
    const std::string longest(LOG_TEXT - 1, 'x');
    CHECK(write(&b, 100, LOG_WARN, longest) == std::vector<std::string>(LOG_BUDGET_LINES, longest));
    log_budget_advance(&b, LOG_BUDGET_EVERY);
    CHECK(write(&b, 1, LOG_WARN, longest) == std::vector<std::string>{longest});
}

TEST_CASE("log_budget: of one thread")
{
    log_budget b;
    log_budget_init(&b, 0);
    seen.clear();
    log_to(keep, log_all(LOG_INFO));
    log_bound(&b);
    for (int i = 0; i < 50; i++)
        log_info("%d", i);
    log_bound(nullptr);
    CHECK(seen.size() == LOG_BUDGET_LINES);
    log_info("free again");
    CHECK(seen.back() == "free again");
    log_to(nullptr, log_all(LOG_ERROR));
}
