// SPDX-License-Identifier: GPL-2.0-or-later
// How a film's table comes from the server: in parts, each the answer to a GET_PARAMETER of the
// parameter `film-table`. So no answer is long, and media on the same connection waits for none.
//
//     request  film-table: AT                the encoded table (film_table.h) from byte AT on
//     answer   film-table: AT/TOTAL BASE64   at most FILM_TABLE_PART bytes of TOTAL
//              film-table: later             a proxy does not know it yet: ask again
//
// Pure.
#ifndef WEIR_STREAM_ABR_FILM_TABLE_PARTS_H
#define WEIR_STREAM_ABR_FILM_TABLE_PARTS_H

#include "common/base/decls.h"
#include "common/wire/base64.h"
#include "common/wire/text.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

enum {
    FILM_TABLE_PART = 12288, // bytes
    FILM_TABLE_MAX =
        FILM_TABLE_HEADER + 2 * LADDER_MAX_LEVELS * FILM_TABLE_MAX_GROUPS, // bytes of all parts
    FILM_TABLE_LINE = BASE64_TEXT(FILM_TABLE_PART) + 64,                   // of an answer
    FILM_TABLE_REQUEST = 32, // bytes of a request's line, terminated
};

// ---- The server's end

// Reads the value of a request. Returns false if it is none.
bool film_table_part_at(struct text value, size_t *at);
// Writes the answer, a line without its end, terminated. Returns its length, or ERR_RANGE: the
// table has no such byte.
int film_table_part_encode(const struct film_table *t, size_t at, char out[FILM_TABLE_LINE]);
// The answer of a server that does not know the table yet.
#define FILM_TABLE_LATER "film-table: later"

// ---- The viewer's end

struct film_table_fetch; // opaque

// The table is to be one of this film (film_table_check). NULL: no memory.
struct film_table_fetch *film_table_fetch_new(const struct ladder *ladder, int64_t groups,
                                              int group_frames);
void film_table_fetch_free(struct film_table_fetch *f); // NULL is fine
// Writes the next request's body.
void film_table_fetch_request(const struct film_table_fetch *f, char out[FILM_TABLE_REQUEST]);
// Takes the body of an answer. Returns 0: request the next part; ERR_AGAIN: the same one, later;
// ERR_END: *out is the whole table, which the caller owns; ERR_NOT_FOUND: the server has none;
// ERR_NO_MEMORY; as film_table_decode and film_table_check: the table is of no use.
int film_table_fetch_take(struct film_table_fetch *f, struct text body, struct film_table **out);

DECLS_END
#endif
