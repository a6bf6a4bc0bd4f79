// SPDX-License-Identifier: GPL-2.0-or-later
// Events of a server, for which --on runs commands (sender/serve/hooks.h). The program sets where
// events go with event_to(); before that they are discarded.
#ifndef WEIR_BASE_EVENT_H
#define WEIR_BASE_EVENT_H

#include "common/base/decls.h"

DECLS_BEGIN

enum event_kind {
    EVENT_SOURCE_LOST,      // subject: the camera's title; reason: why
    EVENT_SOURCE_BACK,      // subject: the camera's title
    EVENT_VIEWER,           // a viewer plays; subject: its address; reason: the URL
    EVENT_VIEWER_GONE,      // one that played has left; subject: its address
    EVENT_RECORDING_CLOSED, // a file is complete; subject: its path
    EVENT_PUBLISHED,        // a client publishes; subject: the path; reason: its address
    EVENT_UNPUBLISHED,      // it does so no longer; subject: the path; reason: why it broke off
    EVENT_KINDS,
};

struct event { // texts are borrowed for the call
    enum event_kind kind;
    const char *subject;
    const char *reason; // "": none
};

// Called from any thread, so an implementation must be thread-safe; it must not wait.
typedef void event_sink_fn(const struct event *e);

// Call while no other thread notes events. NULL discards them.
void event_to(event_sink_fn *sink);
void event_note(enum event_kind kind, const char *subject, const char *reason);
// Returns the kind's name, such as "source-lost".
const char *event_name(enum event_kind kind);

DECLS_END
#endif
