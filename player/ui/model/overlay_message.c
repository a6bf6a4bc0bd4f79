// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/overlay_message.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static void __attribute__((format(printf, 2, 3)))
say(struct overlay_message *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out->text, sizeof(out->text), format, args);
    va_end(args);
}

static void because(struct overlay_message *out, const char *cause)
{
    snprintf(out->cause, sizeof(out->cause), "%s", cause);
}

static const char *stall_words(enum stall_cause cause)
{
    static const char *const words[STALL_CAUSES] = {
        [STALL_NETWORK] = "packets were lost on the way",
        [STALL_TRANSPORT] = "the network is slower than this level",
        [STALL_OUTAGE] = "nothing came through for a while",
        [STALL_SENDER] = "the sender sent nothing",
        [STALL_DISPLAY] = "this machine is too slow",
        [STALL_LOST] = "the server was lost",
    };
    return words[cause];
}

static int seconds(usec_t t)
{
    return (int)((t + USEC_PER_SEC - 1) / USEC_PER_SEC);
}

static void buffering(const struct overlay_message_facts *f, struct overlay_message *out)
{
    out->done = 0;
    if (f->buffer_target > 0)
        out->done = fmin(1, (double)usec_max(0, f->buffered) / (double)f->buffer_target);
    say(out, "Buffering %.0f %%", floor(out->done * 100));
}

static void stalled(const struct overlay_message_facts *f, struct overlay_message *out)
{
    if (f->origin_away >= 0 && f->silence >= OVERLAY_MESSAGE_SILENCE) {
        say(out, "The proxy has lost its origin: it tries again (%d s)",
            (int)(f->origin_away / USEC_PER_SEC));
        because(out, "the server behind the proxy ended, or cannot be reached");
        return;
    }
    if (f->source_away >= 0 && f->silence >= OVERLAY_MESSAGE_SILENCE) {
        say(out, "The source is away: the server tries again (%d s)",
            (int)(f->source_away / USEC_PER_SEC));
        because(out, f->source_why);
        return;
    }
    if (f->silence >= OVERLAY_MESSAGE_SILENCE)
        say(out, "The %s stalls: waiting for data (%d s)",
            f->cause == STALL_SENDER ? "sender" : "network", (int)(f->silence / USEC_PER_SEC));
    else
        buffering(f, out);
    bool is_slow = f->cause == STALL_SENDER && f->sender_is_slow;
    because(out, is_slow ? "the sender's machine is too slow" : stall_words(f->cause));
}

static void playing(const struct overlay_message_facts *f, struct overlay_message *out)
{
    if (f->paused) // the osd shows a sign
        return;
    if (f->mode == PLAYOUT_BUFFERING)
        buffering(f, out);
    else if (f->mode == PLAYOUT_REBUFFERING)
        stalled(f, out);
}

void overlay_message_make(const struct overlay_message_facts *f, struct overlay_message *out)
{
    *out = (struct overlay_message){.done = NAN};
    if (f->link == LINK_CONNECTING) {
        say(out, "Connecting to %.60s", f->host);
        return;
    }
    if (f->link == LINK_PLAYING) {
        if (f->described)
            playing(f, out);
        return;
    }
    if (f->link == LINK_STOPPED && f->chooses && !*f->reason) {
        say(out, "Choose what to watch (key c)");
        return;
    }
    if (f->link == LINK_STOPPED) {
        say(out, *f->reason ? "Cannot open %.64s" : "Stopped: %.64s", f->other);
        because(out, f->reason);
        out->retry = *f->reason;
        return;
    }
    if (f->moves)
        return;
    if (f->link == LINK_CHANGING) {
        say(out, "Changing to %.64s", f->other);
        return;
    }
    because(out, f->reason);
    if (f->paused)
        say(out, "Paused; the server is lost");
    else if (f->link == LINK_TRYING || f->next <= 0)
        say(out, "Server lost: connecting (try %d)", f->tries);
    else {
        say(out, "Server lost: connecting again in %d s (try %d)", seconds(f->next), f->tries);
        out->retry = true;
    }
}

void overlay_message_ended(const char *error, struct overlay_message *out)
{
    *out = (struct overlay_message){.done = NAN};
    say(out, error ? "The stream has ended" : "End of stream");
    if (error)
        because(out, error);
}
