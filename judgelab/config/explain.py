"""Turns what Hydra and OmegaConf raise into one message: key, value, what was expected, nearest valid name."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException, ValidationError
from yaml import YAMLError

from judgelab.config.schema import ROOTS
from judgelab.errors import ConfigError

GROUPS_BESIDE_THE_ROOT = ("experiment", "judge", "debug", "sweep")


def explained(error: Exception, overrides: Sequence[str]) -> Exception:
    """The ConfigError that an error of composition stands for; any other error as it is."""
    if not isinstance(error, HydraException | OmegaConfBaseException | YAMLError | ValueError):
        return error
    where = _file_named_in(str(error))
    for cause in _causes(error):
        if isinstance(cause, MissingConfigException) and cause.options is not None:
            return _unknown_option(cause)
        if isinstance(cause, ConfigKeyError | ConfigAttributeError) and cause.full_key:
            return unknown_key(cause.full_key, cause.object_type, overrides, where)
        if isinstance(cause, ValidationError) and cause.full_key:
            return _wrong_value(cause, overrides, where)
    return _other(str(error), where)


def unknown_key(key: str, owner: Any, overrides: Sequence[str], where: str = "") -> ConfigError:
    """The error for a key that its node does not have; `owner` is the node's dataclass."""
    group = key.partition(".")[0]
    if where and group in GROUPS_BESIDE_THE_ROOT:
        return _lost_header(where)
    if group == "sweep":
        return ConfigError(f"{_typed_as(key, overrides)}: sweeps are added, write +{_typed_as(key, overrides)}")
    prefix = key.rpartition(".")[0]
    siblings = [field.name for field in dataclasses.fields(owner)] if dataclasses.is_dataclass(owner) else []
    known = [f"{prefix}.{name}" if prefix else name for name in siblings]
    if not prefix:
        known += GROUPS_BESIDE_THE_ROOT
    near = _nearest(key, known) or _nearest(key, (name for root in ROOTS for name in _keys_of(root)))
    choices = f"{prefix or 'the root'} has {', '.join(siblings)}"
    return ConfigError(f"{where}{_typed_as(key, overrides)}: there is no key {key!r}{near or f'; {choices}'}")


def _unknown_option(error: MissingConfigException) -> ConfigError:
    group, _, option = (error.missing_cfg_file or "").rpartition("/")
    options = [name for name in error.options or () if not name.endswith("_schema")]
    near = _nearest(option, options)
    return ConfigError(f"{group}={option}: no such option of {group}{near}; expected one of {', '.join(options)}")


def _wrong_value(error: ValidationError, overrides: Sequence[str], where: str) -> ConfigError:
    key, reason = str(error.full_key), str(error).partition("\n")[0]
    allowed = re.search(r"expected one of \[(.*)\]", reason)
    near = _nearest(str(error.value), allowed[1].split(", ")) if allowed else ""
    typed_as = _typed_as(key, overrides)
    shown = typed_as if "=" in typed_as or error.value is None else f"{key}={error.value}"
    return ConfigError(f"{where}{shown}: {reason[:1].lower()}{reason[1:]}{near}")


def _other(message: str, where: str) -> ConfigError:
    if re.search(rf"@({'|'.join(GROUPS_BESIDE_THE_ROOT)})\.", message):
        return _lost_header(where)
    unmatched = re.search(r"Could not override '([^']+)'. No match", message)
    if unmatched and "/" in unmatched[1]:
        group = unmatched[1].partition("@")[0].rpartition("/")[2]
        return ConfigError(f"{where}'override {group}:' lacks its slash; write 'override /{group}:'")
    if unmatched:
        near = _nearest(unmatched[1], [*_root_names(), *GROUPS_BESIDE_THE_ROOT])
        return ConfigError(f"{where}override /{unmatched[1]}: there is no group {unmatched[1]!r}{near}")
    if "Ambiguous value" in message or "requires --multirun" in message:
        argument = re.search(r"'(.*)'", message.partition("\n")[0])
        shown = argument[1] if argument else message
        return ConfigError(f"{shown}: several values need -m (a list is written key=[a,b])")
    return ConfigError(message.strip())


def _lost_header(where: str) -> ConfigError:
    return ConfigError(f"{where}its first line must be '# @package _global_', or its keys miss the root")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _file_named_in(message: str) -> str:
    found = re.match(r"In '([^']+)'", message)
    return f"{found[1]}.yaml: " if found else ""


def _typed_as(key: str, overrides: Sequence[str]) -> str:
    """The override that names a key, without its `+`, or the key itself where a file names it."""
    bare = (override.lstrip("+~") for override in overrides)
    return next((override for override in bare if override.partition("=")[0] == key), key)


def _nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …` for the closest of the known names by spelling, their last part first, or nothing."""
    names = [full for full in known if full != name]
    leaves = {full.rpartition(".")[2]: full for full in names}
    close = get_close_matches(name.rpartition(".")[2], leaves, n=1, cutoff=0.6)
    found = [leaves[close[0]]] if close else get_close_matches(name, names, n=1, cutoff=0.6)
    return f"; did you mean {found[0]!r}?" if found else ""


def _root_names() -> list[str]:
    return sorted({field.name for root in ROOTS for field in dataclasses.fields(root)})


def _keys_of(node: Any, prefix: str = "") -> Iterator[str]:
    for field in dataclasses.fields(node):
        yield prefix + field.name
        if dataclasses.is_dataclass(field.type):
            yield from _keys_of(field.type, f"{prefix}{field.name}.")
