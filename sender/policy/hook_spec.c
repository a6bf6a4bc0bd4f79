// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/hook_spec.h"

#include <stdio.h>
#include <string.h>

static int event_of(const char *name, size_t len)
{
    for (int i = 0; i < EVENT_KINDS; i++) {
        const char *known = event_name((enum event_kind)i);
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return i;
    }
    return -1;
}

static const char *say_events(char *reason, size_t cap)
{
    size_t len =
        (size_t)snprintf(reason, cap, "expects \"EVENT COMMAND ARGUMENT...\", EVENT one of");
    for (int i = 0; i < EVENT_KINDS && len < cap; i++)
        len += (size_t)snprintf(reason + len, cap - len, "%s %s", i ? "," : "",
                                event_name((enum event_kind)i));
    return reason;
}

// Returns the number of words, at most HOOK_WORDS + 1. `words`: NULL: they are counted only.
static int split(char *text, char **words)
{
    int count = 0;
    for (char *at = text + strspn(text, " "); *at && count <= HOOK_WORDS; count++) {
        char *end = at + strcspn(at, " ");
        char *next = end + strspn(end, " ");
        if (words && count < HOOK_WORDS) {
            words[count] = at;
            *end = '\0';
        }
        at = next;
    }
    return count;
}

const char *hook_specs_add(struct hook_specs *h, const char *text, char *reason, size_t cap)
{
    size_t len = strcspn(text, " ");
    int event = event_of(text, len);
    const char *command = text + len + strspn(text + len, " ");
    if (event < 0 || !*command)
        return say_events(reason, cap);
    if (strlen(command) >= HOOK_TEXT)
        return "is too long: use a script";
    char copy[HOOK_TEXT];
    memcpy(copy, command, strlen(command) + 1);
    if (split(copy, NULL) > HOOK_WORDS)
        return "has too many words: use a script";
    if (h->count == HOOKS_MAX)
        return "is given too often: 16 times at most";
    h->hooks[h->count++] = (struct hook_spec){.event = (enum event_kind)event, .command = command};
    return NULL;
}

void hook_command_read(struct hook_command *c, const char *command)
{
    snprintf(c->text, sizeof(c->text), "%s", command);
    int count = split(c->text, c->words);
    c->words[count < HOOK_WORDS ? count : HOOK_WORDS] = NULL;
}
