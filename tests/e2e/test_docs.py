# SPDX-License-Identifier: GPL-2.0-or-later
"""The guides: links have targets, and the programs' output is documented."""
import glob
import os
import re

import lib

DOCS = os.path.join(lib.ROOT, "docs")


def text(name):
    with open(os.path.join(DOCS, name)) as f:
        return f.read()


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def anchor_of(head):
    return re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")


def anchors(path):
    with open(path) as f:
        page = re.sub(r"(?ms)^```.*?^```", "", f.read())
    return [anchor_of(head) for head in re.findall(r"^#+ (.*)", page, re.M)]


class Docs(lib.Case):
    def test_links(self):
        for path in [*glob.glob(os.path.join(DOCS, "*.md")), os.path.join(lib.ROOT, "README.md")]:
            with open(path) as f:
                page = f.read()
            for link in re.findall(r"\]\((?!https?:)([^)#]*)", page):
                if link:
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), link)), f"{path}: {link}")
            for to, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]*)\)", page):
                self.assertIn(anchor, anchors(os.path.join(os.path.dirname(path), to) if to else path), path)
            for name in re.findall(r"`(docs/[a-z-]+\.\w+)`", page):
                self.assertTrue(os.path.exists(os.path.join(lib.ROOT, name)), f"{path}: {name}")

    def test_contents_name_every_page(self):
        for path in glob.glob(os.path.join(DOCS, "*.md")):
            name = os.path.basename(path)
            if name != "README.md":
                self.assertIn(f"({name})", text("README.md"))

    def test_pages_have_a_list_of_their_contents(self):
        for path in glob.glob(os.path.join(DOCS, "*.md")):
            name = os.path.basename(path)
            page = re.sub(r"(?ms)^```.*?^```", "", text(name))
            heads = re.findall(r"^## (.*)", page, re.M)
            if name == "README.md" or len(heads) < 3:
                continue
            listed = re.findall(r"^- \[(.*)\]\(#([\w-]+)\)$", page.partition("\n## ")[0], re.M)
            self.assertEqual(listed, [(head, anchor_of(head)) for head in heads], name)

    def test_lines_are_short(self):
        """But those of tables, which Markdown cannot wrap."""
        for path in [*glob.glob(os.path.join(DOCS, "*.md")), os.path.join(lib.ROOT, "README.md")]:
            with open(path) as f:
                page = f.read()
            for line in page.splitlines():
                self.assertFalse(len(line) > 120 and not line.startswith("|"), f"{path}: {line}")

    def test_the_configuration_of_janus_is_the_one_that_is_tested(self):
        with open(os.path.join(lib.ROOT, "packaging", "janus", "janus.plugin.streaming.jcfg")) as f:
            given = re.findall(r"(?ms)^[\w-]+: \{.*?^\}\n", f.read())
        self.assertEqual(len(given), 2)
        for block in given:
            self.assertIn("```\n" + block + "```\n", text("many-viewers.md"))

    def test_emulated_links_can_be_read(self):
        """weir-link accepts each link of a guide or manual page: it reports only a missing namespace."""
        pages = "\n".join(text(os.path.relpath(path, DOCS)) for path in glob.glob(os.path.join(DOCS, "*.md")) +
                          glob.glob(os.path.join(DOCS, "man", "*.in"))).replace("\\-", "-")
        links = re.findall(r"--(?:a-to-b|b-to-a|link) ([a-z]+=\S+)", pages) + re.findall(r'"(rate=[^"]+?),?"', pages)
        self.assertGreater(len(links), 5)
        for link in sorted(set(links)):
            with self.subTest(link):
                p = self.start([os.path.join(lib.BUILD, "weir-link"), "--ns-a", "self", "--ns-b", "weir-none", "--addr-a",
                                "10.0.0.1/30", "--addr-b", "10.0.0.2/30", "--a-to-b", link, "--b-to-a", ""])
                self.assertEqual(p.wait(), 1, str(p))
                self.assertIn("weir-none", p.stderr)

    def test_what_is_written_is_explained(self):
        server = self.sender()
        p = self.see(server.url, "--transport", "udp,minbuf", frames=60)
        page = text("qoe-report.md")
        for key in sorted(set(keys(p.report()))):
            self.assertIn(f"`{key}`", page, "a key of the report")
        for event in p.events():
            for word in event["event"], *event:
                if event["event"] != "controller":  # names of its own
                    self.assertIn(f"`{word}`", page, event)


if __name__ == "__main__":
    lib.main()
