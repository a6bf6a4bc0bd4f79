// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_stop.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards `task`
static char task[512];
static bool on_terminal; // set before the thread starts
static int ends[2];      // of a pipe, for the number of the signal; the same

static void on_signal(int number)
{
    char byte = (char)number;
    if (write(ends[1], &byte, 1) != 1)
        _exit(128 + number);
}

// The encoders may need many seconds for the groups in work. What they have not finished is little,
// so the program does not wait for them.
static void *wait_for_signal(void *arg)
{
    char number;
    (void)arg;
    if (read(ends[0], &number, 1) != 1)
        return NULL;
    pthread_mutex_lock(&lock); // until the end: nothing more is described
    if (on_terminal)
        fputc('\n', stderr);
    log_warn("interrupted%s%s: the same command continues here (finished parts are kept; no "
             "incomplete film is served)",
             *task ? " at " : "", task);
    _exit(128 + number);
}

int prepare_stop_watch(bool terminal)
{
    pthread_t thread;
    struct sigaction hangup;
    on_terminal = terminal;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ERR_NO_MEMORY;
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0)
        return ERR_NO_MEMORY;
    pthread_detach(thread);
    // Also if SIGINT is ignored: shells ignore it in background processes. A second signal ends the
    // program at once.
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &act, NULL);
    return 0;
}

void prepare_stop_describe(const char *text)
{
    pthread_mutex_lock(&lock);
    snprintf(task, sizeof(task), "%s", text);
    pthread_mutex_unlock(&lock);
}
