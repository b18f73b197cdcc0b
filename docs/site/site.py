#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the documentation site of the Markdown pages and the header by Doxygen:

    docs/site/site.py OUTPUT        OUTPUT/html/index.html is the first page

Pages are written for reading where they lie. Here they get Doxygen's anchors and references, the
header gets its comment marks, and every link of the result is followed. Anything that leads
nowhere, a page that the navigation lacks and any warning of Doxygen's is an error.
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEADER = "include/batchlas/batchlas.h"
PATTERNS = ("*.md", "docs/**/*.md", "tuned/**/*.md", "examples/**/*.md")
PAGES = sorted(page for pattern in PATTERNS for page in ROOT.glob(pattern))


def name(page):
    """What references call a page: of docs/perf/potrf.md, perf_potrf."""
    words = page.relative_to(ROOT).with_suffix("").parts
    words = words[1:] if words[0] == "docs" else words
    words = words[:-1] if words[-1] == "README" else words
    return "_".join(words).lower() or "mainpage"


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchor(page, fragment):
    return f"{name(page)}__{fragment.replace('-', '_')}"


def link(page, match, files):
    """As Doxygen has it; a file that is no page is copied."""
    text, target = match.groups()
    path, _, fragment = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if re.match(r"[a-z]+:", target):
        return match[0]
    if match[0].startswith("!"):
        return f"![{text}]({file.name})"
    if fragment:
        return f"[{text}](@ref {anchor(file, fragment)})"
    if file in PAGES:
        return f"[{text}](@ref {name(file)})"
    if file == ROOT / HEADER:
        return f"[{text}](@ref {file.name})"
    copy = files / file.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)
    return f"[{text}](files/{file.relative_to(ROOT)})"


def convert(page, pages, files):
    """Writes the page; its title gets its name, every other heading an anchor."""
    parts = re.split(r"^(```.*?^```)$", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for index, part in enumerate(parts):
        if index % 2 == 1:
            parts[index] = re.sub(r"^```(\w+)", r"```{.\1}", part)
            continue
        part = re.sub(r"`[^`]*`|!?\[([^\]]*)\]\(([^)\s]+)\)",
                      lambda match: link(page, match, files) if match[2] else match[0], part)
        part = re.sub(r"^(##+ +)(.*?) *$",
                      lambda match: f"{match[0]} {{#{anchor(page, slug(match[2]))}}}", part,
                      flags=re.M)
        parts[index] = re.sub(r"^(# +.*?) *$", rf"\1 {{#{name(page)}}}", part, flags=re.M)
    output = pages / f"{name(page)}.md"
    output.write_text("".join(parts), encoding="utf-8")
    return output


def document(header):
    """The header with Doxygen's marks. A comment before declarations is about all of them, to the
    next empty line; what stands before the first type is for the compiler."""
    text = header.read_text(encoding="utf-8")
    text = re.sub(r"^/\*\n \* batchlas:", "/** @file\n * batchlas:", text, flags=re.M)
    text = re.sub(r"^(    \S.*?)/\* ", r"\1/**< ", text, flags=re.M)
    text = text.replace("_H\n\n", "_H\n/** @cond */\n\n", 1)
    text = text.replace("/* What every call", "/** @endcond */\n\n/* What every call", 1)
    paragraphs = []
    for paragraph in text.split("\n\n"):
        match = re.fullmatch(r"(#if.*\n)?/\* (?!-)(.*?\*/\n)(.*)", paragraph, flags=re.S)
        if match and "SPDX" not in match[2]:
            begin, end = ("/** @{ */\n", "\n/** @} */") if match[3].count(";") > 1 else ("", "")
            paragraph = f"{match[1] or ''}{begin}/** {match[2]}{match[3]}{end}"
        elif re.match(r"BATCHLAS_API .*_buffer_size\(", paragraph):
            paragraph = ("/** @{ */\n/** As batchlas_dpotrf_buffer_size(). */\n"
                         f"{paragraph}\n/** @}} */")
        paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


class Links(html.parser.HTMLParser):
    """Anchors of a page, and where its links lead."""

    def __init__(self, page):
        super().__init__()
        self.anchors, self.targets = set(), []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[key] for key in ("id", "name") if key in attributes)
        self.targets += [attributes[key] for key in ("href", "src", "data")
                         if attributes.get(key) and tag != "link"]


def dead_links(site):
    pages = {page.name: Links(page) for page in site.glob("*.html")}
    for page, links in sorted(pages.items()):
        for target in links.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                continue
            path = urllib.parse.unquote(url.path) or page
            if not (site / path).exists():
                yield f"{page}: {target} does not exist"
            elif url.fragment and path in pages and url.fragment not in pages[path].anchors:
                yield f"{page}: {target} has no such anchor"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] == ["--help"] else 2
    output = pathlib.Path(sys.argv[1]).resolve()
    site, pages = output / "html", output / "pages"
    for folder in (site, pages):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    inputs = [convert(page, pages, site / "files") for page in PAGES]
    inputs.append(pages / pathlib.Path(HEADER).name)
    inputs[-1].write_text(document(ROOT / HEADER), encoding="utf-8")

    navigation = (HERE / "layout.xml").read_text(encoding="utf-8")
    missing = [name(page) for page in PAGES if page != ROOT / "README.md"
               and f'"@ref {name(page)}"' not in navigation]
    if missing:
        print(f"layout.xml lacks {', '.join(missing)}", file=sys.stderr)
        return 1
    settings = (f"@INCLUDE = {HERE}/Doxyfile\nOUTPUT_DIRECTORY = {output}\n"
                f"INPUT = {' '.join(map(str, inputs))}\n"
                f"IMAGE_PATH = {ROOT}/docs/pictures {ROOT}/docs/perf\n"
                f"USE_MDFILE_AS_MAINPAGE = {pages}/mainpage.md\nSTRIP_FROM_PATH = {pages}\n")
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=HERE, check=False)
    if done.returncode != 0:
        return 1
    dead = list(dead_links(site))
    print("\n".join(dead) or f"{site}/index.html: {len(PAGES)} pages")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
