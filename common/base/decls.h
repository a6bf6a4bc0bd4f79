// SPDX-License-Identifier: GPL-2.0-or-later
// What a header declares between these two has C linkage in C++, too: the unit tests are C++.
#ifndef WEIR_BASE_DECLS_H
#define WEIR_BASE_DECLS_H

#ifdef __cplusplus
#define DECLS_BEGIN extern "C" {
#define DECLS_END   }
#else
#define DECLS_BEGIN
#define DECLS_END
#endif

#endif
