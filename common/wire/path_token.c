// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/path_token.h"

#include <string.h>

#include "common/base/bytes.h"

enum { RTCP_APP = 204, WORDS_AFTER_FIRST = PATH_TOKEN_BYTES / 4 - 1 };
enum subtype { TOKEN = 0, CHALLENGE = 2, RESPONSE = 3 }; // 1: capacity_pair.h

static const uint8_t name[4] = {'W', 'E', 'I', 'R'};

static void encode(enum subtype subtype, uint32_t ssrc, uint64_t value, uint8_t *out)
{
    const uint8_t head[4] = {(uint8_t)(2 << 6 | subtype), RTCP_APP, 0, WORDS_AFTER_FIRST};
    memcpy(out, head, sizeof(head));
    store_be32(out + 4, ssrc);
    memcpy(out + 8, name, sizeof(name));
    store_be64(out + 12, value);
}

static bool decode(enum subtype subtype, const uint8_t *data, size_t len, uint64_t *value)
{
    const uint8_t head[4] = {(uint8_t)(2 << 6 | subtype), RTCP_APP, 0, WORDS_AFTER_FIRST};
    if (len != PATH_TOKEN_BYTES || memcmp(data, head, sizeof(head)) != 0 ||
        memcmp(data + 8, name, sizeof(name)) != 0)
        return false;
    *value = load_be64(data + 12);
    return true;
}

void path_token_encode(uint32_t ssrc, uint64_t token, uint8_t out[PATH_TOKEN_BYTES])
{
    encode(TOKEN, ssrc, token, out);
}

bool path_token_decode(const uint8_t *data, size_t len, uint64_t *token)
{
    return decode(TOKEN, data, len, token);
}

void path_challenge_encode(uint32_t ssrc, uint64_t challenge, uint8_t out[PATH_TOKEN_BYTES])
{
    encode(CHALLENGE, ssrc, challenge, out);
}

bool path_challenge_decode(const uint8_t *data, size_t len, uint64_t *challenge)
{
    return decode(CHALLENGE, data, len, challenge);
}

void path_response_encode(uint32_t ssrc, uint64_t challenge, uint8_t out[PATH_TOKEN_BYTES])
{
    encode(RESPONSE, ssrc, challenge, out);
}

bool path_response_decode(const uint8_t *data, size_t len, uint64_t *challenge)
{
    return decode(RESPONSE, data, len, challenge);
}

uint32_t path_token_ssrc(const uint8_t *data)
{
    return load_be32(data + 4);
}
