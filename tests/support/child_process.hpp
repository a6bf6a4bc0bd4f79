// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a function in a child process, for tests of code that writes to the standard streams or ends
// the program.
#ifndef WEIR_TESTS_CHILD_PROCESS_HPP
#define WEIR_TESTS_CHILD_PROCESS_HPP

#include <catch2/catch.hpp>

#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

struct child_outcome {
    int code;
    std::string out, err;
};

inline std::string child_read_all(int fd)
{
    std::string all;
    char part[256];
    for (ssize_t n; (n = read(fd, part, sizeof(part))) > 0;)
        all.append(part, static_cast<size_t>(n));
    close(fd);
    return all;
}

// Runs `main` in a child process and captures its stdout and stderr through pipes. Each output must
// fit into a pipe's buffer.
template <typename Main> child_outcome child_run(Main main)
{
    int out[2], err[2];
    REQUIRE(pipe(out) == 0);
    REQUIRE(pipe(err) == 0);
    fflush(nullptr);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        for (int fd : {out[0], out[1], err[0], err[1]})
            close(fd);
        int code = main();
        fflush(nullptr);
        _exit(code);
    }
    close(out[1]);
    close(err[1]);
    child_outcome o;
    int status;
    o.out = child_read_all(out[0]);
    o.err = child_read_all(err[0]);
    REQUIRE(waitpid(child, &status, 0) == child);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return o;
}

#endif
