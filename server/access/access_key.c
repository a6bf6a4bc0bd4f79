// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_key.h"

#include <gnutls/crypto.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

enum { HEAD = 5, TAG = 16, KEY_BYTES = HEAD + TAG, SUM = 32 };

static const char context[] = "weir-key-1"; // no other use of the secret has the same input
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Appends the tag to the head of `key`.
static int put_tag(const uint8_t *secret, uint8_t key[KEY_BYTES], const char *path, size_t len)
{
    uint8_t sum[SUM];
    gnutls_hmac_hd_t h;
    if (gnutls_hmac_init(&h, GNUTLS_MAC_SHA256, secret, ACCESS_SECRET_BYTES) < 0)
        return ERR_IO;
    int err = gnutls_hmac(h, context, sizeof(context) - 1);
    err = err ? err : gnutls_hmac(h, key, HEAD);
    err = err || !len ? err : gnutls_hmac(h, path, len);
    gnutls_hmac_deinit(h, sum);
    memcpy(key + HEAD, sum, TAG);
    return err ? ERR_IO : 0;
}

// 21 bytes are 28 digits without padding.
static void to_text(const uint8_t key[KEY_BYTES], char out[ACCESS_KEY_TEXT])
{
    for (int i = 0; i < KEY_BYTES / 3; i++) {
        uint32_t group =
            (uint32_t)key[3 * i] << 16 | (uint32_t)key[3 * i + 1] << 8 | key[3 * i + 2];
        for (int k = 0; k < 4; k++)
            out[4 * i + k] = digits[group >> (18 - 6 * k) & 63];
    }
    out[ACCESS_KEY_TEXT - 1] = '\0';
}

static int from_text(struct text text, uint8_t out[KEY_BYTES])
{
    if (text.len != ACCESS_KEY_TEXT - 1)
        return ERR_MALFORMED;
    for (int i = 0; i < KEY_BYTES / 3; i++) {
        uint32_t group = 0;
        for (int k = 0; k < 4; k++) {
            const char *at = memchr(digits, text.at[4 * i + k], sizeof(digits) - 1);
            if (!at)
                return ERR_MALFORMED;
            group = group << 6 | (uint32_t)(at - digits);
        }
        out[3 * i] = (uint8_t)(group >> 16);
        out[3 * i + 1] = (uint8_t)(group >> 8);
        out[3 * i + 2] = (uint8_t)group;
    }
    return 0;
}

int access_key_make(const uint8_t secret[ACCESS_SECRET_BYTES], const struct access_key *key,
                    const char *path, char out[ACCESS_KEY_TEXT])
{
    uint8_t bytes[KEY_BYTES] = {(uint8_t)key->rights};
    store_be32(bytes + 1, key->expires);
    int err = put_tag(secret, bytes, path, strlen(path));
    if (!err)
        to_text(bytes, out);
    return err;
}

// Returns the bytes of the folder above the first `len` bytes of a path.
static size_t above(const char *path, size_t len)
{
    while (len && path[len - 1] != '/')
        len--;
    return len ? len - 1 : 0;
}

int access_key_read(const uint8_t secret[ACCESS_SECRET_BYTES], struct text text, const char *path,
                    struct access_key *out, size_t *scope)
{
    uint8_t given[KEY_BYTES], made[KEY_BYTES];
    int err = from_text(text, given);
    if (err)
        return err;
    memcpy(made, given, HEAD);
    // The path itself, the folders above it, and last the root.
    size_t len = strlen(path);
    for (int i = 0; i <= ACCESS_KEY_DEPTH; i++) {
        err = put_tag(secret, made, path, len);
        if (!err && gnutls_memcmp(made + HEAD, given + HEAD, TAG) == 0) {
            *out = (struct access_key){.rights = given[0], .expires = load_be32(given + 1)};
            *scope = len;
            return 0;
        }
        if (!len)
            break;
        len = i + 1 == ACCESS_KEY_DEPTH ? 0 : above(path, len);
    }
    return ERR_MALFORMED;
}
