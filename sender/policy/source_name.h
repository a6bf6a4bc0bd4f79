// SPDX-License-Identifier: GPL-2.0-or-later
// The name of one of several sources: the last part of its URL, and of `NAME=SOURCE`. Pure.
#ifndef WEIR_SENDER_POLICY_SOURCE_NAME_H
#define WEIR_SENDER_POLICY_SOURCE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    SOURCES_MAX = 16,      // of one server
    SOURCE_NAME_MAX = 33,  // bytes, with NUL
    SOURCE_PATH_MAX = 128, // bytes of a path, with NUL
};

#define SOURCE_NAME_RULE "1 to 32 letters, digits, '_' and '-'"

// Returns true if `len` bytes are a name: SOURCE_NAME_RULE. So it needs no escapes in a URL, ends
// in no ".jpg", and is no word of an option.
bool source_name_is(const char *name, size_t len);
// Returns the length of NAME in "NAME=SOURCE"; 0: the text has no name.
size_t source_name_length(const char *text);

// `source` of a path to which clients publish (--publish).
#define SOURCE_PUBLISHED "publish:"

// Returns true if `path` may be one of --publish: "/" and names of source_name_is with a "/"
// between them; "*" may be instead of the last one.
bool source_publish_is(const char *path);
// Returns true if `path` is such a path that ends in "*".
bool source_publish_is_any(const char *path);
// Returns true if `path` (with its first slash) is at `pattern`, a path of --publish: the same; or
// with a name of source_name_is instead of its "*".
bool source_publish_matches(const char *pattern, const char *path);

DECLS_END
#endif
