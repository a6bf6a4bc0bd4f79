// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/stop_signals.h"

#include <signal.h>
#include <stdbool.h>

static const struct {
    int number;
    const char *name;
} signals[STOP_SIGNALS] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

static void on_signal(uv_signal_t *handle, int number)
{
    struct stop_signals *s = handle->data;
    const char *name = "";
    if (number == SIGHUP && s->on_hangup) {
        s->on_hangup(s->ctx);
        return;
    }
    for (int i = 0; i < STOP_SIGNALS; i++) {
        uv_signal_stop(&s->handles[i]);
        if (signals[i].number == number)
            name = signals[i].name;
    }
    s->fn(s->ctx, name);
}

// SIGINT is handled even if it is ignored: shells ignore it for processes that a script starts in
// the background.
static bool is_unwanted(int number)
{
    struct sigaction now;
    return number == SIGHUP && sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void stop_signals_watch(struct stop_signals *s, uv_loop_t *loop, stop_signals_fn *fn, void *ctx)
{
    s->fn = fn;
    s->on_hangup = NULL;
    s->ctx = ctx;
    for (int i = 0; i < STOP_SIGNALS; i++) {
        uv_signal_init(loop, &s->handles[i]);
        s->handles[i].data = s;
        if (!is_unwanted(signals[i].number))
            uv_signal_start(&s->handles[i], on_signal, signals[i].number);
    }
}

static volatile sig_atomic_t is_held; // a SIGHUP was held back

static void hold(int number)
{
    (void)number;
    is_held = 1;
}

// A mask would not do: libraries start threads before main.
void stop_signals_hold_hangup(void)
{
    struct sigaction action = {.sa_handler = hold, .sa_flags = SA_RESTART};
    is_held = 0;
    if (!is_unwanted(SIGHUP))
        sigaction(SIGHUP, &action, NULL);
}

void stop_signals_release_hangup(void)
{
    struct sigaction now;
    if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == hold)
        signal(SIGHUP, SIG_DFL);
    if (is_held)
        raise(SIGHUP);
    is_held = 0;
}

void stop_signals_on_hangup(struct stop_signals *s, void (*fn)(void *ctx))
{
    s->on_hangup = fn;
}

void stop_signals_close(struct stop_signals *s)
{
    for (int i = 0; i < STOP_SIGNALS; i++)
        uv_close((uv_handle_t *)&s->handles[i], NULL);
}
