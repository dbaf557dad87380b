"""The pages in a real browser: wide and narrow, light and dark, nothing cut, nothing loaded, every word readable.

Needs the package playwright and a Chromium (its own, or one on PATH); skipped without.
"""

import shutil
from pathlib import Path

import pytest

from doctor.cli import main

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAGES = {
    "check": ["check", "--from", str(FIXTURES / "machines" / "two-rtx-5090-linux.json")],
    "log": ["log", str(FIXTURES / "logs" / "speed" / "prefix_changes.log")],
    "depth": ["log", str(FIXTURES / "logs" / "speed" / "decay_steep.log"), "--lang", "zh"],
    "watch": ["watch", "--from", str(FIXTURES / "watch" / "too-hot.jsonl")],
}
CUT = """() => {
  const wide = document.documentElement.clientWidth, found = [];
  for (const one of document.querySelectorAll('body *')) {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    let inner = false;
    for (let up = one; up; up = up.parentElement) inner ||= /auto|scroll/.test(getComputedStyle(up).overflowX);
    if (!inner && box.width && (box.right > wide + 0.5 || box.left < -0.5)) found.push(one.tagName + ' leaves the page');
    if (style.overflow === 'hidden' && one.scrollWidth > one.clientWidth + 1) found.push(one.tagName + ' is cut');
  }
  return found;
}"""
PALE = """() => {
  const channel = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = color => {
    const [red, green, blue] = color.match(/[0-9.]+/g).slice(0, 3).map(value => channel(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !one.getClientRects().length) continue;
    let behind = one, paper = 'rgba(0, 0, 0, 0)';
    while (behind && /, 0\\)$/.test(paper)) { paper = getComputedStyle(behind).backgroundColor; behind = behind.parentElement; }
    const style = getComputedStyle(one), ink = one instanceof SVGElement ? style.fill : style.color;
    const pair = [light(ink), light(paper)].sort((a, b) => b - a), ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) found.push(walk.currentNode.textContent.trim().slice(0, 40) + ': ' + ratio.toFixed(1));
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as made:
        try:
            found = made.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium can be started: {str(error).splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, argv in PAGES.items():
        main([*argv, "--html", str(folder / f"{name}.html")])
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_and_all_can_be_read(browser, pages, name, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((pages / f"{name}.html").as_uri())
    for summary in page.query_selector_all("details > summary"):
        summary.click()
    assert page.evaluate(CUT) == [] and page.evaluate(PALE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == [] and [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()
