"""A run from its folder to its manifest: finished, resumed, refused, failed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from judgelab.config.compose import compose_config, typed
from judgelab.config.schema import TrainRoot
from judgelab.errors import RunFolderError
from judgelab.run.run import start_run


def config_for(folder: Path, *overrides: str) -> TrainRoot:
    words = ["experiment=cpa_criminality", "debug=tiny", "hardware=cpu", f"paths.output_dir={folder}", *overrides]
    return typed(compose_config("train", words))


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def test_a_finished_run_says_so_and_is_not_begun_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with start_run("train", config_for(tmp_path)) as run:
        assert not (run.finished or run.resuming or run.replica)
        assert not (tmp_path / "manifest.json").exists()
        run.add_input("pool", "abc")
        run.count_tokens("replies", 3)
        run.count_tokens("replies", 4)
        run.write_metrics({"a/n": 2, "a/rate": 0.5, "a/undefined": None})
    found = manifest(tmp_path)
    assert (found["status"], found["inputs"], found["tokens"]) == ("done", {"pool": "abc"}, {"replies": 7})
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"a/n": 2, "a/rate": 0.5, "a/undefined": None}
    with start_run("train", config_for(tmp_path)) as again:
        assert again.finished
    assert "is done" in capsys.readouterr().out
    assert manifest(tmp_path) == found


def test_a_failed_run_says_why_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="broken"), start_run("train", config_for(tmp_path)):
        raise ValueError("broken")
    assert manifest(tmp_path)["status"] == "failed"
    assert "broken" in json.dumps(manifest(tmp_path)["error"])
    with start_run("train", config_for(tmp_path)) as run:
        assert run.resuming
    assert "resuming" in capsys.readouterr().out
    assert manifest(tmp_path)["status"] == "done"


def test_leaving_early_is_not_success(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught, start_run("train", config_for(tmp_path)):
        sys.exit(0)
    assert caught.value.code == 1
    assert manifest(tmp_path)["status"] == "failed"


def test_a_folder_of_another_configuration_is_refused_by_key(tmp_path: Path) -> None:
    with start_run("train", config_for(tmp_path)):
        pass
    with (
        pytest.raises(RunFolderError, match=r"trainer\.epochs.*paths\.output_dir"),
        start_run("train", config_for(tmp_path, "trainer.epochs=7")),
    ):
        pass


def test_where_results_go_and_how_they_are_tracked_is_no_other_run(tmp_path: Path) -> None:
    with start_run("train", config_for(tmp_path)):
        pass
    with start_run("train", config_for(tmp_path, "logger.project=other")) as run:
        assert run.finished


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5", True])
def test_a_metric_that_is_no_finite_number_is_named(tmp_path: Path, value: object) -> None:
    with pytest.raises(ValueError, match="a/rate"), start_run("train", config_for(tmp_path)) as run:
        run.write_metrics({"a/rate": value})
    assert not (tmp_path / "metrics.json").exists()


def test_a_data_parallel_replica_neither_locks_nor_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with start_run("train", config_for(tmp_path)):
        monkeypatch.setenv("LOCAL_RANK", "1")
        with start_run("train", config_for(tmp_path)) as replica:
            assert replica.replica
        monkeypatch.delenv("LOCAL_RANK")
        assert not (tmp_path / "manifest.json").exists()


HOLDER = """
    import sys, time
    from pathlib import Path
    from tests.run.test_run import config_for
    from judgelab.run.run import start_run
    with start_run("train", config_for(Path(sys.argv[1]))):
        print("held", flush=True)
        time.sleep(60)
"""


def _holder(folder: Path) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(folder)],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_refused_and_a_killed_one_frees_the_folder(tmp_path: Path) -> None:
    process = _holder(tmp_path)
    with pytest.raises(RunFolderError, match=str(process.pid)), start_run("train", config_for(tmp_path)):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    with start_run("train", config_for(tmp_path)) as run:
        assert run.resuming


def test_sigterm_leaves_a_failed_manifest(tmp_path: Path) -> None:
    process = _holder(tmp_path)
    process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.returncode == 128 + signal.SIGTERM
    assert manifest(tmp_path)["status"] == "failed"
