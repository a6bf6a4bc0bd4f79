// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_tcp_keys.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"

enum { VERSION = 1, ISN_TICK = 4 };

// The first word of each hash is its purpose, so no tag is valid for two purposes.
enum purpose { ID = 1, HELLO, SLOT, FIN_CLIENT, FIN_SERVER, ISN, TIME_OFFSET, COOKIE };

static const uint8_t magic[4] = {'M', 'T', 'P', VERSION};

static uint64_t hash(const struct siphash_key *key, enum purpose purpose, uint64_t word,
                     const uint8_t *data, size_t len)
{
    struct siphash h;
    siphash_init(&h, key);
    siphash_word(&h, purpose);
    siphash_word(&h, word);
    return siphash_finish(&h, data, len);
}

struct siphash_key mtp_tcp_key(uint64_t token)
{
    // 64 bits are the secret; the other 64 identify the kind of key.
    struct siphash_key key = {{token, 0x5745495220746370}}; // "WEIR tcp"
    return key;
}

uint64_t mtp_tcp_id(const struct siphash_key *key)
{
    return hash(key, ID, 0, NULL, 0);
}

void mtp_tcp_seal(const struct siphash_key *key, int64_t slot, uint8_t *bytes, size_t len)
{
    assert(len >= MTP_TCP_TAG && slot >= 0);
    store_be64(bytes, hash(key, SLOT, (uint64_t)slot, bytes + MTP_TCP_TAG, len - MTP_TCP_TAG));
}

bool mtp_tcp_is_sealed(const struct siphash_key *key, int64_t slot, const uint8_t *bytes,
                       size_t len)
{
    return len >= MTP_TCP_TAG && load_be64(bytes) == hash(key, SLOT, (uint64_t)slot,
                                                          bytes + MTP_TCP_TAG, len - MTP_TCP_TAG);
}

static uint64_t hello_tag(const struct siphash_key *key, uint16_t slot_bytes)
{
    return hash(key, HELLO, slot_bytes, NULL, 0);
}

void mtp_tcp_hello_write(const struct siphash_key *key, uint16_t slot_bytes,
                         uint8_t out[MTP_TCP_HELLO])
{
    store_be64(out, mtp_tcp_id(key));
    store_be64(out + 8, hello_tag(key, slot_bytes));
    memcpy(out + 16, magic, sizeof(magic));
    store_be16(out + 20, slot_bytes);
    store_be16(out + 22, 0);
}

bool mtp_tcp_hello_read(const uint8_t *data, size_t len, uint64_t *id, uint64_t *tag,
                        uint16_t *slot_bytes)
{
    if (len < MTP_TCP_HELLO || memcmp(data + 16, magic, sizeof(magic)) != 0)
        return false;
    *id = load_be64(data);
    *tag = load_be64(data + 8);
    *slot_bytes = load_be16(data + 20);
    return true;
}

bool mtp_tcp_hello_is_good(const struct siphash_key *key, uint64_t tag, uint16_t slot_bytes)
{
    return tag == hello_tag(key, slot_bytes);
}

uint64_t mtp_tcp_fin_tag(const struct siphash_key *key, bool server, int64_t offset)
{
    return hash(key, server ? FIN_SERVER : FIN_CLIENT, (uint64_t)offset, NULL, 0);
}

static uint64_t hash_path(const struct siphash_key *secret, enum purpose purpose, uint64_t word,
                          const struct tcp_path *path)
{
    uint8_t text[36];
    memcpy(text, path->source.address, 16);
    memcpy(text + 16, path->destination.address, 16);
    store_be16(text + 32, path->source.port);
    store_be16(text + 34, path->destination.port);
    return hash(secret, purpose, word, text, sizeof(text));
}

uint32_t mtp_tcp_isn(const struct siphash_key *secret, const struct tcp_path *path, usec_t now)
{
    return (uint32_t)(now / ISN_TICK) + (uint32_t)hash_path(secret, ISN, 0, path);
}

uint32_t mtp_tcp_time_offset(const struct siphash_key *secret, const struct tcp_path *path)
{
    return (uint32_t)hash_path(secret, TIME_OFFSET, 0, path);
}

uint32_t mtp_tcp_cookie(const struct siphash_key *secret, const struct tcp_path *path,
                        uint64_t word)
{
    return (uint32_t)hash_path(secret, COOKIE, word, path);
}
