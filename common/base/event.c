// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/event.h"

#include <stddef.h>

static event_sink_fn *sink_fn;

void event_to(event_sink_fn *sink)
{
    sink_fn = sink;
}

void event_note(enum event_kind kind, const char *subject, const char *reason)
{
    struct event e = {.kind = kind, .subject = subject, .reason = reason};
    if (sink_fn)
        sink_fn(&e);
}

const char *event_name(enum event_kind kind)
{
    static const char *const names[EVENT_KINDS] = {
        [EVENT_SOURCE_LOST] = "source-lost",
        [EVENT_SOURCE_BACK] = "source-back",
        [EVENT_VIEWER] = "viewer",
        [EVENT_VIEWER_GONE] = "viewer-gone",
        [EVENT_RECORDING_CLOSED] = "recording-closed",
        [EVENT_PUBLISHED] = "published",
        [EVENT_UNPUBLISHED] = "unpublished",
    };
    return names[kind];
}
