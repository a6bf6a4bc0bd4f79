// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/clock_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"

enum { DIGITS = 16 }; // hexadecimal digits of 64 bits

// Reads exactly `count` lower-case hexadecimal digits. Returns true if all are valid.
static bool read_digits(const char *at, int count, uint64_t *value)
{
    for (int i = 0; i < count; i++) {
        const char *digits = "0123456789abcdef";
        const char *found = at[i] ? strchr(digits, at[i]) : NULL;
        if (!found)
            return false;
        *value = *value << 4 | (uint64_t)(found - digits);
    }
    return true;
}

bool clock_mark_key(const char *boot_id, struct siphash_key *out)
{
    static const struct {
        int digits, word;
    } groups[] = {{8, 0}, {4, 0}, {4, 0}, {4, 1}, {12, 1}};
    enum { COUNT = sizeof(groups) / sizeof(*groups) };
    *out = (struct siphash_key){{0, 0}};
    for (int i = 0; i < COUNT; i++) {
        if (!read_digits(boot_id, groups[i].digits, &out->k[groups[i].word]))
            return false;
        boot_id += groups[i].digits;
        if (*boot_id++ != (i + 1 < COUNT ? '-' : '\0'))
            return false;
    }
    return true;
}

static uint64_t hash(const struct siphash_key *key, uint64_t nonce)
{
    struct siphash h;
    uint8_t bytes[8];
    store_be64(bytes, nonce);
    siphash_init(&h, key);
    return siphash_finish(&h, bytes, sizeof(bytes));
}

void clock_mark_write(const struct siphash_key *key, uint64_t nonce, char out[CLOCK_MARK_TEXT])
{
    snprintf(out, CLOCK_MARK_TEXT, "%016" PRIx64 "-%016" PRIx64, nonce, hash(key, nonce));
}

bool clock_mark_is_of(const struct siphash_key *key, const char *mark)
{
    uint64_t nonce = 0, value = 0;
    return read_digits(mark, DIGITS, &nonce) && mark[DIGITS] == '-' &&
           read_digits(mark + DIGITS + 1, DIGITS, &value) && !mark[2 * DIGITS + 1] &&
           value == hash(key, nonce);
}
