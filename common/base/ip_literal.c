// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/ip_literal.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"

// fe80::/10 (RFC 4291, 2.4): a group of four digits, fe80 to febf.
static bool is_link_local(const char *address)
{
    return strncasecmp(address, "fe", 2) == 0 && address[2] && strchr("89abAB", address[2]) &&
           address[3] && strchr("0123456789abcdefABCDEF", address[3]) && address[4] == ':';
}

static bool is_zone(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)at[i] <= ' ' || at[i] == 0x7f || strchr("/%[]?#@", at[i]))
            return false;
    return len > 0;
}

int ip_literal_read(const char *at, size_t len, struct ip_literal *out, const char **reason)
{
    const char *percent = memchr(at, '%', len);
    size_t address = percent ? (size_t)(percent - at) : len;
    memset(out, 0, sizeof(*out));
    if (address >= sizeof(out->address)) {
        *reason = "the IPv6 address is too long";
        return ERR_MALFORMED;
    }
    memcpy(out->address, at, address);
    if (percent) {
        const char *zone = percent + 1;
        size_t left = len - address - 1;
        bool escaped = left > 2 && zone[0] == '2' && zone[1] == '5';
        zone += escaped ? 2 : 0;
        left -= escaped ? 2 : 0;
        if (left >= sizeof(out->zone) || !is_zone(zone, left)) {
            *reason = "what follows % is no name of a network interface";
            return ERR_MALFORMED;
        }
        memcpy(out->zone, zone, left);
    }
    if (is_link_local(out->address) && !out->zone[0]) {
        *reason = "a link-local address requires its network interface, such as [fe80::1%eth0] "
                  "(ip -6 address shows it)";
        return ERR_MALFORMED;
    }
    if (out->zone[0] && !is_link_local(out->address)) {
        *reason =
            "only a link-local address (fe80::) has a network interface (leave out % and what "
            "follows it)";
        return ERR_MALFORMED;
    }
    return 0;
}
