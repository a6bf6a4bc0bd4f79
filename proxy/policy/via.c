// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/via.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

// Returns true if an entry "PROTOCOL NAME [COMMENT]" is of this proxy.
static bool is_of(struct scan entry, const char *name)
{
    entry = scan_trimmed(entry);
    (void)scan_until(&entry, ' ');
    entry = scan_trimmed(entry);
    struct scan host = scan_until(&entry, ' ');
    size_t len = (size_t)(host.end - host.at);
    return len == strlen(name) && memcmp(host.at, name, len) == 0;
}

int via_append(const char *received, const char *name, char out[VIA_MAX])
{
    struct scan entries = scan_of(received, strlen(received));
    int hops = 0;
    while (!scan_end(&entries)) {
        if (is_of(scan_until(&entries, ','), name))
            return ERR_AGAIN;
        hops++;
    }
    int len = snprintf(out, VIA_MAX, "%s%sRTSP/1.0 %s", received, *received ? ", " : "", name);
    return hops >= VIA_MAX_HOPS || len >= VIA_MAX ? ERR_TOO_BIG : 0;
}
