"""Imports point one way along the flow, and each outside service has one owner."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "judgelab"
MODULES = sorted(PACKAGE.rglob("*.py"))
# Each stage may import itself and what stands before it; config and run are below all of them.
ORDER = ["data", "models", "judges", "engines", "scoring", "synthesis", "training", "evaluation", "reporting"]
BASE = {"config", "run", "errors"}
OWNERS = {
    "wandb": {"run/tracking.py"},
    "pytorch_lightning": "training/",
    "vllm": {"engines/vllm.py"},
    "apply_chat_template": {"judges/rendering.py"},
}


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_modules_were_found() -> None:
    assert len(MODULES) > 40


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_along_the_flow(path: Path) -> None:
    stage = path.relative_to(PACKAGE).parts[0]
    if stage not in ORDER:
        return
    allowed = {*ORDER[: ORDER.index(stage) + 1], *BASE}
    used = {name.split(".")[1] for name in _imports(path) if name.startswith("judgelab.")}
    assert used <= allowed, f"{path.name} imports later stages: {sorted(used - allowed)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_services_have_one_owner(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    roots = {name.split(".")[0] for name in _imports(path)}
    assert "wandb" not in roots or place in OWNERS["wandb"]
    assert "vllm" not in roots or place in OWNERS["vllm"]
    assert "pytorch_lightning" not in roots or place.startswith(OWNERS["pytorch_lightning"])
    calls = ".apply_chat_template(" in path.read_text(encoding="utf-8")
    assert not calls or place in OWNERS["apply_chat_template"]
