// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/path_change.h"

// A transport whose viewer does not report packets knows no silence: there the response decides.
bool path_may_change(const struct transport_info *info)
{
    return !info || !info->is_reported ||
           (info->unheard_packets > 0 && info->unheard >= PATH_CHANGE_SILENCE);
}

enum path_step path_step_of(const struct path_change *c)
{
    if (c->is_in_use)
        return c->other_host ? PATH_STEP_ANEW : c->other_port ? PATH_STEP_GOES_ON : PATH_STEP_NONE;
    return c->was_lost && c->home_stands ? PATH_STEP_BACK : PATH_STEP_NONE;
}
