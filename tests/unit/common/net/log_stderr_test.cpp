// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/log_stderr.h"

#include <catch2/catch.hpp>

#include <string>

#include "tests/support/child_process.hpp"

TEST_CASE("log_stderr: lines for people contain the level unless it is info")
{
    child_outcome o = child_run([] {
        log_to_stderr("weir-x", LOG_DEBUG);
        log_info("ready at %d", 8554);
        log_warn("slow");
        log_error("gone\nand away");
        log_debug("detail");
        return 0;
    });
    CHECK(o.out.empty());
    CHECK(o.err.find("weir-x: ready at 8554\nweir-x: warning: slow\nweir-x: error: gone") == 0);
    CHECK(o.err.find("weir-x: debug: detail\n") != std::string::npos);
}

TEST_CASE("log_stderr: the level decides what is written")
{
    child_outcome o = child_run([] {
        log_to_stderr("weir-x", LOG_WARN);
        log_info("information");
        log_debug("detail");
        log_warn("a warning");
        return 0;
    });
    CHECK(o.err == "weir-x: warning: a warning\n");
}

TEST_CASE("log_stderr: JSON lines with time, level, module and subject")
{
    child_outcome o = child_run([] {
        log_options options{};
        options.filter = log_all(LOG_INFO);
        options.json = true;
        log_to_stderr_as("weir-x", &options);
        log_of(LOG_INFO, "viewer", "7", "says \"hello\"");
        return 0;
    });
    // {"ts":"2026-01-31T12:00:00.000000Z",...
    CHECK(o.err.find(R"({"ts":"2)") == 0);
    CHECK(o.err.substr(33, 3) == R"(Z",)");
    CHECK(o.err.find(R"("level":"info")") != std::string::npos);
    CHECK(o.err.find(R"("module":"log")") != std::string::npos);
    CHECK(o.err.find(R"("viewer":"7")") != std::string::npos);
    CHECK(o.err.find(R"("says \"hello\"")") != std::string::npos);
    CHECK(o.err.back() == '\n');
}

TEST_CASE("log_stderr: repeated lines are summarised, and no count is lost at the end")
{
    child_outcome o = child_run([] {
        log_to_stderr("weir-x", LOG_INFO);
        for (int i = 0; i < 1000; i++)
            log_info("packet %d", i);
        log_stderr_tick(USEC_NEVER);
        return 0;
    });
    INFO(o.err);
    CHECK(o.err.find("weir-x: packet 0\n") == 0);
    CHECK(o.err.find("weir-x: packet 500\n") == std::string::npos);
    CHECK(o.err.find(" more like this: packet 999\n") != std::string::npos);
}
