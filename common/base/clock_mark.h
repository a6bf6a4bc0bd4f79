// SPDX-License-Identifier: GPL-2.0-or-later
// Lets two processes find out that they read the clock of one machine, and reveals nothing else.
// The mark is "NONCE-HASH", 16 hexadecimal digits each: a random number, and SipHash-2-4 of its 8
// bytes, the highest first, with the kernel's boot id (128 bits, of which 122 are random) as the
// key. A process that knows the boot id computes the same hash; the key cannot be computed from
// marks. Each mark has its own nonce, so two marks of one machine do not look alike.
#ifndef WEIR_BASE_CLOCK_MARK_H
#define WEIR_BASE_CLOCK_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/siphash.h"

DECLS_BEGIN

enum { CLOCK_MARK_TEXT = 34 }; // bytes with NUL

// Reads the key from a UUID, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". Returns true if it is one.
bool clock_mark_key(const char *boot_id, struct siphash_key *out);
void clock_mark_write(const struct siphash_key *key, uint64_t nonce, char out[CLOCK_MARK_TEXT]);
// Returns true if `mark` was written with this key.
bool clock_mark_is_of(const struct siphash_key *key, const char *mark);

DECLS_END
#endif
