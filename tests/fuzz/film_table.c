// SPDX-License-Identifier: GPL-2.0-or-later
// A film's table: what is decoded has sizes in range, and is encoded to the same bytes.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "stream/abr/film_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct film_table *t = NULL;
    int err = film_table_decode(data, size, &t);
    assert(err == 0 || err == ERR_MALFORMED || err == ERR_TOO_BIG || err == ERR_UNSUPPORTED ||
           err == ERR_NO_MEMORY);
    if (err)
        return 0;
    const struct film_shape *s = film_table_shape(t);
    for (int64_t g = 0; g < s->groups; g++) {
        assert(film_table_length(t, g) > 0);
        for (int l = 0; l < s->levels; l++) {
            int64_t bytes = film_table_bytes(t, g, l);
            assert(bytes >= 1024 && bytes <= FILM_TABLE_MAX_BYTES);
            assert((film_table_quality(t, g, l) == FILM_TABLE_NO_QUALITY) == !s->has_quality);
        }
    }
    assert(film_table_encoded_bytes(t) == size);
    uint8_t *again = malloc(size);
    if (again) {
        film_table_encode(t, again);
        assert(memcmp(data, again, size) == 0);
    }
    free(again);
    film_table_free(t);
    return 0;
}
