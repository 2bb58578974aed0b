"""`augur ui` against the pages of other sites, and in a browser: Debian's chromium, driven."""

import http.server
import json
import shutil
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from augur_pipeline.cli.ui_guard import refusal_of
from augur_pipeline_tests.cli.processes import hand_home
from augur_pipeline_tests.nights import query
from augur_pipeline_tests.ui_support import Server, served

LAUNCH = """mutation { launchRun(executionParams: {
  selector: {repositoryLocationName: "augur_pipeline", repositoryName: "__repository__",
             jobName: "nightly"}, runConfigData: "{}"}) { __typename } }"""
RUNS = "{ runsOrError { ... on Runs { results { runId status assetSelection { path } } } } }"
PAGE_SECONDS = 60
RUN_SECONDS = 180


# --- requests of programs ------------------------------------------------------------------------


def scope(
    method: str = "POST",
    path: str = "/graphql",
    kind: str = "http",
    **headers: str | list[str],
) -> dict[str, Any]:
    """A request as ASGI states it, by default one of our own page."""
    stated: dict[str, str | list[str]] = {
        "host": "127.0.0.1:3000", "origin": "http://127.0.0.1:3000",
        "content_type": "application/json", **headers,
    }  # fmt: skip
    pairs = [
        (name.replace("_", "-").encode(), value.encode())
        for name, values in stated.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    return {"type": kind, "method": method, "path": path, "headers": pairs}


@pytest.mark.parametrize(
    "asked",
    [
        scope(),
        scope(content_type="application/json; charset=utf-8"),
        scope(origin=[]),  # a program states none
        scope(origin="https://127.0.0.1:3000"),  # a proxy took TLS off
        scope("GET", "/assets", accept="text/html", origin=[]),
        scope("GET", "/graphql", accept="text/html", origin=[]),
        scope("GET", "/static/x.js", origin=[]),
        scope(kind="websocket"),
        scope(kind="websocket", origin=[]),
        scope(path="/report_asset_materialization/x"),
    ],
)
def test_requests_of_our_own(asked: dict[str, Any]) -> None:
    assert refusal_of(asked) is None


@pytest.mark.parametrize(
    ("status", "asked"),
    [
        (403, scope(origin="http://evil.example")),
        (403, scope(origin="null")),
        (403, scope(origin="http://127.0.0.1:3001")),
        (403, scope(origin="http://localhost:3000")),
        (403, scope(origin="file://")),
        (403, scope(origin="http://127.0.0.1:3000.evil.example")),
        (403, scope(origin="http://user@127.0.0.1:3000")),
        (403, scope(origin=["http://127.0.0.1:3000", "http://evil.example"])),
        (403, scope(host=["127.0.0.1:3000", "evil.example"])),
        (403, scope(host=[])),
        (403, scope(kind="websocket", origin="http://evil.example")),
        (403, scope(kind="websocket", origin="null")),
        (403, scope("GET", "/assets", accept="text/html", origin="http://evil.example")),
        (405, scope("GET", "/graphql", origin=[])),
        (405, scope("GET", "/augur/graphql/", origin=[])),
        (405, scope("HEAD", "/graphql", origin=[])),
        (415, scope(content_type="text/plain")),
        (415, scope(content_type="application/x-www-form-urlencoded")),
        (415, scope(content_type="text/plain; application/json")),
        (415, scope(content_type="application/jsonp")),
        (415, scope(content_type=["text/plain", "application/json"])),
        (415, scope(content_type=[], origin=[])),
        (415, scope(content_type="multipart/form-data; boundary=x")),
        (415, scope(path="/report_asset_materialization/x", content_type="text/plain")),
        (415, scope("PUT", content_type="text/plain")),
    ],
)
def test_requests_that_are_refused(status: int, asked: dict[str, Any]) -> None:
    refusal = refusal_of(asked)
    assert refusal is not None
    assert refusal[0] == status


# --- a server -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = hand_home(tmp_path_factory.mktemp("cross_site") / "home")
    with served(home) as found:
        yield found


def home_of(server: Server) -> Path:
    return server.log.parent / "home"


def runs(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.ask(RUNS)["runsOrError"]["results"]
    return found


def status_of(url: str, data: bytes | None = None, **headers: str) -> int:
    request = urllib.request.Request(
        url, data, {name.replace("_", "-"): value for name, value in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_other_host_names_are_not_answered(server: Server) -> None:
    body = json.dumps({"query": RUNS}).encode()
    ask = f"{server.url}/graphql"
    for host in ("evil.example", "evil.example:3000", "127.0.0.1.evil.example"):
        assert status_of(ask, body, Content_Type="application/json", Host=host) == 400
        assert status_of(server.url, Host=host) == 400
    for host in ("localhost", f"localhost:{server.port}", "127.0.0.1"):
        assert status_of(ask, body, Content_Type="application/json", Host=host) == 200


def test_get_executes_nothing(server: Server) -> None:
    for text in (LAUNCH, RUNS):
        asked = f"{server.url}/graphql?{urllib.parse.urlencode({'query': text})}"
        assert status_of(asked) == 405
        assert status_of(asked, b"", Content_Type="text/plain") == 415
    assert runs(server) == []


def test_read_only_below_a_prefix(tmp_path: Path) -> None:
    """A proxy's name is answered; runs cannot be launched; there is no daemon."""
    home = hand_home(tmp_path / "home")
    options = ("--read-only", "--path-prefix", "/augur", "--allow-host", "augur.example.org")
    with served(home, *options, prefix="/augur") as server:
        body = json.dumps({"query": LAUNCH}).encode()
        asked = urllib.request.Request(
            f"{server.url}/graphql",
            body,
            {"Content-Type": "application/json", "Host": "augur.example.org",
             "Origin": "https://augur.example.org"},
        )  # fmt: skip
        with urllib.request.urlopen(asked, timeout=20) as response:
            answer = json.load(response)
        assert answer["data"]["launchRun"]["__typename"] == "UnauthorizedError"
        assert runs(server) == []
        end = time.monotonic() + PAGE_SECONDS
        while "(read-only, " not in server.log.read_text():
            assert time.monotonic() < end, server.log.read_text()
            time.sleep(0.1)


# --- a browser ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no chromium with its driver here: .ci/run installs Debian's")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1600,1000"
    ):  # fmt: skip
        options.add_argument(argument)
    opened = webdriver.Chrome(options=options, service=Service(driver))
    yield opened
    opened.quit()


ATTACK = """<!doctype html><title>going</title>
<form id=form method=post enctype=text/plain target=hidden action="{url}/graphql?query={text}">
<input name='{{"query": "x", "y' value='": 1}}'></form>
<iframe name=hidden></iframe>
<iframe sandbox="allow-scripts allow-forms" srcdoc='<script>
fetch("{url}/graphql", {{method: "POST", mode: "no-cors", headers: {{"Content-Type": "text/plain"}},
  body: {body}}});
fetch("{url}/graphql?query={text}", {{mode: "no-cors"}});
</script>'></iframe>
<script>
const url = "{url}/graphql", body = {body};
async function attempt(name, options, address) {{
  try {{ const answer = await fetch(address || url, options); return name + " " + answer.status; }}
  catch (error) {{ return name + " failed"; }}
}}
function socket() {{
  return new Promise(done => {{
    const ws = new WebSocket(url.replace("http", "ws"), "graphql-ws");
    ws.onopen = () => done("websocket open"); ws.onerror = () => done("websocket failed");
  }});
}}
(async () => {{
  const said = [];
  said.push(await attempt("get", {{}}, url + "?query={text}"));
  said.push(await attempt("opaque get", {{mode: "no-cors"}}, url + "?query={text}"));
  said.push(await attempt("json", {{method: "POST", body,
    headers: {{"Content-Type": "application/json"}}}}));
  said.push(await attempt("text", {{method: "POST", mode: "no-cors", body,
    headers: {{"Content-Type": "text/plain"}}}}));
  said.push(await attempt("query in a text post", {{method: "POST", mode: "no-cors"}},
    url + "?query={text}"));
  said.push(await socket());
  document.getElementById("form").submit();
  await new Promise(done => setTimeout(done, 1500));
  document.body.dataset.said = JSON.stringify(said);
  document.title = "done";
}})();
</script>"""


@pytest.fixture
def attackers_page(server: Server) -> Iterator[str]:
    """A page of another origin, which asks the server to launch a run in every way a page can."""
    text = urllib.parse.quote(LAUNCH)
    page = ATTACK.format(
        url=server.url, text=text, body=json.dumps(json.dumps({"query": LAUNCH}))
    ).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as evil:
        thread = threading.Thread(target=evil.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{evil.server_port}/"
        evil.shutdown()
        thread.join()


def test_a_page_of_another_site_launches_nothing(
    server: Server, browser: webdriver.Chrome, attackers_page: str
) -> None:
    browser.get(attackers_page)
    WebDriverWait(browser, PAGE_SECONDS).until(lambda page: page.title == "done")
    said = json.loads(browser.find_element(By.TAG_NAME, "body").get_attribute("data-said") or "[]")
    assert "websocket failed" in said
    assert [words for words in said if "200" in words or "open" in words] == []
    assert len(said) == 6
    time.sleep(2)
    assert runs(server) == []


def finished_run(server: Server, known: set[str]) -> dict[str, Any]:
    end = time.monotonic() + RUN_SECONDS
    while time.monotonic() < end:
        new = [run for run in runs(server) if run["runId"] not in known]
        if new and new[0]["status"] in ("SUCCESS", "FAILURE", "CANCELED"):
            return new[0]
        time.sleep(1)
    pytest.fail(f"no run finished: {runs(server)}; {server.log.read_text()}")


def click(browser: webdriver.Chrome, label: str) -> None:
    def clicked(page: webdriver.Chrome) -> bool:
        for button in page.find_elements(By.TAG_NAME, "button"):
            if button.text == label and button.is_enabled():
                button.click()
                return True
        return False

    # the page draws its buttons anew while it loads
    waiting = WebDriverWait(browser, PAGE_SECONDS, ignored_exceptions=[WebDriverException])
    waiting.until(clicked)


def test_runs_are_launched_from_the_page_itself(server: Server, browser: webdriver.Chrome) -> None:
    """All assets, then one, as an operator clicks it: after the attack, on the same server."""
    browser.get(f"{server.url}/asset-groups")
    click(browser, "Materialize all")
    first = finished_run(server, set())
    assert first["status"] == "SUCCESS"
    assert query(home_of(server), "SELECT run_id FROM run_info") == [(first["runId"],)]
    browser.get(f"{server.url}/assets/passports")
    click(browser, "Materialize")
    second = finished_run(server, {first["runId"]})
    assert second["status"] == "SUCCESS"
    assert [asset["path"] for asset in second["assetSelection"] or []] == [["passports"]]
