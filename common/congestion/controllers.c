// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/congestion/kinds.h"

const struct controller_kind controller_kinds[] = {
    CONTROLLER_ARC,    CONTROLLER_FIXED, CONTROLLER_PSP, CONTROLLER_PSP_PLAIN,
    CONTROLLER_SCREAM, CONTROLLER_TFRC,  {.name = NULL},
};

// Returns 0; ERR_NOT_FOUND; ERR_MALFORMED: too long; ERR_RANGE; ERR_NO_MEMORY.
static int create(const char *name, const struct controller_config *config, usec_t now,
                  struct controller **out)
{
    size_t len = strcspn(name, ":");
    const struct controller_kind *kind = controller_kinds;
    while (kind->name && (strlen(kind->name) != len || memcmp(kind->name, name, len) != 0))
        kind++;
    if (!kind->name)
        return ERR_NOT_FOUND;
    if (strlen(name) >= CONTROLLER_MAX_NAME)
        return ERR_MALFORMED;
    struct controller *c = calloc(1, kind->bytes);
    if (!c)
        return ERR_NO_MEMORY;
    c->config = *config;
    int err = kind->init(c, name[len] == ':' ? name + len + 1 : "", now);
    if (err) {
        free(c);
        return err;
    }
    *out = c;
    return 0;
}

int controller_check(const char *name)
{
    static const struct controller_config any = {.packet_bytes = 1200, .max_rate_bps = 1e9};
    struct controller *c;
    int err = create(name, &any, 0, &c);
    if (!err)
        free(c);
    return err;
}

struct controller *controller_new(const char *name, const struct controller_config *config,
                                  usec_t now)
{
    assert(config->packet_bytes > 0 && config->max_rate_bps > 0);
    struct controller *c = NULL;
    return create(name, config, now, &c) == 0 ? c : NULL;
}

void controller_set_max_rate(struct controller *c, double bps)
{
    assert(bps > 0);
    c->config.max_rate_bps = bps;
}
