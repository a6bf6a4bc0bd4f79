// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/clip_request.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/utc_time.h"

enum { TEXT_MAX = 40 };

// "2026-11-24T11:30:00" without the signs that utc_time_decode does not take.
static void strip_signs(const char *text, size_t len, char out[TEXT_MAX + 1])
{
    static const char form[] = "    -  -  T  :  :  ";
    bool is_long = len >= sizeof(form) - 1;
    for (size_t i = 0; is_long && i < sizeof(form) - 1; i++)
        is_long = form[i] == ' ' || form[i] == text[i];
    size_t used = 0;
    for (size_t i = 0; i < len; i++)
        if (!is_long || i >= sizeof(form) - 1 || form[i] == ' ' || form[i] == 'T')
            out[used++] = text[i];
    out[used] = '\0';
}

static int read_seconds(const char *text, double *out)
{
    const char *at = text;
    *out = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        *out = 10 * *out + (*at - '0');
    if (at == text)
        return ERR_MALFORMED;
    double unit = 0.1;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10)
            *out += unit * (*at - '0');
    return *at || *out > 253402300799.0 ? ERR_MALFORMED : 0; // the end of year 9999
}

static int read_time(const char *text, size_t len, usec_t *out)
{
    char plain[TEXT_MAX + 1];
    double seconds;
    if (len > TEXT_MAX)
        return ERR_MALFORMED;
    strip_signs(text, len, plain);
    struct scan s = {plain, plain + strlen(plain)};
    bool is_utc = utc_time_decode(&s, &seconds) == 0 && s.at == s.end;
    if (!is_utc && read_seconds(plain, &seconds) != 0)
        return ERR_MALFORMED;
    *out = llround(seconds * (double)USEC_PER_SEC);
    return 0;
}

int clip_request_read(const char *text, usec_t longest, usec_t *from, usec_t *to)
{
    const char *comma = strchr(text, ',');
    if (!comma || read_time(text, (size_t)(comma - text), from) != 0 ||
        read_time(comma + 1, strlen(comma + 1), to) != 0 || *to <= *from)
        return ERR_MALFORMED;
    return *to - *from > longest ? ERR_RANGE : 0;
}
