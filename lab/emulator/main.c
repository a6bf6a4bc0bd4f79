// SPDX-License-Identifier: GPL-2.0-or-later
// weir-link: constructs, starts and stops the emulator.
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/log_stderr.h"
#include "common/program/standard_streams.h"
#include "lab/emulator/emulator.h"

// Each setting is optional: without the privilege, wake-ups are later on a busy machine.
static void be_punctual(void)
{
    struct sched_param lowest = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0 && setpriority(PRIO_PROCESS, 0, -20) != 0)
        log_debug("cannot raise the priority; wake-ups may be late on a busy machine");
    // Does not lock future memory: beyond the limit of locked memory an allocation would fail.
    if (mlockall(MCL_CURRENT) != 0)
        log_debug("cannot lock the memory; wake-ups may be late");
}

int main(int argc, char **argv)
{
    standard_streams_open();
    static struct link_options options;
    static struct emulator emulator;
    switch (link_options_parse(argc, argv, &options, stdout, stderr)) {
    case OPTIONS_DONE:
        return EXIT_SUCCESS;
    case OPTIONS_BAD:
        return 2;
    case OPTIONS_RUN:
        break;
    }
    signal(SIGPIPE, SIG_IGN);
    log_to_stderr("weir-link", LOG_INFO);
    if (emulator_open(&emulator, &options) != 0)
        return EXIT_FAILURE;
    be_punctual();
    log_info("ready (seed %llu)", (unsigned long long)options.seed);
    int err = emulator_run(&emulator);
    if (emulator_close(&emulator) != 0 && err == 0)
        err = ERR_IO;
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
