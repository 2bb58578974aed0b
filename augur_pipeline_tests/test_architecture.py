"""The house (engineering §1): who may import whom, and that SQL files explain themselves."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import augur_pipeline

PACKAGE = Path(augur_pipeline.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
SQL_FILES = sorted(PACKAGE.rglob("*.sql"))

STAGES = (
    "landing", "prices", "intake", "ledger", "forecasts", "scores", "pictures", "diagnostics",
    "exports", "verify",
)  # fmt: skip
"""In order: each imports from its left. Only the command line imports the last."""

ROOTS = {"arithmetic", "errors", "home", "policy", "__init__"}
ROOMS = ("benchmarks", "calibration", "comparisons", "missingness")
"""Of `diagnostics`: none imports another."""

PRICE_TABLES = {"usable_prices", "unusable_prices", "crowded_prices", "price_spacing", "pools"}
PURE = {"numpy", "scipy", "augur_pipeline"} | set(sys.stdlib_module_names)


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def part_of(path: Path) -> str:
    """`intake` for intake/columns.py, `home` for home.py."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    """Full names of what a module imports, wherever in it the import stands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            # `from augur_pipeline.exports import assets` imports a module, too
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_parts(path: Path) -> set[str]:
    """Parts of the package that a module imports from."""
    found = set()
    for name in imports_of(path):
        pieces = name.split(".")
        if pieces[0] == "augur_pipeline" and len(pieces) > 1:
            is_part = (PACKAGE / pieces[1]).is_dir() or (PACKAGE / f"{pieces[1]}.py").exists()
            # the rest (`__version__`) is the package's own __init__
            found.add(pieces[1] if is_part else "__init__")
    return found


def allowed(part: str) -> set[str]:
    if part in STAGES:
        left = set(STAGES[: STAGES.index(part)])
        return {part, *left, "store", "verification", "records", *ROOTS}
    return {
        "store": {"store", *ROOTS},
        "verification": {"verification"},
        # records are schema, rules and validator: they know of no stage
        "records": {"records", "verification", "store", *ROOTS},
        "sample": {"sample", *ROOTS},
        "cli": {
            "cli",
            "definitions",
            "sample",
            "store",
            "verification",
            "records",
            *STAGES,
            *ROOTS,
        },
        "definitions": {"store", "verification", "records", *STAGES, *ROOTS},
        "home": {"errors"},
        "policy": {"errors", "home"},
        "arithmetic": set(),
        "errors": set(),
        "__init__": set(),
    }[part]


def test_the_walk_sees_the_package() -> None:
    """A test of the tests below: they must not pass on nothing."""
    assert {"intake", "ledger", "scores", "exports", "store", "cli", "definitions"} <= {
        part_of(path) for path in MODULES
    }
    assert own_parts(PACKAGE / "exports/publish.py") >= {"store", "errors", "__init__"}
    assert own_parts(PACKAGE / "definitions.py") >= {"intake", "ledger", "scores", "exports"}
    assert "definitions" in own_parts(PACKAGE / "cli/run.py"), "imports inside functions count"
    assert len(SQL_FILES) > 30


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_left(path: Path) -> None:
    assert own_parts(path) <= allowed(part_of(path))


def test_arithmetic_is_the_standard_library_alone() -> None:
    """Verification holds published numbers against it: it may share nothing with what made them."""
    names = {name.split(".")[0] for name in imports_of(PACKAGE / "arithmetic.py")}
    assert names <= set(sys.stdlib_module_names)


def test_only_the_command_line_imports_the_auditor() -> None:
    users = {part_of(path) for path in MODULES if "verify" in own_parts(path)}
    assert users == {"cli", "verify"}


def test_rooms_of_the_diagnostics_stand_apart() -> None:
    for room in ROOMS:
        others = tuple(f"augur_pipeline.diagnostics.{other}" for other in ROOMS if other != room)
        paths = sorted((PACKAGE / "diagnostics" / room).rglob("*.py"))
        assert paths
        assert [n for path in paths for n in imports_of(path) if n.startswith(others)] == []


def test_no_price_leaves_its_room() -> None:
    """Other rooms' statements read only what `prices` makes for them."""
    readers = {
        name_of(path)
        for path in SQL_FILES
        if part_of(path) != "prices"
        and PRICE_TABLES & set(re.findall(r"\w+", without_comments(path)))
    }
    assert readers == set()


