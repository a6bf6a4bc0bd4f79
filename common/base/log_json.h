// SPDX-License-Identifier: GPL-2.0-or-later
// A message as one JSON object (RFC 8259): ts, level, module, msg, and its field if it has one.
// Pure.
#ifndef WEIR_BASE_LOG_JSON_H
#define WEIR_BASE_LOG_JSON_H

#include "common/base/log.h"
#include "common/base/put.h"

#ifdef __cplusplus
extern "C" {
#endif

// A JSON string. Bytes that are not UTF-8 become U+FFFD.
void log_json_string(struct put *p, const char *text);
void log_json(struct put *p, const struct log_entry *e, const char *ts);

#ifdef __cplusplus
}
#endif
#endif
