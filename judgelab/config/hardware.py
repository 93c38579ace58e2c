"""Picks the hardware preset that fits the machine, without importing torch."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_QUERY = ["nvidia-smi", "--query-gpu=uuid,name,memory.total", "--format=csv,noheader,nounits"]
_BY_NAME = {"RTX 5090": "rtx5090", "A100": "a100", "H100": "h100", "H200": "h100"}
_BY_MEMORY = {32: "rtx5090", 80: "a100", 141: "h100"}
_CPU_NOTE = "laptop scale: the experiment's small model, data and step count"


@dataclass(frozen=True)
class Gpu:
    """One CUDA device as nvidia-smi lists it; memory in GiB."""

    uuid: str
    name: str
    memory: float


@dataclass(frozen=True)
class Choice:
    """A hardware preset and why it was picked."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"hardware={self.name}: {self.reason}"


def pick_hardware(gpus: Sequence[Gpu], environment: Mapping[str, str], probe: str = "") -> Choice:
    """The preset for these GPUs under this environment; `probe` says why nvidia-smi listed none."""
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    usable = _visible(gpus, visible)
    if not usable:
        hidden = f"CUDA_VISIBLE_DEVICES={visible!r} shows none of {len(gpus)}" if gpus else probe
        return Choice("cpu", f"no CUDA device found{f' ({hidden})' if hidden else ''}; {_CPU_NOTE}")
    first, found = usable[0], f"found {len(usable)} x {usable[0].name} ({usable[0].memory:.0f} GiB)"
    named = next((preset for part, preset in _BY_NAME.items() if part in first.name), None)
    if named == "h100" and len(usable) >= 8:
        return Choice("h100x8", found)
    if named:
        return Choice(named, found + (", one of them is used" if len(usable) > 1 else ""))
    nearest = _BY_MEMORY[min(_BY_MEMORY, key=lambda memory: abs(memory - first.memory))]
    advice = "out of memory? hardware.micro_batch_size=1 hardware.quantization=nf4"
    return Choice(nearest, f"{found}, which has no preset; nearest by memory; {advice}")


def settled(overrides: Sequence[str]) -> tuple[list[str], Choice]:
    """Overrides with `hardware=` given by name, and the choice; absent or `auto` is detected here."""
    asked = [override.partition("=")[2] for override in overrides if override.startswith("hardware=")]
    if asked and asked[-1] != "auto":
        note = f"as asked; {_CPU_NOTE}" if asked[-1] == "cpu" else "as asked"
        return list(overrides), Choice(asked[-1], note)
    choice = pick_hardware(*_probed())
    others = [override for override in overrides if not override.startswith("hardware=")]
    return [*others, f"hardware={choice.name}"], choice


def _visible(gpus: Sequence[Gpu], visible: str | None) -> list[Gpu]:
    """The GPUs that CUDA would show: in the order named, and none after a name that it does not know."""
    if visible is None:
        return list(gpus)
    shown: list[Gpu] = []
    for entry in map(str.strip, visible.split(",")):
        by_index = int(entry) if entry.isdecimal() else -1
        by_uuid = [gpu for gpu in gpus if entry.startswith("GPU-") and gpu.uuid.startswith(entry)]
        if 0 <= by_index < len(gpus):
            shown.append(gpus[by_index])
        elif by_uuid:
            shown.append(by_uuid[0])
        else:
            break
    return shown


def parse_gpus(listing: str) -> list[Gpu]:
    """GPUs from nvidia-smi's `uuid,name,memory.total` lines; memory stands there in MiB, or as [N/A]."""
    gpus = []
    for line in filter(None, map(str.strip, listing.splitlines())):
        uuid, name, memory = (part.strip() for part in line.split(",", 2))
        gpus.append(Gpu(uuid, name, float(memory) / 1024 if memory.isdecimal() else 0.0))
    return gpus


def _probed() -> tuple[list[Gpu], Mapping[str, str], str]:
    try:
        listing = subprocess.run(_QUERY, capture_output=True, text=True, check=True, timeout=10).stdout
        return parse_gpus(listing), os.environ, "nvidia-smi lists none"
    except FileNotFoundError:
        return [], os.environ, "nvidia-smi is not installed"
    except subprocess.CalledProcessError as error:
        said = (error.stdout or error.stderr).strip().splitlines()
        return [], os.environ, f"nvidia-smi failed: {said[0] if said else f'exit code {error.returncode}'}"
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return [], os.environ, f"nvidia-smi failed: {error}"
