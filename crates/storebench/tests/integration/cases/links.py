"""Links of the documentation that lead nowhere, one a line, and pages to which its index does not lead."""

import pathlib
import re

root = pathlib.Path(__file__).parents[5]
pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])
assert len(pages) > 10, pages


def prose(page):
    return "".join(page.read_text().split("\n```")[::2])


def anchors(page):
    """Of the headings, as GitHub makes them."""
    headings = (line.lstrip("#").strip().lower() for line in prose(page).splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w-]", "", heading.replace(" ", "-")) for heading in headings}


links = {page: re.findall(r"\]\(([^)]*)\)", prose(page)) for page in pages}
for page, targets in links.items():
    for link in targets:
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not link.startswith("http") and not (target.exists() and (not anchor or anchor in anchors(target))):
            print(f"{page.relative_to(root)}: {link}")
index = root / "docs/README.md"
for page in pages:
    if page.parent == index.parent and page != index and page.name not in links[index]:
        print(f"docs/README.md does not lead to {page.name}")
