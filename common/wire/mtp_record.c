// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/mtp_record.h"

#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

size_t mtp_record_encode(const struct mtp_header *h, uint64_t token, const uint8_t *payload,
                         uint8_t *out)
{
    mtp_header_encode(h, out);
    store_be64(out + MTP_HEADER_BYTES, token);
    if (h->length > 0)
        memcpy(out + MTP_RECORD_HEAD, payload, h->length);
    return (size_t)MTP_RECORD_HEAD + h->length;
}

int mtp_record_decode(const uint8_t *data, size_t len, uint64_t token, struct mtp_header *h,
                      const uint8_t **payload)
{
    int err = mtp_header_decode(data, len, h);
    if (err)
        return err;
    if (len < (size_t)MTP_RECORD_HEAD + h->length)
        return ERR_MALFORMED;
    if (load_be64(data + MTP_HEADER_BYTES) != token)
        return ERR_NOT_FOUND;
    *payload = data + MTP_RECORD_HEAD;
    return 0;
}
