// SPDX-License-Identifier: GPL-2.0-or-later
// RTP packets of random bytes, and an encoder and a decoder that are fed with them.
#ifndef WEIR_TEST_FEC_PACKETS_HPP
#define WEIR_TEST_FEC_PACKETS_HPP

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/rng.h"
#include "common/repair/fec_decoder.h"
#include "common/repair/fec_encoder.h"

using fec_bytes = std::vector<uint8_t>;

// RTP version 2, the number, then anything.
inline fec_bytes fec_packet(uint16_t seq, size_t len, rng *random)
{
    fec_bytes p(len);
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = rng_u64(random);
        memcpy(&p[i], &word, std::min<size_t>(8, len - i));
    }
    p[0] = 0x80;
    store_be16(&p[2], seq);
    return p;
}

struct fec_pair {
    std::unique_ptr<fec_encoder, decltype(&fec_encoder_free)> encoder{fec_encoder_new(),
                                                                      fec_encoder_free};
    std::unique_ptr<fec_decoder, decltype(&fec_decoder_free)> decoder{fec_decoder_new(),
                                                                      fec_decoder_free};
    std::map<int64_t, fec_bytes> recovered;

    // The packet is cut into two parts, as media packets are.
    bool protect(uint16_t seq, int64_t frame, const fec_bytes &p)
    {
        return fec_encoder_add(encoder.get(), seq, frame, p.data(), 12, p.data() + 12,
                               p.size() - 12);
    }
    fec_bytes parity(int frames)
    {
        fec_bytes out(FEC_MAX_HEADER + FEC_MAX_PARITY);
        out.resize(fec_encoder_parity(encoder.get(), frames, out.data(), out.size()));
        return out;
    }
    void drain()
    {
        fec_recovered r;
        while (fec_decoder_next(decoder.get(), &r))
            recovered[r.seq] = fec_bytes(r.bytes, r.bytes + r.len);
    }
    void arrive(int64_t seq, const fec_bytes &p)
    {
        fec_decoder_packet(decoder.get(), seq, p.data(), p.size());
        drain();
    }
    int arrive_parity(const fec_bytes &p)
    {
        int err = fec_decoder_parity(decoder.get(), p.data(), p.size());
        drain();
        return err;
    }
};

#endif
