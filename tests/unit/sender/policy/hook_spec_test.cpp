// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/hook_spec.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("hook spec: an event and the words of a command")
{
    struct hook_specs h = {};
    char reason[256];
    CHECK(hook_specs_add(&h, "viewer /bin/light  on --slowly", reason, sizeof(reason)) == nullptr);
    CHECK(hook_specs_add(&h, "source-lost mail", reason, sizeof(reason)) == nullptr);
    REQUIRE(h.count == 2);
    CHECK(h.hooks[0].event == EVENT_VIEWER);
    CHECK(h.hooks[1].event == EVENT_SOURCE_LOST);
    struct hook_command c;
    hook_command_read(&c, h.hooks[0].command);
    std::string words;
    for (int i = 0; c.words[i]; i++)
        words += std::string(c.words[i]) + "|";
    CHECK(words == "/bin/light|on|--slowly|");
}

TEST_CASE("hook spec: what is wrong is refused with a reason")
{
    struct hook_specs h = {};
    char reason[256];
    for (const char *text :
         {"", "viewer", "viewer ", "viewers mail", "view mail", " viewer mail"}) {
        const char *why = hook_specs_add(&h, text, reason, sizeof(reason));
        INFO(text);
        REQUIRE(why);
        CHECK(std::string(why) ==
              "expects \"EVENT COMMAND ARGUMENT...\", EVENT one of source-lost, "
              "source-back, viewer, viewer-gone, recording-closed, published, "
              "unpublished");
    }
    std::string words = "viewer";
    for (int i = 0; i < HOOK_WORDS; i++)
        words += " a";
    CHECK(hook_specs_add(&h, words.c_str(), reason, sizeof(reason)) == nullptr);
    words += " a";
    CHECK(hook_specs_add(&h, words.c_str(), reason, sizeof(reason)));
    std::string text = "viewer " + std::string(HOOK_TEXT, 'a');
    CHECK(hook_specs_add(&h, text.c_str(), reason, sizeof(reason)));
    while (h.count < HOOKS_MAX)
        REQUIRE(hook_specs_add(&h, "viewer mail", reason, sizeof(reason)) == nullptr);
    CHECK(hook_specs_add(&h, "viewer mail", reason, sizeof(reason)));
}
