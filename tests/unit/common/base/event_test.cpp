// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/event.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace
{

std::string seen;

void take(const struct event *e)
{
    seen += std::string(event_name(e->kind)) + " " + e->subject + " (" + e->reason + ")\n";
}

} // namespace

TEST_CASE("event: goes to the sink, if there is one")
{
    event_note(EVENT_VIEWER, "first", "");
    event_to(take);
    event_note(EVENT_SOURCE_LOST, "front", "the connection was closed");
    event_note(EVENT_SOURCE_BACK, "front", "");
    event_to(nullptr);
    event_note(EVENT_VIEWER, "last", "");
    CHECK(seen == "source-lost front (the connection was closed)\nsource-back front ()\n");
}

TEST_CASE("event: each kind has a name of its own")
{
    std::set<std::string> names;
    for (int i = 0; i < EVENT_KINDS; i++)
        names.insert(event_name(static_cast<enum event_kind>(i)));
    CHECK(names.size() == EVENT_KINDS);
}
