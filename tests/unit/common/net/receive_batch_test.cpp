// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/receive_batch.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <vector>

namespace
{

struct pair_of_sockets {
    int fds[2];
    pair_of_sockets()
    {
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) == 0);
        int one = 1;
        REQUIRE(setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) == 0);
    }
    ~pair_of_sockets()
    {
        close(fds[0]);
        close(fds[1]);
    }
    void send(const std::string &text)
    {
        REQUIRE(write(fds[0], text.data(), text.size()) == (ssize_t)text.size());
    }
};

} // namespace

TEST_CASE("receive batch: receives all waiting datagrams up to the count, each in its own buffer")
{
    enum { EACH = 8, COUNT = 3 };
    pair_of_sockets s;
    receive_batch b;
    std::vector<uint8_t> buffers(EACH * COUNT);
    auto receive = [&] { return receive_batch_read(&b, s.fds[1], buffers.data(), EACH, COUNT); };
    auto text = [&](int i) {
        return std::string((char *)&buffers[(size_t)i * EACH], b.messages[i].msg_len);
    };
    errno = 0;
    CHECK(receive() == -1);
    CHECK(errno == EAGAIN);
    for (const char *t : {"one", "two", "longer than its buffer", "four"})
        s.send(t);
    REQUIRE(receive() == 3);
    CHECK(text(0) == "one");
    CHECK(text(1) == "two");
    CHECK(text(2) == "longer t");
    CHECK((b.messages[2].msg_hdr.msg_flags & MSG_TRUNC) != 0);
    REQUIRE(receive() == 1); // the fields of the last call do not last
    CHECK(text(0) == "four");
    CHECK((b.messages[0].msg_hdr.msg_flags & MSG_TRUNC) == 0);
    const cmsghdr *c = CMSG_FIRSTHDR(&b.messages[0].msg_hdr);
    REQUIRE(c);
    CHECK(c->cmsg_type == SCM_CREDENTIALS);
}
