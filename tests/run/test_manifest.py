import hashlib
import json
import shlex
import subprocess
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from judgelab.errors import DataError, RunFolderError
from judgelab.run.manifest import (
    Record,
    command_line,
    git_state,
    package_versions,
    read_manifest,
    sha256_file,
    write_manifest,
)


def record() -> Record:
    return Record("train", "study", "python train.py", "ab" * 32, 42, {"pool": "cd"}, {"target": 9})


def test_done_manifest_is_read_back(tmp_path: Path) -> None:
    write_manifest(tmp_path, record(), None)
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert manifest["status"] == "done"
    assert manifest["error"] is None
    assert manifest["inputs"] == {"pool": "cd"}
    assert manifest["tokens"] == {"target": 9}
    assert manifest["seed"] == 42
    started, finished = (datetime.fromisoformat(manifest[key]) for key in ("started", "finished"))
    assert started.utcoffset() is not None
    assert started <= finished
    assert 0 <= manifest["wall_time_s"] < 60


def test_failed_manifest_says_what_failed(tmp_path: Path) -> None:
    write_manifest(tmp_path, record(), DataError("pool.jsonl: row 3: empty response"))
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert manifest["status"] == "failed"
    assert manifest["error"] == {"type": "DataError", "message": "pool.jsonl: row 3: empty response"}


def test_no_manifest_is_null(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None


@pytest.mark.parametrize("content", ["{", "3", "[]", '{"status": "done"}', "\udcff"])
def test_damaged_manifest_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(RunFolderError, match=r"manifest\.json: not a manifest .*output_dir"):
        read_manifest(tmp_path)


def test_versions_are_the_installed_ones_and_null_where_absent() -> None:
    versions = package_versions(["numpy", "no-such-package-here"])
    assert versions["numpy"] == version("numpy")
    assert versions["no-such-package-here"] is None
    assert str(versions["python"]).startswith("3.")


def test_file_hash(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"\x00" * 300_000)
    assert sha256_file(path) == hashlib.sha256(b"\x00" * 300_000).hexdigest()


def test_command_can_be_typed_again() -> None:
    argv = ["/somewhere/train.py", "experiment=x", "criterion.rubric=is it so?"]
    command = command_line(argv)
    assert shlex.split(command) == ["python", "train.py", *argv[1:]]


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "repository" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    git(folder, "init", "--quiet")
    return folder


def test_git_state_of_the_tracking_repository(package: Path) -> None:
    assert git_state(package) is None  # not tracked yet
    git(package, "add", ".")
    assert git_state(package) is None  # no commit yet
    git(package, "commit", "--quiet", "-m", "first")
    sha = git(package, "rev-parse", "HEAD")
    assert git_state(package) == {"sha": sha, "dirty": False}
    (package / "__init__.py").write_text("changed = True\n")
    assert git_state(package) == {"sha": sha, "dirty": True}


def test_git_state_is_null_for_an_installed_package(package: Path) -> None:
    git(package, "add", ".")
    git(package, "commit", "--quiet", "-m", "first")
    installed = package / ".venv" / "judgelab"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert git_state(installed) is None


def test_git_state_is_null_without_git_or_repository(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert git_state(tmp_path) is None
    git(package, "add", ".")
    git(package, "commit", "--quiet", "-m", "first")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(package) is None


def test_manifest_holds_json_only(tmp_path: Path) -> None:
    write_manifest(tmp_path, record(), None)
    assert set(json.loads((tmp_path / "manifest.json").read_text())) == {
        *("stage", "status", "error", "name", "command", "config_hash", "seed", "git", "packages"),
        *("inputs", "tokens", "started", "finished", "wall_time_s"),
    }