def test_only_the_command_line_loads_the_definitions() -> None:
    users = {
        name_of(path)
        for path in MODULES
        if "definitions" in own_parts(path) and path.name != "definitions.py"
    }
    assert users == {"cli/run.py"}


def test_nothing_imports_the_command_line() -> None:
    assert [
        name_of(path) for path in MODULES if "cli" in own_parts(path) and part_of(path) != "cli"
    ] == []


def test_verification_is_pure_mathematics() -> None:
    for path in MODULES:
        if part_of(path) == "verification":
            outside = {name.split(".")[0] for name in imports_of(path)} - PURE
            assert not outside, f"{name_of(path)} imports {outside}"


def test_nothing_prints_outside_the_command_line() -> None:
    printing = [
        name_of(path)
        for path in MODULES
        if part_of(path) != "cli"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert printing == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_the_clock_reads_the_machines_time(path: Path) -> None:
    """ "Nothing else reads a clock" (contract §3); the lock's note for people aside."""
    if name_of(path) in ("store/clock.py", "store/lock.py"):
        pytest.skip("the clock, and the note of who holds the lock")
    calls = re.findall(
        r"\b(?:datetime\.now|datetime\.utcnow|date\.today|time\.time|time_ns|today)\(",
        path.read_text(encoding="utf-8"),
    )
    assert calls == []


# --- SQL files ------------------------------------------------------------------------------------


def without_comments(path: Path) -> str:
    return re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8")).strip()


def statements_of(path: Path) -> list[str]:
    text = re.sub(r"'[^']*'", "''", without_comments(path))
    return [statement.strip() for statement in text.split(";") if statement.strip()]


MACRO_FILES = [
    path
    for path in SQL_FILES
    if all(each.startswith("CREATE OR REPLACE TEMP MACRO ") for each in statements_of(path))
]
"""Rules that several statements share."""


@pytest.mark.parametrize("path", SQL_FILES, ids=name_of)
def test_sql_has_a_header(path: Path) -> None:
    first = path.read_text(encoding="utf-8").split("\n")[0]
    if path in MACRO_FILES:
        assert re.match(r"-- .+\((contract §\d|RFC \d)", first), first
    else:
        assert first.startswith(f"-- {path.stem}: "), first


@pytest.mark.parametrize("path", SQL_FILES, ids=name_of)
def test_sql_is_one_statement(path: Path) -> None:
    if path in MACRO_FILES:
        pytest.skip("a set of macros")
    assert len(statements_of(path)) == 1


@pytest.mark.parametrize("path", SQL_FILES, ids=name_of)
def test_sql_reads_no_clock_and_no_chance(path: Path) -> None:
    found = re.findall(
        r"\b(?:now|current_timestamp|current_date|today|get_current_timestamp|random|uuid)\b",
        without_comments(path),
        re.IGNORECASE,
    )
    assert found == []


def texts_of(path: Path) -> set[str]:
    return {
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize("path", SQL_FILES, ids=name_of)
def test_sql_is_used(path: Path) -> None:
    """Some module of the same part names it."""
    part = part_of(path)
    assert any(path.stem in texts_of(module) for module in MODULES if part_of(module) == part)


# --- start-up -------------------------------------------------------------------------------------


def test_the_command_line_starts_light() -> None:
    script = "import sys, augur_pipeline.cli; print(*sorted(sys.modules), sep='\\n')"
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(process.stdout.split("\n"))
    assert "augur_pipeline.cli.main" in loaded
    heavy = ("dagster", "polars", "pandera", "duckdb", "pyarrow", "numpy", "scipy", "rich")
    assert {name for name in loaded if name in heavy} == set()


def test_the_architecture_page_names_files_that_are_there() -> None:
    page = (PACKAGE / "README.md").read_text(encoding="utf-8")
    table = page[page.index("## Where a rule of the contract lives") : page.index("## One night")]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 15
    for row in rows:
        folder = PACKAGE
        for name in re.findall(r"`([^`]+)`", row):
            path = PACKAGE / name if "/" in name else folder / name
            assert path.is_file(), name
            folder = path.parent
