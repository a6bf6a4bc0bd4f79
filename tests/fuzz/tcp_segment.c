// SPDX-License-Identifier: GPL-2.0-or-later
// TCP segments. First byte even: an IPv4 packet; odd: the bytes after an IPv6 header. A parsed
// segment is within the input, and a packet built from it parses to the same.
#include <assert.h>
#include <string.h>

#include "common/wire/tcp_segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(bool v6, const uint8_t *bytes, size_t len, struct tcp_segment *s)
{
    struct tcp_path path = {.v6 = true, .source.address = {1}, .destination.address = {2}};
    return v6 ? tcp_segment_parse(&path, bytes, len, s) : tcp_segment_parse_ipv4(bytes, len, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t packet[65535 + 1];
    if (size < 1)
        return 0;
    bool v6 = data[0] & 1;
    struct tcp_segment s, again;
    if (parse(v6, data + 1, size - 1, &s) != 0)
        return 0;
    assert(s.len <= size - 1 && s.data >= data + 1 && s.data + s.len <= data + size);
    assert(s.sack_count <= TCP_SEGMENT_SACKS && s.scale <= TCP_SEGMENT_MAX_SCALE);
    int n = tcp_segment_build(&s, packet, sizeof(packet));
    if (n < 0) // too long together with the IP header
        return 0;
    size_t ip = v6 ? 40 : 0;
    int failed = parse(v6, packet + ip, (size_t)n - ip, &again);
    assert(!failed && again.sum == TCP_SUM_GOOD);
    assert(tcp_path_same(&s.path, &again.path) && s.seq == again.seq && s.ack == again.ack);
    assert(s.flags == again.flags && s.window == again.window && s.mss == again.mss);
    assert(s.scale == again.scale && s.sack_permitted == again.sack_permitted);
    assert(s.has_times == again.has_times && s.time == again.time);
    assert(s.time_echo == again.time_echo && again.sack_count <= s.sack_count);
    assert(s.len == again.len && memcmp(s.data, again.data, s.len) == 0);
    return 0;
}
