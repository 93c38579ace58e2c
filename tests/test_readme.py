"""The README's file map is the tree, and its two lines stand in it as .ci/run calls them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_file_map_names_every_module_once() -> None:
    listed = re.findall(r"^    (judgelab/\S+\.py)", README, re.MULTILINE)
    modules = [path.relative_to(ROOT).as_posix() for path in (ROOT / "judgelab").rglob("*.py")]
    expected = sorted(name for name in modules if not name.endswith("__init__.py"))
    assert len(expected) > 40
    assert sorted(listed) == expected


def test_every_experiment_is_in_the_table() -> None:
    experiments = {path.stem for path in (ROOT / "conf/experiment").rglob("*.yaml")}
    assert experiments
    assert set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)) >= experiments


def test_the_two_lines_stand_as_ci_runs_them() -> None:
    assert "pip install -e . && python train.py experiment=cpa_criminality" in README
    assert 'pip install -e ".[test]" && pytest' in README
