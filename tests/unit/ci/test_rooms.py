# SPDX-License-Identifier: GPL-2.0-or-later
"""Each fault that .ci/rooms.py must find, in a small tree of its own; and that a tree without faults passes."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.ci/rooms.py")
# git must look for its repository in the folder of the test alone.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

# A tree without faults, with a room or two on each floor and two of each program.
CLEAN = {
    "pure.txt": "# pure folders\ncommon/base\n\ncommon/wire\ncommon/protocol\nlab/link\nmedia/rtp\n",
    "common/base/err.h": "#include <stdint.h>\n",
    "common/base/err.c": '#include "common/base/err.h"\n',
    "common/wire/rtp.h": '#include "common/base/err.h"\n',
    "common/protocol/rtsp.h": '#include "common/wire/rtp.h"\n',
    "common/net/clock.h": '#include "common/base/err.h"\n',
    "common/net/clock.c": '#include "common/net/clock.h"\n#include <time.h>\nvoid f(void)\n{\n    clock_gettime(0, 0);\n}\n',
    "common/transport/udp.c": '#include "common/net/clock.h"\n#include <uv.h>\n',
    "media/rtp/packetiser.h": '#include "common/wire/rtp.h"\n',
    "media/source/source.h": '#include "media/rtp/packetiser.h"\n#include "common/net/clock.h"\n',
    "stream/send/sender.h": '#include "media/source/source.h"\n',
    "sender/main.c": '#include "sender/session/session.h"\n',
    "server/rtsp/server.h": '#include "stream/send/sender.h"\n',
    "client/rtsp/link.h": '#include "common/net/clock.h"\n',
    "sender/session/session.h": '#include "server/rtsp/server.h"\n',
    "player/video/pipeline.h": '#include "media/source/source.h"\n',
    "proxy/main.c": '#include "stream/send/sender.h"\n',
    "lab/link/queue.h": '#include "common/base/err.h"\n',
    "lab/traffic/cbr.c": '#include "lab/link/queue.h"\n#include "sender/session/session.h"\n',
    "tests/bench/encode.c": '#include "player/video/pipeline.h"\n#include "lab/link/queue.h"\n',
}
# A room of each floor, bottom to top.
FLOORS = ("common/base", "common/wire", "common/congestion", "common/protocol", "common/net", "common/transport", "media/rtp",
          "stream/send", "server/rtsp", "sender/session", "lab/traffic")


def run(tree, *arguments):
    """Writes `tree` ({path: text}) into a new clone and runs the program on it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True, env=ENVIRONMENT)
        for path, text in tree.items():
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return subprocess.run([sys.executable, ROOMS, "--tree", folder, *arguments], env=ENVIRONMENT, text=True,
                              capture_output=True, timeout=60)


