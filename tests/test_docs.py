#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The documentation, as far as a machine can tell whether it is true.

Links lead somewhere, within the tree: files and headings. Environment variables are those that the
library reads. Every fenced block says its language; `text` is not code, and code is one of

- some lines of a file that another test builds and runs: `<!-- file: PATH -->` stands before it;
- a whole program, which is compiled and run;
- a fragment of C, which is compiled and run where docs_fragment.c has its place for it;
  `<!-- needs MACRO -->` before it: where the header defines that macro;
- commands (sh): the programs of this tree that they call exist and know the options given.

The tests that docs/reliability.md names exist.

DOCS_C, DOCS_C_FLAGS, DOCS_FORTRAN, DOCS_FORTRAN_FLAGS and DOCS_LIBRARIES are the compilers and what
to link; without them nothing is compiled.
"""

import collections
import fnmatch
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "tuned/**/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern))
COMPILED = {"c": ".c", "fortran": ".f90"}

Block = collections.namedtuple("Block", "page line language marker text")


def name(path):
    return str(path.relative_to(ROOT))


def blocks(page):
    """The fenced blocks of a page, each with the comment on the line before it."""
    fence = None
    lines = page.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if fence is None:
            fence = number
        else:
            marker = re.fullmatch(r"<!-- (.*) -->", lines[fence - 1]) if fence else None
            yield Block(name(page), fence + 1, lines[fence][3:], marker[1] if marker else "",
                        "\n".join(lines[fence + 1:number]) + "\n")
            fence = None
    assert fence is None, f"{name(page)}: a block does not end"


ALL_BLOCKS = [block for page in PAGES for block in blocks(page)]


def prose(page):
    """A page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors(page):
    """The headings of a page as their links spell them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    seen = collections.Counter()
    for heading in re.findall(r"^#+ +(.*?) *$", text, flags=re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        yield f"{slug}-{seen[slug]}" if seen[slug] else slug
        seen[slug] += 1


class Docs(unittest.TestCase):
    def test_links_lead_somewhere(self):
        count = 0
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                with self.subTest(page=name(page), link=target):
                    self.assertTrue(file.exists(), "no such file")
                    if anchor:
                        self.assertIn(anchor, list(anchors(file)))
        self.assertGreater(count, 20)

    def test_every_block_says_its_language(self):
        for block in ALL_BLOCKS:
            with self.subTest(page=block.page, line=block.line):
                self.assertIn(block.language, ["text", "c", "cpp", "fortran", "cmake", "sh"])
                if block.language in ("cpp", "cmake"):
                    self.assertTrue(block.marker.startswith("file: "),
                                    "is not built: make it lines of a file that is")

    def test_blocks_of_files_are_those_files(self):
        for block in ALL_BLOCKS:
            if block.marker.startswith("file: "):
                with self.subTest(page=block.page, line=block.line):
                    file = (ROOT / block.marker[6:]).read_text(encoding="utf-8")
                    self.assertTrue("\n" + block.text in "\n" + file,
                                    f"these are no lines of {block.marker[6:]}")

    def test_calls_are_the_headers(self):
        header = (ROOT / "include/batchlas/batchlas.h").read_text(encoding="utf-8")
        prototypes = {
            function: re.findall(r"(\w+)(?:,|$)", re.sub(r"\s+", " ", arguments))
            for function, arguments in re.findall(r"(batchlas_\w+)\(([^()]*)\);", header)}
        count = 0
        for page in PAGES:
            if page.name.startswith("add_"):
                continue # the library's inner functions
            text = page.read_text(encoding="utf-8")
            # In running text and tables; where whole argument lists are given.
            for function, arguments in re.findall(r"`(batchlas_[\w<>]+)\(([^`]*)\)`", text):
                with self.subTest(page=name(page), call=f"{function}({arguments})"):
                    wanted = prototypes.get(function.replace("<t>", "d"))
                    self.assertIsNotNone(wanted, "no such function")
                    given = [re.sub(r"\W", "", argument) for argument in arguments.split(",")]
                    if arguments and "..." not in arguments:
                        self.assertEqual(len(given), len(wanted), wanted)
                        if len(given) > 3:
                            self.assertEqual(given, wanted)
                    count += 1
        self.assertGreater(count, 20)

    def test_promises_name_tests_that_exist(self):
        count = 0
        page = ROOT / "docs/reliability.md"
        for suite, pattern in re.findall(r"`([a-z_]+):([a-z0-9_*]+)`", page.read_text("utf-8")):
            with self.subTest(suite=suite, test=pattern):
                source = ROOT / f"tests/test_{suite}.c"
                self.assertTrue(source.exists(), "no such suite")
                tests = re.findall(r"^static void (\w+)\(void \*\*state\)",
                                   source.read_text("utf-8"), flags=re.M)
                self.assertTrue(fnmatch.filter(tests, pattern), "no such test")
                count += 1
        self.assertGreater(count, 50)

    def test_commands_exist(self):
        for block in ALL_BLOCKS:
            if block.language != "sh":
                continue
            for line in re.sub(r"\\\n", " ", block.text).split("\n"):
                words = shlex.split(line, comments=True)
                if not words or not re.match(r"(build/\w+/)?(bench|scripts|examples)/", words[0]):
                    continue
                with self.subTest(page=block.page, line=line):
                    # Programs that are built have their options in their sources.
                    program = ROOT / re.sub(r"^build/\w+/", "", words[0])
                    sources = [program] if program.is_file() else [
                        *program.parent.glob("*.c"), *program.glob("*.c")]
                    text = "".join(s.read_text(encoding="utf-8") for s in sources)
                    self.assertTrue(program.is_file() or program.name in text, "no such program")
                    for option in re.findall(r"(?<!\S)--([a-z-]+)", " ".join(words[1:])):
                        self.assertTrue(option in text, f"{words[0]} has no option --{option}")

    def test_environment_variables_are_those_the_library_reads(self):
        sources = "".join(
            path.read_text(encoding="utf-8")
            for folder in ("src", "offload_kernels", "cuda_kernels")
            for path in sorted((ROOT / folder).iterdir()))
        read = set(re.findall(r'getenv\("(\w+)"|"(BATCHLAS_\w+_ROUTE)"', sources))
        read = {one or other for one, other in read}
        self.assertGreater(len(read), 5)
        page = (ROOT / "docs/environment.md").read_text(encoding="utf-8")
        library = page.partition("\n## ")[0]
        self.assertEqual(read, set(re.findall(r"^\| `(BATCHLAS_\w+)", library, flags=re.M)))

    @unittest.skipUnless("DOCS_C" in os.environ, "no compiler was given")
    def test_programs_and_fragments_run(self):
        scaffold = (ROOT / "tests/docs_fragment.c").read_text(encoding="utf-8")
        ran = 0
        for block in ALL_BLOCKS:
            if block.language not in COMPILED or block.marker.startswith("file: "):
                continue
            compiler = os.environ.get("DOCS_" + block.language.upper())
            if not compiler:
                continue
            text = block.text
            if block.language == "c" and "int main(" not in text:
                # What a fragment does not look at, its test does.
                text = re.sub(r"^( *)(batchlas_\w+\([^;]*\));", r"\1expect(\2);", text, flags=re.M)
                if block.marker.startswith("needs "):
                    text = f"#ifdef {block.marker[6:]}\n{text}#endif\n"
                text = scaffold.replace("/* the fragment */", text)
            with self.subTest(page=block.page, line=block.line):
                self.compile_and_run(block, compiler, text)
                ran += 1
        self.assertGreater(ran, 5)

    def compile_and_run(self, block, compiler, text):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "block" + COMPILED[block.language])
            source.write_text(text, encoding="utf-8")
            flags = os.environ.get(f"DOCS_{block.language.upper()}_FLAGS", "")
            done = subprocess.run(
                [compiler, *shlex.split(flags), str(source), "-o", f"{folder}/program",
                 *shlex.split(os.environ["DOCS_LIBRARIES"])],
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            done = subprocess.run([f"{folder}/program"], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    sys.exit(unittest.main())
