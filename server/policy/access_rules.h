// SPDX-License-Identifier: GPL-2.0-or-later
// The file of --access: users, and what they may do. Lines are NAME = VALUE; a line that begins
// with # is a comment.
//
//     user = anna:$y$j9T$...            the line that weir-send --user anna prints
//     allow = anna /films watch         this path and all below it
//     allow = anna / watch,metrics      everything, and the page of --metrics
//     allow = anna / control            the interface of --control
//     allow = anna /cams publish        to these paths (weir-send --publish)
//     allow = * /public watch           everybody, without a password
//
// Paths are those of URLs (%20 is a space). Pure.
#ifndef WEIR_SERVER_POLICY_ACCESS_RULES_H
#define WEIR_SERVER_POLICY_ACCESS_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    ACCESS_USERS = 256, // max. users
    ACCESS_RULES = 1024,
    ACCESS_NAME_MAX = 64,  // bytes with NUL
    ACCESS_HASH_MAX = 256, // bytes with NUL
    ACCESS_PATH_MAX = 256, // bytes with NUL
    ACCESS_EVERYBODY = -1, // instead of a user's number
    ACCESS_GENERATIONS = 1 << 20,
};

enum access_right { // a set of them is a number
    ACCESS_WATCH = 1,
    ACCESS_METRICS = 2,
    ACCESS_CONTROL = 4, // of sessions, over HTTP
    ACCESS_PUBLISH = 8,
};

struct access_user {
    char name[ACCESS_NAME_MAX];
    char hash[ACCESS_HASH_MAX]; // crypt(5)
};

struct access_rule {
    int user; // its number, or ACCESS_EVERYBODY
    unsigned rights;
    char path[ACCESS_PATH_MAX]; // decoded, without a slash at either end; empty: all
};

struct access_rules { // all zero at first, except `generation`
    // Below ACCESS_GENERATIONS. The file that was read before has another one, so that no number of
    // its users is one of these.
    int generation;
    int user_count, rule_count;
    struct access_user users[ACCESS_USERS];
    struct access_rule rules[ACCESS_RULES];
};

// Reads the text. Returns 0, or ERR_MALFORMED: `error` has the line's number and the fault, never a
// hash.
int access_rules_read(struct access_rules *r, const char *text, size_t len, char *error,
                      size_t cap);
// Returns the number of the user, or ERR_NOT_FOUND.
int access_rules_find(const struct access_rules *r, const char *name);
// Returns the number of the user at an index of `users`.
int access_rules_number(const struct access_rules *r, int index);
// Returns the user's hash; NULL: no user of these rules has the number.
const char *access_rules_hash(const struct access_rules *r, int user);
// Returns what the user may do with a path (decoded, as in struct access_rule).
unsigned access_rules_rights(const struct access_rules *r, int user, const char *path);

// Returns true if `path` is `scope` or below it.
bool access_path_is_below(const char *scope, const char *path);

DECLS_END
#endif
