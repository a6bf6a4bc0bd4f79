// SPDX-License-Identifier: GPL-2.0-or-later
// Capability keys: ?key=KEY lets its bearer use one path and what is below it, until a time. KEY is
// base64url (RFC 4648, 5) of 21 bytes: rights (1), expiry (4, big-endian, seconds since 1970; 0:
// never), and the first 16 bytes of HMAC-SHA256(secret, "weir-key-1" | rights | expiry | path). So
// a server needs no list of keys; a new secret makes all of them invalid.
#ifndef WEIR_SERVER_ACCESS_ACCESS_KEY_H
#define WEIR_SERVER_ACCESS_ACCESS_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/text.h"
#include "server/policy/access_rules.h"

DECLS_BEGIN

enum {
    ACCESS_SECRET_BYTES = 32,
    ACCESS_KEY_TEXT = 29,  // bytes of a key, with NUL
    ACCESS_KEY_DEPTH = 16, // max. folders above a path whose keys are tried
};

struct access_key {
    unsigned rights;  // of access_right
    uint32_t expires; // seconds since 1970; 0: never
};

// Makes the key of a path: decoded, without a slash at either end ("live", "films/a.mp4"); "": all
// paths. Returns 0 or ERR_IO: the library failed.
int access_key_make(const uint8_t secret[ACCESS_SECRET_BYTES], const struct access_key *key,
                    const char *path, char out[ACCESS_KEY_TEXT]);

// Returns 0 if `text` is a key of `path` or of a folder above it: *out has its rights and *scope
// the bytes of the path that it is for; the caller compares the expiry. ERR_MALFORMED: it is none.
// The comparison takes the same time for each wrong key.
int access_key_read(const uint8_t secret[ACCESS_SECRET_BYTES], struct text text, const char *path,
                    struct access_key *out, size_t *scope);

DECLS_END
#endif
