// SPDX-License-Identifier: GPL-2.0-or-later
// The options of a server that say who may watch, and what a program does with them.
#ifndef WEIR_SERVER_ACCESS_ACCESS_OPTIONS_H
#define WEIR_SERVER_ACCESS_ACCESS_OPTIONS_H

#include "common/base/decls.h"
#include "common/options/option_table.h"
#include "server/access/access.h"

DECLS_BEGIN

struct access_options { // strings are borrowed; NULL: not given
    const char *file;
    const char *service;
    const char *user;   // whose line is made
    const char *invite; // the path of a URL, "publish:" and a path, or "metrics" or "control"
    const char *invite_for;
    bool insecure; // everybody may watch, off the loopback, too
    bool qr;       // the URL for a phone is printed as a QR code
};

enum { ACCESS_FOR_DAYS = 7 }; // --for, if it is not given

// The rows; `option` names that of the file, `base` is the offset of a struct access_options.
// clang-format off
#define OPTION_ROWS_ACCESS(option, base)                                                            \
    {.section = "Access", .name = option, .argument = "FILE", .kind = OPTION_FILE,                \
     .at = (base) + offsetof(struct access_options, file),                                          \
     .help = "let in only the users of this file and the bearers of keys, on the loopback too: "    \
             "lines user = NAME:HASH (--user makes them) and allow = NAME PATH watch"},             \
    {.name = option "-http", .argument = "URL", .kind = OPTION_FILE,                               \
     .at = (base) + offsetof(struct access_options, service), .read = access_options_read_service,  \
     .help = "ask a service of this machine whom to let in, on the loopback too: POST of the user, " \
             "password, key, address, path and right as JSON to http://127.0.0.1:PORT/PATH, which "  \
             "answers 2xx, 401 or 403; the server's own keys need no request"},                     \
    {.name = "user", .argument = "NAME", .kind = OPTION_FILE,                                       \
     .at = (base) + offsetof(struct access_options, user), .read = access_options_read_user,        \
     .help = "ask for a password, and append the line of this user to the file of --" option        \
             ", or print it if there is none, and exit"},                                           \
    {.name = "invite", .argument = "PATH", .kind = OPTION_FILE,                                     \
     .at = (base) + offsetof(struct access_options, invite), .read = access_options_read_path,      \
     .help = "print a URL with a key for this path and what is below it, or with the word metrics "  \
             "for the page of --metrics, or control for weir-send's interface, or publish:PATH "    \
             "to publish to it, and exit"},                                                         \
    {.name = "for", .argument = "TIME", .kind = OPTION_FILE,                                        \
     .at = (base) + offsetof(struct access_options, invite_for), .read = access_options_read_for,   \
     .help = "how long the key of --invite is valid: 90m, 12h, 7d, or ever (default 7d)"},          \
    {.name = "insecure", .kind = OPTION_SWITCH,                                                     \
     .at = (base) + offsetof(struct access_options, insecure),                                      \
     .help = "off the loopback: require neither a key nor encryption"},                             \
    {.name = "qr", .kind = OPTION_SWITCH, .at = (base) + offsetof(struct access_options, qr),       \
     .help = "print the URL for a browser as a QR code, too, for the camera of a phone"}
// clang-format on

// for the rows
option_read access_options_read_user, access_options_read_path, access_options_read_for;
option_read access_options_read_service;
// Reads --for: seconds, 0: for ever; a negative number: the text is no such time.
int64_t access_options_seconds(const char *text);

// Returns NULL, or why the options conflict (static).
const char *access_options_conflict(const struct access_options *o);

// Opens what the options require for a server at `listen` whose metrics are at `metrics`
// (AF_UNSPEC: none): off the loopback a key is required, and with a file everywhere. `state_dir`:
// as state_dir_find has it. *out: NULL: everybody may use it. Returns 0, or ERR_IO: it cannot be
// opened (logged).
int access_options_open(const struct access_options *o, const char *state_dir, uv_loop_t *loop,
                        const struct sockaddr *listen, const struct sockaddr *metrics,
                        struct access **out);

#define ACCESS_INVITE_METRICS "metrics" // --invite metrics
#define ACCESS_INVITE_CONTROL "control"
#define ACCESS_INVITE_PUBLISH "publish:" // before a path

DECLS_END
#endif
