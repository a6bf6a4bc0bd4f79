// SPDX-License-Identifier: GPL-2.0-or-later
// weir-link: constructs, starts and stops the emulator.
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/program/program_main.h"
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

static int run(void *ctx)
{
    const struct link_options *options = ctx;
    static struct emulator emulator;
    if (emulator_open(&emulator, options) != 0)
        return EXIT_FAILURE;
    be_punctual();
    log_info("ready (seed %llu)", (unsigned long long)options->seed);
    int err = emulator_run(&emulator);
    if (emulator_close(&emulator) != 0 && err == 0)
        err = ERR_IO;
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static struct link_options options;
    return program_main(
        &(struct program_parts){
            .name = "weir-link", .options = &options, .parse = link_options_parse, .run = run},
        argc, argv);
}
