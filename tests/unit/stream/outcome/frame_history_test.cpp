// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/outcome/frame_history.h"

#include <catch2/catch.hpp>

#include <memory>

TEST_CASE("frame_history: one record per frame, until another frame replaces it")
{
    std::unique_ptr<frame_history, void (*)(frame_history *)> h{frame_history_new(),
                                                                frame_history_free};
    CHECK(frame_history_find(h.get(), -1) == nullptr);
    CHECK(frame_history_find(h.get(), 7) == nullptr);
    frame_record *r = frame_history_make(h.get(), 7);
    CHECK(r->number == 7);
    CHECK(r->outcome.state == FRAME_UNSEEN);
    CHECK(r->outcome.depends_on == -1);
    CHECK(r->span.packets == 0);
    CHECK(!r->arrival.known);
    r->span.packets = 3;
    r->arrival.known = true;
    r->outcome.state = FRAME_HANDED;
    CHECK(frame_history_make(h.get(), 7) == r);
    CHECK(frame_history_find(h.get(), 7)->span.packets == 3);
    const int64_t other = 7 + FRAME_HISTORY_WINDOW;
    CHECK(frame_history_find(h.get(), other) == nullptr);
    r = frame_history_make(h.get(), other);
    CHECK(r->span.packets == 0);
    CHECK(!r->arrival.known);
    CHECK(r->outcome.state == FRAME_UNSEEN);
    CHECK(frame_history_find(h.get(), 7) == nullptr);
    frame_history_make(h.get(), 7); // older, but the one of which something is known last
    CHECK(frame_history_find(h.get(), other) == nullptr);
}
