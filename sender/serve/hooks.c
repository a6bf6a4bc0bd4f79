// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/serve/hooks.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/net/timer.h"

enum { VARIABLES = 4, SUBJECT_MAX = 512, REASON_MAX = 512 };

struct happening {
    enum event_kind kind;
    time_t at;
    char subject[SUBJECT_MAX];
    char reason[REASON_MAX];
};

// A command that runs; its handle frees it.
struct running {
    uv_process_t process; // first
    struct hooks *hooks;
    usec_t until;
    char word[64]; // the command's first
};

struct job {
    const struct hook_spec *hook;
    struct happening what;
};

struct hooks {
    uv_loop_t *loop;
    struct hook_specs specs;
    char commands[HOOKS_MAX][HOOK_TEXT]; // of the specs
    struct mailbox *mailbox;             // owned
    struct timer *timer;                 // owned: a command's time is over
    struct running *running[HOOKS_AT_ONCE];
    struct job waiting[HOOKS_WAITING]; // a ring
    int first, count;
    bool drops; // the log has said so
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards the following
static struct hooks *hooks_of_process;

// ---- From any thread

static void on_event(const struct event *e)
{
    struct happening *what = calloc(1, sizeof(*what));
    if (!what)
        return;
    what->kind = e->kind;
    what->at = time(NULL);
    snprintf(what->subject, sizeof(what->subject), "%s", e->subject);
    snprintf(what->reason, sizeof(what->reason), "%s", e->reason);
    pthread_mutex_lock(&lock);
    bool is_taken = hooks_of_process && mailbox_post(hooks_of_process->mailbox, what);
    pthread_mutex_unlock(&lock);
    if (!is_taken)
        free(what);
}

// ---- Commands

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void run_next(struct hooks *h);

static void arm(struct hooks *h)
{
    usec_t next = USEC_NEVER;
    for (int i = 0; i < HOOKS_AT_ONCE; i++)
        if (h->running[i] && h->running[i]->until < next)
            next = h->running[i]->until;
    timer_set(h->timer, next);
}

static void on_exit_of(uv_process_t *process, int64_t status, int signal)
{
    struct running *r = (struct running *)process;
    struct hooks *h = r->hooks;
    if (status || signal)
        log_warn("the command %s of --on has failed: %s %d", r->word,
                 signal ? "signal" : "exit code", signal ? signal : (int)status);
    for (int i = 0; i < HOOKS_AT_ONCE; i++)
        if (h->running[i] == r)
            h->running[i] = NULL;
    uv_close((uv_handle_t *)process, on_closed);
    run_next(h);
}

// Returns the environment of this process with the variables; the caller frees the list with
// free(). NULL: no memory.
static char **environment(char variables[VARIABLES][SUBJECT_MAX + 32])
{
    extern char **environ;
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    char **list = calloc(count + VARIABLES + 1, sizeof(*list));
    for (size_t i = 0; list && i < count; i++)
        if (strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0) // it is the server's own
            list[n++] = environ[i];
    for (int i = 0; list && i < VARIABLES; i++)
        list[n++] = variables[i];
    return list;
}

static void start(struct hooks *h, int place, const struct job *job, usec_t now)
{
    struct hook_command command;
    char variables[VARIABLES][SUBJECT_MAX + 32], at[32];
    struct tm utc;
    hook_command_read(&command, job->hook->command);
    strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&job->what.at, &utc));
    snprintf(variables[0], sizeof(variables[0]), "WEIR_EVENT=%s", event_name(job->what.kind));
    snprintf(variables[1], sizeof(variables[1]), "WEIR_SUBJECT=%s", job->what.subject);
    snprintf(variables[2], sizeof(variables[2]), "WEIR_REASON=%s", job->what.reason);
    snprintf(variables[3], sizeof(variables[3]), "WEIR_TIME=%s", at);
    char **env = environment(variables);
    struct running *r = env ? calloc(1, sizeof(*r)) : NULL;
    uv_stdio_container_t io[3] = {{.flags = UV_IGNORE},
                                  {.flags = UV_INHERIT_FD, .data.fd = 2},
                                  {.flags = UV_INHERIT_FD, .data.fd = 2}};
    uv_process_options_t options = {.exit_cb = on_exit_of,
                                    .file = command.words[0],
                                    .args = command.words,
                                    .env = env,
                                    .flags = UV_PROCESS_DETACHED, // a group, killed as one
                                    .stdio_count = 3,
                                    .stdio = io};
    if (r) {
        snprintf(r->word, sizeof(r->word), "%s", command.words[0]);
        r->hooks = h;
        r->until = now + HOOKS_TIME;
        int err = uv_spawn(h->loop, &r->process, &options);
        if (err) {
            log_warn("cannot run the command %s of --on: %s", command.words[0], uv_strerror(err));
            uv_close((uv_handle_t *)&r->process, on_closed);
        } else {
            uv_unref((uv_handle_t *)&r->process); // the server does not wait for it
            h->running[place] = r;
        }
    }
    free(env);
}

