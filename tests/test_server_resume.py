"""A hosted judge whose server dies: the run ends in seconds, and goes on behind another URL."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
SCORE = ["experiment=formats_sample", "hardware=cpu", "debug=tiny", "data.limit=3", "model=hosted", "engine=server"]
FAST = ["engine.api=chat", "engine.model=judge", "engine.attempts=2", "engine.max_wait_s=0.05", "engine.concurrency=2"]


class Handler(BaseHTTPRequestHandler):
    server: "Host"

    def do_GET(self) -> None:
        self._send({"data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["messages"][0]["content"])
        choice = {"message": {"content": "3"}, "finish_reason": "stop"}
        self._send({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}})
        if len(self.server.asked) >= self.server.lives:  # two threads may step over the last one together
            self.server.server_close()

    def _send(self, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Host(ThreadingHTTPServer):
    """Answers every prompt with a 3, and after `lives` of them no longer listens."""

    daemon_threads = True

    def __init__(self, lives: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lives, self.asked = lives, list[str]()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        pass


@contextmanager
def _host(lives: int) -> Iterator[Host]:
    host = Host(lives)
    threading.Thread(target=_serve, args=(host,), daemon=True).start()
    yield host
    host.server_close()


def _serve(host: Host) -> None:
    with suppress(OSError, ValueError):  # closed while it waits
        host.serve_forever(poll_interval=0.02)


def _score(folder: Path, host: Host, *words: str) -> subprocess.CompletedProcess[str]:
    words = (*SCORE, *FAST, f"engine.url={host.url}", f"paths.output_dir={folder}", *words)
    environment = {**os.environ, "WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1", "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, str(ROOT / "score.py"), *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_goes_on_behind_another_url(tmp_path: Path) -> None:
    with _host(lives=20) as first:
        died = _score(tmp_path, first)
    assert died.returncode == 1
    assert "requests got no reply" in died.stderr
    assert "Traceback" not in died.stderr
    rows = pq.read_table(tmp_path / "scores.parquet").to_pylist()
    errors = [row for row in rows if row["status"] == "error"]
    # Two judgments with one prompt are one request; one in flight when the server closes may be answered or not.
    failed, asked = ({row["request_id"] for row in some} for some in (errors, rows))
    assert 18 <= len(asked) - len(failed) <= 22
    assert sum(f"engine.url={first.url}: not asked" in row["text"] for row in errors) >= len(errors) - 5
    with _host(lives=10**9) as second:
        resumed = _score(tmp_path, second, "engine.concurrency=3", "engine.price_per_million_prompt=1.0",
                         "engine.price_per_million_completion=1.0")  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming" in resumed.stdout
    assert len(second.asked) == len(failed)
    done = pq.read_table(tmp_path / "scores.parquet").to_pylist()
    assert [row["request_id"] for row in done] == [row["request_id"] for row in rows]
    assert {row["status"] for row in done} <= {"ok", "invalid"}
