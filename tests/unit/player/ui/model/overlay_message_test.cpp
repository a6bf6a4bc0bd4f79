// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/overlay_message.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>

namespace
{
const usec_t ms = USEC_PER_MSEC;

struct overlay_message of(const std::function<void(struct overlay_message_facts &)> &change)
{
    struct overlay_message_facts f = {};
    f.link = LINK_PLAYING;
    f.host = "example.net";
    f.reason = "it vanished";
    f.other = "udp";
    f.described = true;
    f.mode = PLAYOUT_PLAYING;
    f.silence = 20 * ms;
    f.origin_away = f.source_away = -1;
    f.source_why = "it answers 401";
    change(f);
    struct overlay_message n;
    overlay_message_make(&f, &n);
    return n;
}
} // namespace

TEST_CASE("overlay_message: the state and its cause while no new picture is shown")
{
    using facts = struct overlay_message_facts;
    static const struct {
        std::function<void(facts &)> change;
        const char *text;
        const char *cause;
    } table[] = {
        {[](facts &) {}, "", ""},
        {[](facts &f) { f.link = LINK_CONNECTING; }, "Connecting to example.net", ""},
        {[](facts &f) { f.described = false; }, "", ""},
        {[](facts &f) { f.paused = true; }, "", ""}, // the osd shows a sign
        {[](facts &f) {
             f.mode = PLAYOUT_BUFFERING;
             f.buffered = 105 * ms;
             f.buffer_target = 250 * ms;
         },
         "Buffering 42 %", ""},
        {[](facts &f) {
             f.mode = PLAYOUT_BUFFERING;
             f.buffered = 900 * ms; // a key frame is awaited
             f.buffer_target = 250 * ms;
         },
         "Buffering 100 %", ""},
        {[](facts &f) { f.mode = PLAYOUT_BUFFERING; }, "Buffering 0 %", ""},
        {[](facts &f) {
             f.mode = PLAYOUT_REBUFFERING;
             f.silence = 2500 * ms;
             f.source_away = 4100 * ms;
         },
         "The source is away: the server tries again (4 s)", "it answers 401"},
        {[](facts &f) {
             f.mode = PLAYOUT_REBUFFERING;
             f.cause = STALL_TRANSPORT;
             f.buffered = 250 * ms;
             f.buffer_target = 500 * ms;
             f.silence = 999 * ms;
         },
         "Buffering 50 %", "the network is slower than this level"},
        {[](facts &f) {
             f.mode = PLAYOUT_REBUFFERING;
             f.cause = STALL_OUTAGE;
             f.silence = 3400 * ms;
         },
         "The network stalls: waiting for data (3 s)", "nothing came through for a while"},
        {[](facts &f) {
             f.mode = PLAYOUT_REBUFFERING;
             f.cause = STALL_SENDER;
             f.silence = 3400 * ms;
         },
         "The sender stalls: waiting for data (3 s)", "the sender sent nothing"},
        {[](facts &f) {
             f.mode = PLAYOUT_REBUFFERING;
             f.cause = STALL_SENDER;
             f.buffered = 250 * ms;
             f.buffer_target = 500 * ms;
             f.sender_is_slow = true;
         },
         "Buffering 50 %", "the sender's machine is too slow"},
        {[](facts &f) { // the sender is slow, and now the network is slower
             f.mode = PLAYOUT_REBUFFERING;
             f.cause = STALL_TRANSPORT;
             f.buffered = 250 * ms;
             f.buffer_target = 500 * ms;
             f.sender_is_slow = true;
         },
         "Buffering 50 %", "the network is slower than this level"},
        {[](facts &f) {
             f.mode = PLAYOUT_REBUFFERING;
             f.cause = STALL_OUTAGE;
             f.silence = 3400 * ms;
             f.origin_away = 4700 * ms;
         },
         "The proxy has lost its origin: it tries again (4 s)",
         "the server behind the proxy ended, or cannot be reached"},
        {[](facts &f) { // the last report is old: media comes again
             f.mode = PLAYOUT_REBUFFERING;
             f.cause = STALL_OUTAGE;
             f.buffered = 250 * ms;
             f.buffer_target = 500 * ms;
             f.origin_away = 4700 * ms;
         },
         "Buffering 50 %", "nothing came through for a while"},
        {[](facts &f) { f.origin_away = 4700 * ms; }, "", ""}, // what is buffered plays on
        {[](facts &f) {
             f.link = LINK_LOST;
             f.tries = 3;
             f.next = 3100 * ms;
         },
         "Server lost: connecting again in 4 s (try 3)", "it vanished"},
        {[](facts &f) {
             f.link = LINK_LOST;
             f.tries = 3;
         },
         "Server lost: connecting (try 3)", "it vanished"},
        {[](facts &f) {
             f.link = LINK_TRYING;
             f.tries = 2;
             f.next = 100 * ms;
         },
         "Server lost: connecting (try 2)", "it vanished"},
        {[](facts &f) {
             f.link = LINK_LOST;
             f.paused = true;
         },
         "Paused; the server is lost", "it vanished"},
        {[](facts &f) { f.link = LINK_CHANGING; }, "Changing to udp", ""},
        {[](facts &f) {
             f.link = LINK_CHANGING;
             f.moves = true; // what is held plays on
         },
         "", ""},
        {[](facts &f) {
             f.link = LINK_LOST;
             f.tries = 1;
             f.moves = true;
         },
         "", ""},
    };
    for (const auto &row : table) {
        struct overlay_message n = of(row.change);
        CHECK(std::string(n.text) == row.text);
        CHECK(std::string(n.cause) == row.cause);
        CHECK(std::isnan(n.done) == (std::string(n.text).find('%') == std::string::npos));
    }
}

TEST_CASE("overlay_message: the end")
{
    struct overlay_message n;
    overlay_message_ended(NULL, &n);
    CHECK(std::string(n.text) == "End of stream");
    CHECK(std::string(n.cause).empty());
    overlay_message_ended("it vanished", &n);
    CHECK(std::string(n.text) == "The stream has ended");
    CHECK(std::string(n.cause) == "it vanished");
}

TEST_CASE("overlay message: what failed or waits can be tried again")
{
    using facts = struct overlay_message_facts;
    static const struct {
        void (*change)(facts &f);
        bool retry;
    } rows[] = {
        {[](facts &f) { f.link = LINK_LOST, f.next = 2000 * ms; }, true},
        {[](facts &f) { f.link = LINK_LOST, f.next = 2000 * ms, f.paused = true; }, false},
        {[](facts &f) { f.link = LINK_TRYING; }, false},
        {[](facts &f) { f.link = LINK_STOPPED; }, true},                 // it cannot be opened
        {[](facts &f) { f.link = LINK_STOPPED, f.reason = ""; }, false}, // the viewer stopped
        {[](facts &f) { f.link = LINK_CONNECTING; }, false},
        {[](facts &f) { f.link = LINK_PLAYING; }, false},
    };
    for (const auto &row : rows)
        CHECK(of(row.change).retry == row.retry);
}
