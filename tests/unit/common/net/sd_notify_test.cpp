// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/sd_notify.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/temp_folder.hpp"

namespace
{

// Sets an environment variable, and removes it when destroyed.
struct variable {
    const char *name;

    variable(const char *n, const std::string &value) : name(n)
    {
        setenv(name, value.c_str(), 1);
    }
    ~variable()
    {
        unsetenv(name);
    }
    variable(const variable &) = delete;
    variable &operator=(const variable &) = delete;
};

// The service manager's socket. A name that begins with '@' is abstract (unix(7)).
struct manager {
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    explicit manager(const std::string &name)
    {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        memcpy(at.sun_path, name.data(), name.size());
        if (name[0] == '@')
            at.sun_path[0] = '\0';
        auto len = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&at), len) == 0);
    }
    ~manager()
    {
        close(fd);
    }
    manager(const manager &) = delete;
    manager &operator=(const manager &) = delete;

    std::string received() const
    {
        char text[256];
        ssize_t n = recv(fd, text, sizeof(text), 0);
        return n < 0 ? "(nothing)" : std::string(text, static_cast<size_t>(n));
    }
};

} // namespace

TEST_CASE("sd_notify: a state is sent to the socket named by the environment")
{
    temp_folder t;
    for (const std::string &name : {t / "notify", "@weir-test-" + std::to_string(getpid())}) {
        CAPTURE(name);
        manager m(name);
        variable v("NOTIFY_SOCKET", name);
        CHECK(sd_notify_send("READY=1\nSTATUS=x"));
        CHECK(m.received() == "READY=1\nSTATUS=x");
    }
    CHECK(temp_folder::logged().empty());
}

TEST_CASE("sd_notify: without a service manager nothing is sent")
{
    temp_folder t;
    unsetenv("NOTIFY_SOCKET");
    CHECK_FALSE(sd_notify_send("READY=1"));
    for (const std::string &name : {std::string(), std::string("/"), std::string("relative"),
                                    "/" + std::string(sizeof(sockaddr_un::sun_path), 'x')}) {
        CAPTURE(name);
        variable v("NOTIFY_SOCKET", name);
        CHECK_FALSE(sd_notify_send("READY=1"));
    }
    CHECK(temp_folder::logged().empty());
    variable v("NOTIFY_SOCKET", t / "nobody");
    CHECK_FALSE(sd_notify_send("READY=1"));
    CHECK(temp_folder::logged().find("cannot notify systemd of \"READY=1\"") == 0);
}

TEST_CASE("sd_notify: the watchdog's time, if it applies to this process")
{
    std::string own = std::to_string(getpid()), other = std::to_string(getpid() + 1);
    struct {
        const char *usec;
        std::string pid; // empty: not set
        usec_t time;
    } const table[] = {
        {"20000000", own, 20000000}, {"20000000", "", 20000000}, {"20000000", other, USEC_NEVER},
        {"0", own, USEC_NEVER},      {"-5", own, USEC_NEVER},    {"20s", own, USEC_NEVER},
        {"", own, USEC_NEVER},
    };
    for (const auto &row : table) {
        CAPTURE(row.usec, row.pid);
        variable v("WATCHDOG_USEC", row.usec);
        unsetenv("WATCHDOG_PID");
        if (!row.pid.empty())
            setenv("WATCHDOG_PID", row.pid.c_str(), 1);
        CHECK(sd_notify_watchdog() == row.time);
    }
    unsetenv("WATCHDOG_PID");
    CHECK(sd_notify_watchdog() == USEC_NEVER);
}