static void run_next(struct hooks *h)
{
    usec_t now = clock_now();
    for (int i = 0; i < HOOKS_AT_ONCE; i++) {
        while (!h->running[i] && h->count) {
            struct job *job = &h->waiting[h->first];
            h->first = (h->first + 1) % HOOKS_WAITING;
            h->count--;
            start(h, i, job, now);
        }
    }
    h->drops = h->drops && h->count == HOOKS_WAITING;
    arm(h);
}

static void on_time(void *ctx, usec_t now)
{
    struct hooks *h = ctx;
    for (int i = 0; i < HOOKS_AT_ONCE; i++) {
        struct running *r = h->running[i];
        if (!r || r->until > now)
            continue;
        log_warn("the command %s of --on is killed: it has run for %.0f s", r->word,
                 usec_to_sec(HOOKS_TIME));
        kill(-r->process.pid, SIGKILL);
        r->until = USEC_NEVER;
    }
    arm(h);
}

// ---- On the loop

static void on_item(void *ctx, void *item, usec_t now)
{
    (void)now;
    struct hooks *h = ctx;
    const struct happening *what = item;
    for (int i = 0; i < h->specs.count; i++) {
        if (h->specs.hooks[i].event != what->kind)
            continue;
        if (h->count == HOOKS_WAITING) {
            if (!h->drops)
                log_warn("more happens than the commands of --on keep up with: the newest events "
                         "are dropped");
            h->drops = true;
            continue;
        }
        struct job *job = &h->waiting[(h->first + h->count++) % HOOKS_WAITING];
        job->hook = &h->specs.hooks[i];
        job->what = *what;
    }
    free(item);
    run_next(h);
}

struct hooks *hooks_new(uv_loop_t *loop, const struct hook_specs *specs)
{
    struct hooks *h = calloc(1, sizeof(*h));
    if (h) {
        h->loop = loop;
        h->specs = *specs;
        for (int i = 0; i < specs->count; i++) {
            snprintf(h->commands[i], HOOK_TEXT, "%s", specs->hooks[i].command);
            h->specs.hooks[i].command = h->commands[i];
        }
        h->timer = timer_new(loop, on_time, h);
        h->mailbox = h->timer ? mailbox_new(loop, HOOKS_WAITING, on_item, free, h) : NULL;
    }
    if (h && h->mailbox) {
        pthread_mutex_lock(&lock);
        hooks_of_process = h;
        pthread_mutex_unlock(&lock);
        event_to(on_event);
        return h;
    }
    log_error("cannot run the commands of --on: out of memory");
    if (h)
        timer_free(h->timer);
    free(h);
    return NULL;
}

void hooks_free(struct hooks *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&lock); // threads may note events until the process ends
    hooks_of_process = NULL;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < HOOKS_AT_ONCE; i++)
        if (h->running[i])
            uv_close((uv_handle_t *)&h->running[i]->process, on_closed);
    mailbox_free(h->mailbox);
    timer_free(h->timer);
    free(h);
}
