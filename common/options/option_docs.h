// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a table of options for other programs: the OPTIONS of a manual page, and completion for
// bash and zsh. The surrounding text is in files of its own.
//
// The row determines the completion of a value: its words up to a placeholder ("test:[WxH@FPS]" is
// "test:"); files if the argument or a word begins with FILE; parts of a list if the argument is
// LIST or ends in ",...". If several rows are operands, the words of all of them are offered.
#ifndef WEIR_OPTIONS_OPTION_DOCS_H
#define WEIR_OPTIONS_OPTION_DOCS_H

#include "common/base/decls.h"
#include "common/base/put.h"
#include "common/options/option_table.h"

DECLS_BEGIN

void option_docs_man(const struct option_table *t, struct put *out); // roff, man(7)
// Writes the cases of a bash function.
void option_docs_bash(const struct option_table *t, struct put *out);
// Writes the arguments of zsh's _arguments.
void option_docs_zsh(const struct option_table *t, struct put *out);

DECLS_END
#endif
