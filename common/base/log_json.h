// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a message as one JSON object (RFC 8259): ts, level, module, msg, and the message's key and
// value if it has them. Pure.
#ifndef WEIR_BASE_LOG_JSON_H
#define WEIR_BASE_LOG_JSON_H

#include "common/base/decls.h"
#include "common/base/log.h"
#include "common/base/put.h"

DECLS_BEGIN

// Writes a JSON string. Each byte that is not valid UTF-8 becomes U+FFFD.
void log_json_string(struct put *p, const char *text);
void log_json(struct put *p, const struct log_entry *e, const char *ts);

DECLS_END
#endif
