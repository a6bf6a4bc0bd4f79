// SPDX-License-Identifier: GPL-2.0-or-later
// JSON values of measured numbers, and of text from outside.
#ifndef WEIR_PLAYER_REPORT_JSON_VALUE_H
#define WEIR_PLAYER_REPORT_JSON_VALUE_H

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decls.h"

DECLS_BEGIN

// A double keeps fifteen decimal digits: 0.1 is written as 0.1.
#define JSON_VALUE_FLAGS JSON_REAL_PRECISION(15)

// Returns `value` rounded to `decimals` places, an integer if 0; null if it is not finite or too
// large.
static inline json_t *json_figure(double value, int decimals)
{
    if (!isfinite(value) || fabs(value) > 9e15)
        return json_null();
    if (decimals == 0)
        return json_integer((json_int_t)llround(value));
    double scale = pow(10, decimals);
    double rounded = round(value * scale) / scale;
    return json_real(rounded == 0 ? 0 : rounded); // avoids -0.0
}

// Returns `text`; null for NULL. If it is not UTF-8, bytes beyond ASCII become '?'. NULL: no
// memory.
static inline json_t *json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    size_t len = strlen(text);
    char *ascii = (char *)malloc(len + 1);
    for (size_t i = 0; ascii && i <= len; i++)
        ascii[i] = (unsigned char)text[i] >= 0x80 ? '?' : text[i];
    value = ascii ? json_string(ascii) : NULL;
    free(ascii);
    return value;
}

DECLS_END
#endif
