// SPDX-License-Identifier: GPL-2.0-or-later
// weir-proxy's command line.
#ifndef WEIR_PROXY_OPTIONS_OPTIONS_H
#define WEIR_PROXY_OPTIONS_OPTIONS_H

#include <stdio.h>
#include <sys/socket.h>

#include "common/base/decls.h"
#include "common/program/command_line.h"
#include "proxy/feed/relay_choices.h"
#include "proxy/policy/origin_url.h"
#include "server/options/server_options.h"
#include "stream/send/scheduler.h"

DECLS_BEGIN

struct proxy_options {
    struct sockaddr_storage listen;
    bool no_announce;
    char *file;       // owned: text of the configuration file; NULL: none
    const char *user; // of the origins, USER:PASSWORD; NULL: none. Strings are borrowed
    struct origin_rules rules;
    bool names_origin, has_parent; // `rules.origin` is that of --origin, of --parent
    struct relay_choices choices;
    struct transport_list access; // that viewers get
    bool has_access;              // `access` was given: no other transport is allowed
    enum scheduler_mode queue;
    int queue_bytes;
    int timeout; // seconds
    int max_viewers;
    struct trusted_proxies proxies; // that may have more of them
    struct http_origins origins;    // of web pages that may play
    const char *cache;              // folder; NULL: none
    int64_t cache_bytes;            // of its files
    usec_t validate;
    usec_t prefix, share;
    double fill_speed;
    const char *prefetch; // file; NULL: none
    bool cache_list;      // print what is stored, and exit
    struct transport_list fetch;
    int fetch_rate;                  // bit/s; 0: the film's own pace
    const char *stats;               // NULL: none
    struct sockaddr_storage metrics; // AF_UNSPEC: none
    struct access_options who;       // may watch
    const char *state_dir;           // NULL: not given (state_dir_find)
    const char *tls_cert;            // file; NULL: not given. With tls_key
    const char *tls_key;             // file
    struct log_options log;
};

extern const struct option_table proxy_option_table;

// Parses the command line into a struct proxy_options; returns what command_line_read() returns.
// After OPTIONS_RUN the caller calls proxy_options_destroy.
enum options_result proxy_options_parse(int argc, char **argv, void *options, FILE *out,
                                        char *error, size_t cap);
void proxy_options_destroy(void *options);

DECLS_END
#endif
