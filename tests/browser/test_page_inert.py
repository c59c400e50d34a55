"""The page shows hostile data as text and never runs it."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.browser.opened_pages import Opener
from support.browser.written_reports import gate, instance, outcome, results

from pytest_rageval.report.html.page import write_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = [
    "<script>document.title='taken'</script>",
    "</script><script>document.title='taken'</script>",
    "</ScRiPt >",
    "<!--<script>",
    "--><img src=x onerror=alert(1)>",
    "<img src='http://127.0.0.1:9/pixel.png'>",
    "<svg onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<style>*{display:none}</style>",
    "</style></title></textarea></noscript>",
    "<base href='http://127.0.0.1:9/'>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<form action='http://127.0.0.1:9/'><input name=q autofocus></form>",
    "<a href='javascript:alert(1)'>here</a>",
    "javascript:alert(1)",
    "\" onmouseover=\"alert(1)",
    "' autofocus onfocus='alert(1)",
    "{{ 7 * 7 }}",
    "{% raw %}{% include 'page.css' %}",
    "{# nothing #}${7*7}#{7*7}<%= 7*7 %>",
    "&lt;b&gt; &amp; &#60;",
    "]]><![CDATA[<b>",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "\x00\x01\x02 nul",
    "\x7f\x85\x9b31m",
    "a\rb\x0bc\x0cd",
    "\u202egnp.exe\u202c",
    "\u2066\u2067\u2068 never closed",
    "\u200e\u200f\u061c marks",
    "zero\u200bwidth\u2060joined\ufeff",
    "soft\u00adhyphen \u180e",
    "\u2028line\u2029paragraph",
    "\U000e0041\U000e0042 tags",
    "Z\u0351\u036b\u0343a\u0348lg\u0321\u0322o" + "\u0301" * 400,
    "x" * 5_000,
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea",
    "مرحبا <b> שלום",
    "\ufff9a\ufffab\ufffb \u3164 \uffa0",
    "__proto__",
    "constructor",
    "'; DROP TABLE cases; --",
    "\\u003cscript\\u003e \\x3c \\",
]  # fmt: skip


def visible_text(text: str) -> str:
    """Return a text as the page shows it: code points instead of invisible characters, folded white space."""
    characters = [
        f"U+{ord(c):04X}" if (unicodedata.category(c) in ("Cc", "Cf") and c not in "\t\n") or c in HIDDEN else c
        for c in text
    ]
    return " ".join("".join(characters).split(" "))


HIDDEN = "\u2028\u2029\u034f\u115f\u1160\u3164\uffa0"


def hostile_results() -> dict[str, Any]:
    """Return results with a hostile text in every field, a different one in each case."""
    outcomes, instances = [], {}
    for at, text in enumerate(HOSTILE):
        name = f"{at:02} {text}"
        passages = {"p0": {"text": text, "title": text, "page": text, "role": "positive"}}
        instances[name] = instance(text, (text,), history=[{"question": text, "answer": text}], passages=passages)
        nested = {"arguments": {text: [text]}, "result": text * 20, "parent": 0}
        trace = [{"kind": text, "detail": {text: text}}, {"kind": "tool", "detail": nested}]
        judge_score = {"value": 0.5, "label": text, "rationale": text, "replies": [text]}
        facets = {"topic": text, "task": f"{text}!", text: text}
        outcomes.append(
            outcome(name, system=text if at % 2 else "keeper", facets=facets, text=text, supplied=["p0"])
            | {"nodeid": f"test_desk.py::test_town[{name}]", "error": text, "error_type": text}
        )
        outcomes[-1]["answer"]["trace"] = trace
        outcomes[-1]["scores"] |= {"rouge_l": {"value": None, "reason": text}, "judged": judge_score}
    gates = [gate(text, "failed", scope=text, reason=text, worst=[{"nodeid": text, "value": 0.0}]) for text in HOSTILE]
    return results(outcomes, instances, gates=gates, plan={"notes": list(HOSTILE)}, run={"id": HOSTILE[0]})


def elements(page: Page) -> dict[str, int]:
    """Count the elements in a page of each kind that data could try to add."""
    kinds = "script, img, iframe, style, base, meta, form, a[href^='javascript'], object, embed, link, textarea"
    read = "nodes => nodes.reduce((sum, e) => ({...sum, [e.localName]: (sum[e.localName] ?? 0) + 1}), {})"
    counts: dict[str, int] = page.locator(kinds).evaluate_all(read)
    return counts


def test_the_page_shows_hostile_data_and_runs_none_of_it(opened: Opener) -> None:
    assert len(HOSTILE) >= 40
    page = opened(hostile_results())
    before = elements(page)
    assert before.keys() == {"script", "style", "meta"}
    assert page.title() == "42 of 42 gates failed · RAG regression report"
    notes = page.locator("#verdict .notes li").all_text_contents()
    assert [text.strip() for text in notes[: len(HOSTILE)]] == [visible_text(text).strip() for text in HOSTILE]
    for at, text in enumerate(HOSTILE):
        name = f"{at:02} {text}"
        page.get_by_role("listbox").press("ArrowDown")
        page.locator("#case-title").get_by_text(f"{at:02} ").wait_for()
        assert page.locator("#case-title bdi").text_content() == visible_text(name)
        proses = page.locator("#detail .prose > bdi").all_text_contents()
        assert len(proses) >= 5  # question, history, answer, passage, rationale
        assert set(proses) == {visible_text(text)}
        assert page.locator("#detail pre bdi").first.text_content() == visible_text(text)
    assert elements(page) == before


def test_half_a_surrogate_pair_is_shown_and_linked(opened: Opener) -> None:
    page = opened(results([outcome("\ud800", text="\udc00 half"), outcome("\ud801")]))
    page.get_by_role("listbox").press("Home")
    page.locator("#detail").get_by_text("U+DC00 half").wait_for()
    assert page.locator("#case-title bdi").text_content() == "U+D800"
    assert page.get_by_role("alert").count() == 0


def test_invisible_characters_differ_from_text_that_names_them(opened: Opener) -> None:
    run_results = results([outcome("q1", text="\u202eU+202E")])
    page = opened(run_results, f"#case={run_results['outcomes'][0]['nodeid']}")
    answer = page.locator("#detail section:has(h4:text-is('Answer')) bdi").first
    assert answer.text_content() == "U+202EU+202E"
    assert answer.locator(".unseen").all_text_contents() == ["U+202E"]


def test_the_policy_of_the_page_forbids_the_network_even_to_itself(chromium: Browser, tmp_path: Path) -> None:
    write_html(tmp_path / "page.html", results([outcome()]))
    page = chromium.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    forbidden = """act => new Promise(resolve => {
        document.addEventListener("securitypolicyviolation", each => resolve(each.effectiveDirective), {once: true});
        if (act === "fetch") fetch("http://127.0.0.1:9/").catch(() => {});
        else if (act === "image") new Image().src = "http://127.0.0.1:9/pixel.png";
        else document.head.append(Object.assign(document.createElement("script"), {textContent: "document.title = 1"}));
    })"""
    directives = [page.evaluate(forbidden, act) for act in ("fetch", "image", "script")]
    assert directives == ["connect-src", "img-src", "script-src-elem"]
    assert page.title() != "1"
    page.close()
