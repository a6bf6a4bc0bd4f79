// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/utc_time.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

enum { DAY_S = 86400, YEAR_MIN = 1970, YEAR_MAX = 9999 };

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

// Returns the days from 1970 to the first of January of the year.
static int64_t days_before_year(int year)
{
    int64_t y = year - 1;
    return 365 * ((int64_t)year - YEAR_MIN) + (y / 4 - 1969 / 4) - (y / 100 - 1969 / 100) +
           (y / 400 - 1969 / 400);
}

static bool scan_digits(struct scan *s, int count, int min, int max, int *out)
{
    int digit;
    *out = 0;
    for (int i = 0; i < count; i++) {
        if (!scan_digit(s, &digit))
            return false;
        *out = 10 * *out + digit;
    }
    return *out >= min && *out <= max;
}

int utc_time_decode(struct scan *s, double *seconds)
{
    int year, month, day, hour, minute, second;
    if (!scan_digits(s, 4, YEAR_MIN, YEAR_MAX, &year) || !scan_digits(s, 2, 1, 12, &month) ||
        !scan_digits(s, 2, 1, days_of_month(year, month), &day) || !scan_char(s, 'T') ||
        !scan_digits(s, 2, 0, 23, &hour) || !scan_digits(s, 2, 0, 59, &minute) ||
        !scan_digits(s, 2, 0, 60, &second)) // 60: a leap second
        return ERR_MALFORMED;
    double fraction = scan_char(s, '.') ? scan_fraction(s) : 0;
    if (!scan_char(s, 'Z'))
        return ERR_MALFORMED;
    int64_t days = days_before_year(year) + day - 1;
    for (int m = 1; m < month; m++)
        days += days_of_month(year, m);
    *seconds = (double)(days * DAY_S + hour * 3600 + minute * 60 + second) + fraction;
    return 0;
}

void utc_time_encode(double seconds, char out[UTC_TIME_TEXT])
{
    double max = (double)days_before_year(YEAR_MAX + 1) * DAY_S - 1;
    int64_t ms = llround(fmin(fmax(seconds, 0), max) * 1000);
    int64_t days = ms / 1000 / DAY_S;
    int of_day = (int)(ms / 1000 % DAY_S), year = YEAR_MIN, month = 1;
    while (days_before_year(year + 1) <= days)
        year++;
    days -= days_before_year(year);
    for (; days >= days_of_month(year, month); month++)
        days -= days_of_month(year, month);
    snprintf(out, UTC_TIME_TEXT, "%04d%02d%02dT%02d%02d%02d.%03dZ", year % 10000, month,
             (int)days % 100 + 1, of_day / 3600, of_day / 60 % 60, of_day % 60, (int)(ms % 1000));
}
