# SPDX-License-Identifier: GPL-2.0-or-later
"""./run from another folder, in a folder with blanks, and with unknown commands."""
import os
import shutil
import subprocess

import lib


class Run(lib.Case):
    def setUp(self):
        super().setUp()
        self.clone = self.path("a clone")
        os.makedirs(f"{self.clone}/.ci")
        for name in "run", ".ci/check", "packages.txt":
            shutil.copy(os.path.join(lib.ROOT, name), os.path.join(self.clone, name))

    def run_it(self, *argv, cwd="/", path=os.environ["PATH"]):
        return subprocess.run(argv, capture_output=True, text=True, cwd=cwd, timeout=20 * lib.PATIENCE, env={
            "PATH": path, "CDPATH": self.folder, "GIT_CEILING_DIRECTORIES": self.folder})

    def test_from_elsewhere(self):
        """./run works by its name, by a link to it, and with a misleading CDPATH."""
        os.makedirs(self.path("there/a clone"))
        os.symlink(f"{self.clone}/run", self.path("weir"))
        for command, cwd in ((f"{self.clone}/run", "/"), (self.path("weir"), "/"), ("a clone/run", self.folder)):
            p = self.run_it("bash", command, "help", cwd=cwd)
            self.assertEqual((p.returncode, p.stderr, p.stdout[:19]), (0, "", "Usage: ./run COMMAN"))

    def test_wrong_words(self):
        for words, said in ((["tset"], 'unknown command "tset"'), (["demo", "long"], '"long" is not a number of seconds'),
                            (["fuzz", "0"], 'expects numbers: seconds, a seed, runs; not "0"'), (["fuzz", "x"], 'runs; not "x"'),
                            (["fuzz", "1", "y"], 'runs; not "1 y"'), (["fuzz", "1", "2", "0"], 'runs; not "1 2 0"'),
                            (["fuzz", "1", "2", "3", "4"], 'runs; not "1 2 3 4"'),
                            (["package", "-x"], 'not "-x"')):
            with self.subTest(words):
                p = self.run_it(f"{self.clone}/run", *words)
                self.assertEqual(p.returncode, 2, p.stderr)
                self.assertIn(said, p.stderr)

    def test_without_dpkg(self):
        """It reports that, does not try apt-get, and continues with the installed packages."""
        tools = self.path("tools")
        os.mkdir(tools)
        for tool in "bash", "env", "dirname", "readlink":
            os.symlink(shutil.which(tool), os.path.join(tools, tool))
        for command, code, said in (("install-packages", 1, ""), ("fuzz", 127, "cmake: command not found")):
            p = self.run_it(f"{self.clone}/run", command, path=tools)
            self.assertEqual(p.returncode, code, p.stderr)
            self.assertIn("no dpkg", p.stderr)
            self.assertIn(said, p.stderr)
            self.assertNotIn("apt-get", p.stderr)

    def test_a_folder_with_blanks(self):
        """The flags of the packages' compilation contain the folder of the clone."""
        lib.need("cmake", "ninja")
        shutil.copy(os.path.join(lib.ROOT, "CMakePresets.json"), self.clone)
        with open(f"{self.clone}/CMakeLists.txt", "w") as f:
            f.write("cmake_minimum_required(VERSION 3.22)\nproject(of_a_test LANGUAGES C)\n")
        p = self.run_it("cmake", "--preset", "package", cwd=self.clone)
        self.assertEqual(p.returncode, 0, p.stderr)

    def test_a_check_of_nothing_is_not_good(self):
        """Without git there are no files to check."""
        p = self.run_it(f"{self.clone}/.ci/check")
        self.assertEqual((p.returncode, p.stdout), (1, ""), p.stderr)
        self.assertIn("needs a git clone", p.stderr)


if __name__ == "__main__":
    lib.main()
