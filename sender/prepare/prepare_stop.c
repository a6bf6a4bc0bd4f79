// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards `task`
static char task[512];
static bool on_terminal; // set before the thread starts
static sigset_t signals; // the same

// The encoders may need many seconds for the groups in work. What they have not finished is little,
// so the program does not wait for them.
static void *wait_for_signal(void *arg)
{
    int number;
    (void)arg;
    if (sigwait(&signals, &number) != 0)
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
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&signals, SIGHUP);
    // An ignored signal would not wake sigwait: shells ignore SIGINT in background processes.
    signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0)
        return ERR_NO_MEMORY;
    pthread_detach(thread);
    return 0;
}

void prepare_stop_describe(const char *text)
{
    pthread_mutex_lock(&lock);
    snprintf(task, sizeof(task), "%s", text);
    pthread_mutex_unlock(&lock);
}
