// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/path_token.h"

#include <string.h>

#include "common/base/bytes.h"

enum { RTCP_APP = 204, WORDS_AFTER_FIRST = PATH_TOKEN_BYTES / 4 - 1 };

static const uint8_t head[4] = {2 << 6, RTCP_APP, 0, WORDS_AFTER_FIRST};
static const uint8_t name[4] = {'W', 'E', 'I', 'R'};

void path_token_encode(uint32_t ssrc, uint64_t token, uint8_t out[PATH_TOKEN_BYTES])
{
    memcpy(out, head, sizeof(head));
    store_be32(out + 4, ssrc);
    memcpy(out + 8, name, sizeof(name));
    store_be64(out + 12, token);
}

bool path_token_decode(const uint8_t *data, size_t len, uint64_t *token)
{
    if (len != PATH_TOKEN_BYTES || memcmp(data, head, sizeof(head)) != 0 ||
        memcmp(data + 8, name, sizeof(name)) != 0)
        return false;
    *token = load_be64(data + 12);
    return true;
}
