// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/options/server_options.h"

#include "common/program/listen_argument.h"

const char *server_options_read_address(void *field, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return listen_argument_read(value, field);
}

const char *server_options_read_trusted(void *field, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return trusted_proxies_read(field, value);
}

const char *server_options_read_origin(void *field, const char *value, char *reason, size_t cap)
{
    (void)reason, (void)cap;
    return http_origins_read(field, value);
}