class Rooms(unittest.TestCase):
    def passes(self, changes):
        p = run({**CLEAN, **changes})
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "", ""))

    def fails(self, changes, *expected):
        """The clean tree with `changes` fails with one line per tuple in `expected`, which has all strings of that tuple.
        A text that is None removes the file."""
        p = run({path: text for path, text in {**CLEAN, **changes}.items() if text is not None})
        lines = p.stderr.splitlines()
        self.assertEqual((p.returncode, p.stdout, len(lines)), (1, "", len(expected)), p.stderr)
        for line, parts in zip(lines, expected):
            self.assertTrue(line.startswith(parts[0] + ": "), f"{line}\nis not at {parts[0]}")
            for part in parts[1:]:
                self.assertIn(part, line)

    def test_a_clean_tree_passes(self):
        self.passes({})

    def test_a_circle_of_two_rooms(self):
        self.fails({"media/source/source.c": '\n#include "media/capture/device.h"\n',
                    "media/capture/device.h": '#include "media/source/source.h"\n'},
                   ("media/capture/device.h:1", "circle between rooms: media/capture -> media/source "
                    "(media/capture/device.h:1 includes media/source/source.h) -> media/capture "
                    "(media/source/source.c:2 includes media/capture/device.h): "))

    def test_a_circle_of_three_rooms_names_each_arrow_and_the_weakest(self):
        self.fails({"sender/a/a.h": '#include "sender/b/b.h"\n', "sender/a/a.c": '#include "sender/b/b.h"\n',
                    "sender/b/b.h": '#include "sender/c/c.h"\n', "sender/b/b.c": '#include "sender/c/c.h"\n',
                    "sender/c/c.h": "\n", "sender/c/c.c": '#include "sender/c/c.h"\n#include "sender/a/a.h"\n'},
                   ("sender/c/c.c:2", "-> sender/b (sender/a/a.c:1 ", "-> sender/c (sender/b/b.c:1 ",
                    "-> sender/a (sender/c/c.c:2 ", "sender/c -> sender/a is 1 include "))

    def test_the_shortest_circle_comes_first_and_the_next_is_found_too(self):
        long = {f"player/{room}/{room}.h": f'#include "player/{other}/{other}.h"\n' for room, other in ("ab", "bc", "cd", "da")}
        short = {"player/b/x.c": '#include "player/a/a.h"\n'}
        self.fails({**long, **short}, ("player/a/a.h:1", "player/a -> player/b", "-> player/a (player/b/x.c:1 "))
        short = {"player/d/x.c": '#include "player/e/e.h"\n', "player/e/e.h": '#include "player/d/d.h"\n'}
        self.fails({**long, **short}, ("player/d/x.c:1", "player/d -> player/e", "-> player/d (player/e/e.h:1 "),
                   ("player/a/a.h:1", "-> player/d (player/c/c.h:1 ", "-> player/a (player/d/d.h:1 "))

    def test_a_circle_of_a_folder_and_one_inside_it(self):
        self.fails({"media/capture/capture.h": '#include "media/capture/policy/retry.h"\n',
                    "media/capture/policy/retry.h": "", "media/capture/policy/retry.c": '#include "media/capture/capture.h"\n'},
                   ("media/capture/capture.h:1", "media/capture -> media/capture/policy", "media/capture/policy/retry.c:1 "))

    def test_two_files_of_one_room_may_form_a_circle(self):
        self.passes({"common/base/a.h": '#include "common/base/b.h"\n', "common/base/b.h": '#include "common/base/a.h"\n'})

    def test_an_include_of_the_next_floor_up(self):
        for lower, upper in zip(FLOORS, FLOORS[1:]):
            with self.subTest(lower=lower, upper=upper):
                tree = {"pure.txt": "", f"{lower}/low.c": f'// low\n#include "{upper}/up.h"\n', f"{upper}/up.h": "\n"}
                p = run(tree)
                faults = [line for line in p.stderr.splitlines() if not line.startswith("pure.txt:")]
                self.assertEqual((p.returncode, len(faults)), (1, 1), p.stderr)
                self.assertRegex(faults[0], f"^{lower}/low.c:2: upward include: {upper}/up.h: {upper} is on a higher floor than {lower} ")

    def test_an_include_of_each_lower_floor_passes(self):
        for number, upper in enumerate(FLOORS):
            pure = "\n".join(FLOORS[:min(4, number + 1)])
            p = run({"pure.txt": pure, **{f"{lower}/low.h": "\n" for lower in FLOORS[:number]},
                     f"{upper}/up.c": "".join(f'#include "{lower}/low.h"\n' for lower in FLOORS[:number])})
            self.assertEqual((p.returncode, p.stderr), (0, ""))

    def test_however_an_include_is_written(self):
        for text in ('#include "sender/session/session.h"', "#include <sender/session/session.h>",
                     '  #  include\t"../../sender/session/session.h" // why', '#include"sender/session/session.h"'):
            with self.subTest(text=text):
                self.fails({"media/source/source.c": text}, ("media/source/source.c:1", "upward include",
                                                             "sender/session is on a higher floor than media/source"))

    def test_programs_never_include_each_other(self):
        headers = {f"{program}/x/x.h": "\n" for program in ("sender", "player", "proxy")}
        for program in ("sender", "player", "proxy"):
            for other in {"sender", "player", "proxy"} - {program}:
                with self.subTest(program=program, other=other):
                    self.fails({**headers, f"{program}/y.c": f'#include "{other}/x/x.h"\n'},
                               (f"{program}/y.c:1", "upward include", f"{other}/x/x.h: {program} and {other}/x never include each other"))

    def test_server_and_client_never_include_each_other(self):
        self.fails({"server/rtsp/a.c": '#include "client/rtsp/link.h"\n'},
                   ("server/rtsp/a.c:1", "upward include", "server/rtsp and client/rtsp never include each other"))

    def test_nothing_includes_the_lab_or_the_tests(self):
        for header in ("lab/link/queue.h", "tests/unit/rig.h"):
            self.fails({"tests/unit/rig.h": "\n", "sender/main.c": f'#include "{header}"\n'},
                       ("sender/main.c:1", "upward include", header))

    def test_the_emulated_link_rests_on_base_alone(self):
        self.fails({"lab/link/queue.c": '#include "lab/link/queue.h"\n#include "common/wire/rtp.h"\n'},
                   ("lab/link/queue.c:2", "upward include", "common/wire/rtp.h: lab/link includes only common/base "))

    def test_a_folder_on_no_floor(self):
        for folder in ("common/newroom", "gateway", "common/wirespeed"):
            self.fails({f"{folder}/x.c": "\n", f"{folder}/y.c": "\n"},
                       (f"{folder}/x.c:1", f"say in .ci/rooms.py on which floor {folder} is"))
        self.fails({"x.c": "\n"}, ("x.c:1", "say in .ci/rooms.py on which floor the top folder is"))

    def test_an_include_that_names_no_file_of_the_tree(self):
        for text, name in (('"common/base/eer.h"', "common/base/eer.h"), ("HEADER", "HEADER"), ('"uv.h"', "uv.h")):
            self.fails({"sender/main.c": f"#include {text}\n"}, ("sender/main.c:1", f"{name} is no .c or .h file of this tree"))

    def test_an_impure_header_in_a_pure_room(self):
        for header in ("uv.h", "time.h", "pthread.h", "unistd.h", "sys/socket.h", "netinet/in.h", "SDL2/SDL.h", "jansson.h",
                       "libavcodec/avcodec.h", "libswscale/swscale.h", "fcntl.h", "poll.h", "x264.h", "linux/tcp.h"):
            with self.subTest(header=header):
                self.fails({"common/wire/rtp.c": f'#include "common/wire/rtp.h"\n#include <{header}>\n'},
                           ("common/wire/rtp.c:2", "impure include in a pure room", header))
        self.fails({"media/rtp/packetiser.h": "#include <time.h>\n"}, ("media/rtp/packetiser.h:1", "impure include", "time.h"))
        self.passes({"common/wire/rtp.c": "".join(f"#include <{name}.h>\n" for name in ("stdio", "string", "math", "errno"))})

    def test_an_impure_header_at_any_depth(self):
        # lab/link -> common/base -> time.h: found in the header that all the others reach.
        self.fails({"common/base/err.h": '#include "common/base/deep.h"\n', "common/base/deep.h": "#include <sys/time.h>\n"},
                   ("common/base/deep.h:1", "impure include in a pure room", "sys/time.h"))
        # media/rtp -> media/format, which pure.txt does not list -> libav.
        self.fails({"media/rtp/packetiser.c": '#include "media/format/format.h"\n',
                    "media/format/format.h": '#include "media/format/deep.h"\n',
                    "media/format/deep.h": "#include <libavutil/frame.h>\n"},
                   ("media/rtp/packetiser.c:1", "impure include", "media/format/format.h is in a room that pure.txt does not list"))

    def test_a_folder_inside_a_pure_one_is_not_pure_by_that(self):
        self.fails({"media/rtp/file/pcap.h": "#include <unistd.h>\n", "media/rtp/x.c": '#include "file/pcap.h"\n'},
                   ("media/rtp/x.c:1", "impure include", "media/rtp/file/pcap.h is in a room that pure.txt does not list"))

    def test_an_impure_call_in_a_pure_room(self):
        for call in ("clock_gettime", "clock_now", "gettimeofday", "nanosleep", "fopen", "getenv", "rand", "random", "uv_now"):
            with self.subTest(call=call):
                self.fails({"common/wire/rtp.c": f"\nint f(void)\n{{\n    return {call}(x);\n}}\n"},
                           ("common/wire/rtp.c:4", "impure call in a pure room", f"{call}()"))
        self.passes({"common/wire/rtp.c": "int operand(int strand)\n{\n    return prefix_random(strand);\n}\n"})

    def test_rooms_that_are_pure_by_design_stay_listed(self):
        self.fails({"pure.txt": CLEAN["pure.txt"].replace("common/protocol\n", "")},
                   ("pure.txt:6", "common/protocol is missing: it is pure by design"))

    def test_a_pure_folder_that_is_not_there(self):
        self.fails({"pure.txt": CLEAN["pure.txt"] + "media/nosuch\n"}, ("pure.txt:8", "media/nosuch is not a folder that holds"))
        self.fails({"pure.txt": CLEAN["pure.txt"] + "media\n"}, ("pure.txt:8", "media is not a folder that holds"))
        self.fails({"pure.txt": CLEAN["pure.txt"] + "stream/send # why\n"}, ("pure.txt:8", "stream/send # why is not a folder"))
        self.fails({"media/rtp/packetiser.h": None, "media/rtp/notes.md": "text\n", "media/source/source.h": "\n"},
                   ("pure.txt:7", "media/rtp is not a folder that holds"))
        self.fails({"pure.txt": None}, ("pure.txt:1", "cannot be read"))

    def test_several_faults_are_all_reported_each_once(self):
        # The upward include is also half of a circle with common/wire/rtp.h.
        self.fails({"common/base/err.c": '#include <uv.h>\n#include "common/wire/rtp.h"\n',
                    "media/rtp/x.h": '#include "media/source/source.h"\n', "nowhere/x.h": ""},
                   ("nowhere/x.h:1", "no floor"), ("common/base/err.c:2", "upward include"),
                   ("media/rtp/x.h:1", "circle between rooms"), ("common/base/err.c:1", "impure include"),
                   ("media/rtp/x.h:1", "impure include"))

    def test_nothing_to_check_is_a_fault(self):
        p = run({"pure.txt": ""})
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("nothing was checked", p.stderr)

    def test_files_that_git_ignores_are_not_checked(self):
        self.passes({".gitignore": "build/\n", "build/x.c": '#include "nosuch.h"\n'})

    def test_figures(self):
        source = "static int f(int a,\n             int b)\n{\n    if (a) {\n    }\n}\n\nint g(void)\n{\n}\n"
        p = run({"common/base/err.h": '#include "common/base/text.h"\n', "common/base/err.c": '#include "common/base/err.h"\n',
                 "common/base/text.h": '#include "common/base/err.h"\n', "sender/main.c": '#include "sender/a/a.h"\n',
                 "sender/a/a.h": '#include "sender/b/b.h"\n', "sender/a/a.c": source, "sender/b/b.h": '#include "sender/a/a.h"\n',
                 "tests/unit/sender/a/a_test.cpp": "", "tests/bench/b.c": '#include "sender/a/a.h"\n'}, "--figures")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        for line in ("rooms 4, arrows between them 3, circles between them 1",
                     "circles between pairs of .c and .h 2, which hold 4 pairs",
                     "common          1      3        3          0        0.0             1 of 1",
                     "sender          3      4       13          2      181.8             0 of 1",
                     "all             4      7       16          2      166.7             1 of 2",
                     "     10 sender/a/a.c", "        common/base/err.c"):
            self.assertIn(line, p.stdout.splitlines())


if __name__ == "__main__":
    unittest.main()
