// SPDX-License-Identifier: GPL-2.0-or-later
// The code that fec_encoder and fec_decoder share (common/wire/fec_header.h): the factor of each
// packet in each parity.
#ifndef WEIR_REPAIR_FEC_CODE_H
#define WEIR_REPAIR_FEC_CODE_H

#include <isa-l/erasure_code.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/fec_header.h"

DECLS_BEGIN

enum { FEC_TABLE = 32 }; // bytes that ISA-L needs for each factor

// The factor of packet `seq` in parity `number`, never 0. An entry of a Cauchy matrix: its rows
// have the elements 128 .. 255, its columns 0 .. 127.
static inline uint8_t fec_factor(uint8_t number, uint16_t seq)
{
    return gf_inv((uint8_t)((0x80 | number) ^ (seq & 0x7f)));
}

DECLS_END
#endif
