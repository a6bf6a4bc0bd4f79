// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/program_main.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// Opens /dev/null for each of stdin, stdout and stderr that is closed. Otherwise the next file or
// socket would get its number: the log would be written to it, and libuv aborts a program that
// closes it.
static void open_standard_streams(void)
{
    int fd; // the lowest free descriptor
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
        continue;
    if (fd >= 0)
        close(fd);
}

static int parse_and_run(const struct program_parts *p, int argc, char **argv)
{
    char error[1024] = "";
    switch (p->parse(argc, argv, p->options, stdout, error, sizeof(error))) {
    case OPTIONS_DONE:
        return EXIT_SUCCESS;
    case OPTIONS_BAD:
        if (*error)
            fprintf(stderr, "%s: %s\nTry '%s --help'.\n", p->name, error, p->name);
        return PROGRAM_WRONG_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (p->log)
        log_to_stderr_as(p->name, p->log);
    return p->run(p->options);
}

int program_main(const struct program_parts *p, int argc, char **argv)
{
    open_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    if (!p->log)
        log_to_stderr(p->name, LOG_INFO); // before the parser, which may log a file that it reads
    int code = parse_and_run(p, argc, argv);
    if (p->destroy)
        p->destroy(p->options);
    return code;
}

int program_close_loop(uv_loop_t *loop, int code)
{
    if (uv_loop_close(loop) == 0)
        return code;
    log_error("internal error: handles were still open at the end");
    return EXIT_FAILURE;
}
