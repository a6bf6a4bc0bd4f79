// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/base/err.h"
#include "lab/emulator/pcap.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

using words = std::vector<uint32_t>;

words words_of(const std::string &bytes)
{
    words out(bytes.size() / 4);
    memcpy(out.data(), bytes.data(), out.size() * 4);
    return out;
}

} // namespace

TEST_CASE("pcap: a file by hand, packets cut at the snap length")
{
    temp_folder t;
    struct pcap p;
    REQUIRE(pcap_open(&p, (t / "x").c_str(), "a-in", 8) == 0);
    const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    pcap_write(&p, data, 4, 0);
    pcap_write(&p, data, 8, 1999999);
    pcap_write(&p, data, 12, INT64_C(4294967295) * USEC_PER_SEC + 7); // the last second that fits
    pcap_flush(&p);
    const words expected = {// magic, version 2.4, two reserved, snap, LINKTYPE_RAW
                            0xa1b23c4d, 2 | 4 << 16, 0, 0, 8, 101,
                            // seconds, nanoseconds, captured, length, bytes (little-endian)
                            0, 0, 4, 4, 0x04030201,                     //
                            1, 999999000, 8, 8, 0x04030201, 0x08070605, //
                            4294967295, 7000, 8, 12, 0x04030201, 0x08070605};
    CHECK(words_of(t.read("x-a-in.pcap")) == expected);
    CHECK(pcap_close(&p) == 0);
    CHECK(pcap_close(&p) == 0); // closed already
    pcap_write(&p, data, 4, 0); // and nothing to write to
    CHECK(words_of(t.read("x-a-in.pcap")) == expected);
    CHECK(t.logged().empty());
}

TEST_CASE("pcap: an existing file is replaced")
{
    temp_folder t;
    std::ofstream(t / "x-y.pcap") << std::string(1000, 'x');
    struct pcap p;
    REQUIRE(pcap_open(&p, (t / "x").c_str(), "y", 1) == 0);
    CHECK(pcap_close(&p) == 0);
    CHECK(t.read("x-y.pcap").size() == 24);
}

TEST_CASE("pcap: paths that are too long or invalid")
{
    temp_folder t;
    struct pcap p;
    // With "-in.pcap" and the zero at the end: 1024 and 1025 bytes.
    CHECK(pcap_open(&p, std::string(PCAP_PATH_MAX - 9, 'p').c_str(), "in", 1) == ERR_IO);
    CHECK(pcap_open(&p, std::string(PCAP_PATH_MAX - 8, 'p').c_str(), "in", 1) == ERR_RANGE);
    CHECK(t.logged().find("longer than 1023 bytes") != std::string::npos);
    t.forget_logged();
    CHECK(pcap_open(&p, (t / "no/such").c_str(), "in", 1) == ERR_IO);
    CHECK(t.logged() == "cannot write " + (t / "no/such-in.pcap: No such file or directory\n"));
}

TEST_CASE("pcap: a disk that is full from the start")
{
    temp_folder t;
    struct pcap p;
    std::filesystem::create_symlink("/dev/full", t / "x-in.pcap");
    CHECK(pcap_open(&p, (t / "x").c_str(), "in", 1) == ERR_IO);
    CHECK(t.logged() ==
          "cannot write " + (t / "x-in.pcap: No space left on device (the capture ends here)\n"));
    CHECK(pcap_close(&p) == ERR_IO);
}

TEST_CASE("pcap: a disk that becomes full is reported once, and at the end")
{
    temp_folder t;
    const uint8_t data[1500] = {};
    for (bool by_flush : {true, false}) {
        CAPTURE(by_flush);
        t.forget_logged();
        struct pcap p;
        REQUIRE(pcap_open(&p, (t / "x").c_str(), "in", 65535) == 0);
        fclose(p.file);
        p.file = fopen("/dev/full", "wb");
        REQUIRE(p.file);
        for (int i = 0; i < (by_flush ? 1 : 1000); i++) // 1000: more than any buffer
            pcap_write(&p, data, sizeof(data), i);
        pcap_flush(&p);
        CHECK(p.file == nullptr);
        pcap_write(&p, data, sizeof(data), 1000);
        CHECK(t.logged() ==
              "cannot write " +
                  (t / "x-in.pcap: No space left on device (the capture ends here)\n"));
        CHECK(pcap_close(&p) == ERR_IO);
    }
}
