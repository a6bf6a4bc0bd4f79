// SPDX-License-Identifier: GPL-2.0-or-later
// A parsed specification of a link.
#ifndef WEIR_TESTS_LAB_PARSED_LINK_HPP
#define WEIR_TESTS_LAB_PARSED_LINK_HPP

#include <string>

#include "lab/link/link_spec.h"

inline struct link_spec parsed(const std::string &text)
{
    struct link_spec s;
    char error[256];
    int err = link_spec_parse(text.c_str(), &s, error, sizeof(error));
    INFO(text << " -> " << error);
    REQUIRE(err == 0);
    REQUIRE(error[0] == '\0');
    return s;
}

inline bool is(struct queue_size s, uint64_t bytes, uint64_t packets)
{
    return s.bytes == bytes && s.packets == packets;
}

#endif
