// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_docs.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/common/base/option_rows.h"

namespace
{
std::string text(void (*print)(const option_table *, put *))
{
    char out[4096];
    put p = put_into(out, sizeof(out));
    print(&option_rows_table, &p);
    REQUIRE_FALSE(p.full);
    return out;
}
} // namespace

TEST_CASE("option docs: a manual page's options")
{
    CHECK(text(option_docs_man) ==
          ".SS Source\n"
          ".TP\n"
          "\\fISOURCE\\fR\n"
          "what it is\n"
          "(default: \\fBnothing\\fR)\n"
          ".SS Numbers\n"
          ".TP\n"
          "\\fB\\-r\\fR, \\fB\\-\\-rate\\fR \\fIN\\fR\n"
          "how fast\n"
          "(default: \\fB4\\fR)\n"
          ".TP\n"
          "\\fB\\-\\-wait\\fR \\fISECONDS\\fR\n"
          "how long, which takes so many words to tell that they do not fit in one\n"
          "line of it\n"
          ".TP\n"
          "\\fB\\-\\-delay\\fR \\fIMS\\fR\n"
          "how late; 50 is little\n"
          ".SS Words\n"
          ".TP\n"
          "\\fB\\-\\-file\\fR \\fIFILE\\fR\n"
          "where\n"
          ".TP\n"
          "\\fB\\-\\-picture\\fR \\fIFILE.png\\fR\n"
          "a picture\n"
          ".TP\n"
          "\\fB\\-l\\fR, \\fB\\-\\-loop\\fR\n"
          "again\n"
          ".TP\n"
          "\\fB\\-\\-twice\\fR \\fILETTER\\fR\n"
          "letters\n"
          ".RS\n"
          ".TP\n"
          "\\fBx\\fR\n"
          "the first letter\n"
          ".RE\n"
          ".TP\n"
          "\\fB\\-\\-retry\\fR\n"
          "try again\n"
          ".TP\n"
          "\\fB\\-\\-no\\-retry\\fR\n"
          "give up\n"
          ".TP\n"
          "\\fB\\-\\-seed\\fR \\fIN\\fR\n"
          "of chance\n"
          ".SS Keys\n"
          ".TP\n"
          "\\fBa=N\\fR\n"
          "how many\n"
          ".TP\n"
          "\\fBCOMMAND\\fR\n"
          "the first word\n"
          ".RS\n"
          ".TP\n"
          "\\fBx\\fR\n"
          "the first letter\n"
          ".RE\n"
          ".TP\n"
          "\\fB\\-\\-config\\fR \\fIFILE\\fR\n"
          "options from a file\n"
          ".TP\n"
          "\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
          "print this\n");
}

TEST_CASE("option docs: what bash completes")
{
    CHECK(text(option_docs_bash) == "    --rate | -r) ;;\n"
                                    "    --wait) ;;\n"
                                    "    --delay) ;;\n"
                                    "    --file) files=1 ;;\n"
                                    "    --picture) files=1 ;;\n"
                                    "    --twice) words='x y' ;;\n"
                                    "    --seed) ;;\n"
                                    "    --config) files=1 ;;\n"
                                    "    -) words='--rate --wait --delay --file --picture --loop "
                                    "--twice --retry --no-retry --seed --config --help' ;;\n"
                                    "    *) words='x y' ;;\n");
}

TEST_CASE("option docs: what zsh completes")
{
    CHECK(text(option_docs_zsh) == "    '1:SOURCE: ' \\\n"
                                   "    '(-r --rate)'{-r+,--rate=}'[how fast]:N: ' \\\n"
                                   "    --wait='[how long, which takes so many words to tell that "
                                   "they do not fit in]:SECONDS: ' \\\n"
                                   "    --delay='[how late]:MS: ' \\\n"
                                   "    --file='[where]:FILE:_files' \\\n"
                                   "    --picture='[a picture]:FILE.png:_files' \\\n"
                                   "    '(-l --loop)'{-l,--loop}'[again]' \\\n"
                                   "    '*'--twice='[letters]:LETTER:(x y)' \\\n"
                                   "    --retry'[try again]' \\\n"
                                   "    --no-retry'[give up]' \\\n"
                                   "    --seed='[of chance]:N: ' \\\n"
                                   "    '1:COMMAND:(x y)' \\\n"
                                   "    --config='[options from a file]:FILE:_files' \\\n"
                                   "    '(-h --help)'{-h,--help}'[print this]' \\\n");
}
