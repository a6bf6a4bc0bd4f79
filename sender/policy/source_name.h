// SPDX-License-Identifier: GPL-2.0-or-later
// The name of one of several sources: the last part of its URL, and of `NAME=SOURCE`. Pure.
#ifndef WEIR_SENDER_POLICY_SOURCE_NAME_H
#define WEIR_SENDER_POLICY_SOURCE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SOURCES_MAX = 16,     // of one server
    SOURCE_NAME_MAX = 33, // bytes, with NUL
};

#define SOURCE_NAME_RULE "1 to 32 letters, digits, '_' and '-'"

// Returns true if `len` bytes are a name: SOURCE_NAME_RULE. So it needs no escapes in a URL, ends
// in no ".jpg", and is no word of an option.
bool source_name_is(const char *name, size_t len);
// Returns the length of NAME in "NAME=SOURCE"; 0: the text has no name.
size_t source_name_length(const char *text);

#ifdef __cplusplus
}
#endif
#endif
