// SPDX-License-Identifier: GPL-2.0-or-later
// The options that both servers have, as rows (option_table.h) of each one's table. `type` is the
// struct of the program's options, whose fields have these names:
//
//     struct sockaddr_storage listen;  bool no_announce;
//     int timeout, max_viewers;        // timeout in seconds
//     struct trusted_proxies proxies;  // that may have more viewers
//     struct http_origins origins;     // of web pages that may play
//     struct access_options who;       // may watch
//     const char *state_dir, *tls_cert, *tls_key, *stats;  // borrowed; NULL: not given
//     struct sockaddr_storage metrics; // AF_UNSPEC: none
//     struct log_options log;
#ifndef WEIR_SERVER_OPTIONS_SERVER_OPTIONS_H
#define WEIR_SERVER_OPTIONS_SERVER_OPTIONS_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/net/log_stderr.h"
#include "common/options/option_table.h"
#include "server/access/access_options.h"
#include "server/http/trusted_proxies.h"
#include "server/policy/viewer_limits.h"
#include "server/web/web_front.h"

DECLS_BEGIN

#define SERVER_LISTEN "127.0.0.1:8554" // without --listen

// Each reads the field at its row's offset.
option_read server_options_read_address, server_options_read_trusted, server_options_read_origin;

// clang-format off
#define SERVER_ROWS_LISTEN(type, heading)                                                         \
    {.section = heading, .name = "listen", .argument = "ADDR:PORT", .at = offsetof(type, listen), \
     .read = server_options_read_address, .fallback = SERVER_LISTEN,                              \
     .help = "address to listen on; all addresses: 0.0.0.0:8554, [::]:8554 or :8554; 8554 is "    \
             "this machine only; a link-local address requires its interface: "                   \
             "[fe80::1%eth0]:8554"},                                                              \
    {.name = "no-announce", .kind = OPTION_SWITCH, .at = offsetof(type, no_announce),             \
     .help = "do not announce the server by DNS-SD, so that weir-play --list-servers does not "   \
             "find it; one that listens on this machine only is not announced either"}
#define SERVER_ROWS_VIEWERS(type, timeout_note)                                                   \
    {.name = "timeout", .argument = "SECONDS", .kind = OPTION_INT, .at = offsetof(type, timeout), \
     .min = 1, .max = 3600, .fallback = "20",                                                     \
     .help = "drop a viewer that takes no data for this time, 1 to 3600" timeout_note},           \
    {.name = "max-viewers", .argument = "N", .kind = OPTION_INT,                                  \
     .at = offsetof(type, max_viewers), .min = 1, .max = VIEWERS_MAX, .fallback = "1024",         \
     .help = "maximum number of connections, 1 to 65535; one address may have a quarter of "      \
             "them, at least 4"}
#define SERVER_ROWS_OTHERS(type, trusted_note, origin_note)                                       \
    {.name = "trust-proxy", .argument = "ADDR", .at = offsetof(type, proxies),                    \
     .read = server_options_read_trusted, .repeats = true,                                        \
     .help = "a proxy with many viewers: this address may have three quarters of "                \
             "--max-viewers" trusted_note "; repeat it for more, at most 16"},                    \
    {.name = "allow-origin", .argument = "ORIGIN", .at = offsetof(type, origins),                 \
     .read = server_options_read_origin, .repeats = true,                                         \
     .help = "let web pages of this origin play from the server" origin_note " and embed its "    \
             "page, such as https://example.org, or * for all pages; repeat it for more, at "     \
             "most 16"}
#define SERVER_ROWS_ACCESS(type, file)                                                            \
    OPTION_ROWS_ACCESS(file, offsetof(type, who)),                                                \
    OPTION_ROW_STATE_DIR(offsetof(type, state_dir)),                                              \
    {.name = "tls-cert", .argument = "FILE", .kind = OPTION_FILE, .at = offsetof(type, tls_cert), \
     .help = "certificate of the server, in PEM, with those up to its CA's; requires --tls-key "  \
             "(default: a self-signed one, whose key is kept in --state-dir)"},                   \
    {.name = "tls-key", .argument = "FILE", .kind = OPTION_FILE, .at = offsetof(type, tls_key),   \
     .help = "private key of --tls-cert, in PEM"}
#define SERVER_ROWS_RESULTS(type)                                                                 \
    {.section = "Results", .name = "stats", .argument = "FILE", .kind = OPTION_FILE,              \
     .at = offsetof(type, stats), .help = "write a JSON line per second and viewer"},             \
    {.name = "metrics", .argument = "ADDR:PORT", .at = offsetof(type, metrics),                   \
     .read = server_options_read_address,                                                         \
     .help = "serve HTTP: stats for Prometheus at /metrics, a page that displays them at /"}
#define SERVER_ROWS_GENERAL(type)                                                                 \
    OPTION_ROWS_LOG(offsetof(type, log.filter), offsetof(type, log.json), "info"),                \
    {.name = "quiet", .letter = 'q', .kind = OPTION_LOG_ALL, .at = offsetof(type, log.filter),    \
     .min = LOG_ERROR, .help = "--log error"},                                                    \
    OPTION_ROWS_CONFIG,                                                                           \
    OPTION_ROWS_HELP
// clang-format on

DECLS_END
#endif
