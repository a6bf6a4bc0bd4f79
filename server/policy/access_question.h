// SPDX-License-Identifier: GPL-2.0-or-later
// What a server asks the service of --access-http, and how that answers:
//
//     POST /PATH HTTP/1.1                  of the service's URL
//     {"user": "anna", "password": "...", "key": null, "address": "192.0.2.7",
//      "path": "/films/a.mp4", "right": "watch"}
//
// A status of 2xx lets the peer in; 401 refuses it, 403 a user who is known. Any other answer is
// none. What the service sends after the status is not read. Pure.
#ifndef WEIR_SERVER_POLICY_ACCESS_QUESTION_H
#define WEIR_SERVER_POLICY_ACCESS_QUESTION_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/request_path.h"

DECLS_BEGIN

enum {
    ACCESS_SERVICE_HOST_MAX = 16,   // bytes with NUL
    ACCESS_SERVICE_PATH_MAX = 256,  // bytes with NUL
    ACCESS_QUESTION_TEXT_MAX = 512, // bytes of a user, a password or a key, with NUL
    ACCESS_QUESTION_BYTES = 16384,  // of a request; each byte of a text is two at most
    ACCESS_ANSWER_BYTES = 64,       // of a response that are read
};

struct access_service_url {
    char host[ACCESS_SERVICE_HOST_MAX]; // "127.0.0.1" or "::1"
    int port;
    char path[ACCESS_SERVICE_PATH_MAX]; // with its query
};

struct access_question {
    char user[ACCESS_QUESTION_TEXT_MAX]; // "": none, and no password
    char password[ACCESS_QUESTION_TEXT_MAX];
    char key[ACCESS_QUESTION_TEXT_MAX]; // "": none
    char address[64];
    char path[REQUEST_PATH_MAX]; // decoded, without its first slash
    unsigned right;              // of access_right, one
};

// Reads http://127.0.0.1[:PORT][/PATH], or the same of [::1]: passwords do not leave this machine
// in the clear, and no name is looked up. Returns 0 or ERR_MALFORMED.
int access_service_url_read(const char *text, struct access_service_url *out);
// Writes the request. Returns its length; ERR_FULL; ERR_MALFORMED: a text is no UTF-8, or has
// control characters, so that two would be the same for the service.
int access_question_write(const struct access_service_url *to, const struct access_question *q,
                          char *out, size_t cap);
// Reads the beginning of the response. Returns the status, ERR_AGAIN: more is needed, or
// ERR_MALFORMED.
int access_answer_read(const char *data, size_t len);

DECLS_END
#endif
