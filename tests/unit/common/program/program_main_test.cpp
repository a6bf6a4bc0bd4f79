// SPDX-License-Identifier: GPL-2.0-or-later
// Runs program_main() in a child process: it reports through exit code, stdout and stderr.
#include "common/program/program_main.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "tests/support/child_process.hpp"

namespace
{

struct options {
    log_options log;
    std::string seen; // what was called, in order
};

// "run", "done", "bad" and "logged" make the parser return that result.
options_result parse(int argc, char **argv, void *to, FILE *out, char *error, size_t cap)
{
    auto *o = static_cast<options *>(to);
    o->seen += "parse ";
    o->log.filter = log_all(LOG_WARN);
    std::string word = argc > 1 ? argv[1] : "";
    if (word == "run")
        return OPTIONS_RUN;
    if (word == "done") {
        fputs("help\n", out);
        return OPTIONS_DONE;
    }
    if (word == "bad")
        snprintf(error, cap, "--x expects y");
    else
        log_error("cannot read the file");
    return OPTIONS_BAD;
}

int run_it(void *from)
{
    auto *o = static_cast<options *>(from);
    o->seen += "run ";
    log_info("information");
    log_warn("a warning");
    return 7;
}

void destroy(void *from)
{
    auto *o = static_cast<options *>(from);
    printf("%sdestroy", o->seen.c_str());
}

child_outcome run_program(const char *word, bool has_log)
{
    return child_run([=] {
        options o{};
        program_parts p{};
        p.name = "weir-x";
        p.options = &o;
        p.log = has_log ? &o.log : nullptr;
        p.parse = parse;
        p.run = run_it;
        p.destroy = destroy;
        std::string name = "ignored", argument = word;
        char *argv[] = {name.data(), argument.data(), nullptr};
        return program_main(&p, 2, argv);
    });
}

} // namespace

TEST_CASE("program_main: the parser's result decides")
{
    struct {
        const char *word;
        bool has_log;
        int code;
        const char *out, *err;
    } const table[] = {
        {"run", true, 7, "parse run destroy", "weir-x: warning: a warning\n"},
        {"run", false, 7, "parse run destroy", "weir-x: information\nweir-x: warning: a warning\n"},
        {"done", true, 0, "help\nparse destroy", ""},
        {"bad", true, 2, "parse destroy", "weir-x: --x expects y\nTry 'weir-x --help'.\n"},
        {"logged", false, 2, "parse destroy", "weir-x: error: cannot read the file\n"},
    };
    for (const auto &row : table) {
        CAPTURE(row.word, row.has_log);
        child_outcome o = run_program(row.word, row.has_log);
        CHECK(o.code == row.code);
        CHECK(o.out == row.out);
        CHECK(o.err == row.err);
    }
}

TEST_CASE("program_main: closed standard streams are opened, and SIGPIPE is ignored")
{
    child_outcome o = child_run([] {
        int report = dup(STDOUT_FILENO); // behind the standard streams
        for (int fd = 0; fd <= 2; fd++)
            close(fd);
        static int code;
        code = 0;
        program_parts p{};
        p.name = "weir-x";
        p.parse = [](int, char **, void *, FILE *, char *, size_t) { return OPTIONS_RUN; };
        p.run = [](void *) {
            int next = dup(0); // -1 if stdin is closed, else no number of a standard stream
            struct sigaction now;
            return sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_IGN ? next : -2;
        };
        code = program_main(&p, 0, nullptr);
        std::string text = std::to_string(code > 2);
        return write(report, text.data(), text.size()) == 1 ? 0 : 1;
    });
    CHECK(o.code == 0);
    CHECK(o.out == "1");
}

TEST_CASE("program_close_loop: an open handle is an error")
{
    uv_loop_t loop;
    uv_timer_t timer;
    REQUIRE(uv_loop_init(&loop) == 0);
    uv_timer_init(&loop, &timer);
    CHECK(program_close_loop(&loop, 0) == EXIT_FAILURE);
    uv_close(reinterpret_cast<uv_handle_t *>(&timer), nullptr);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(program_close_loop(&loop, 3) == 3);
}
