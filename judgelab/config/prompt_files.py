"""Prompt templates that stand in a text file of their own, beside the YAML of a format."""

from pathlib import Path

from judgelab.errors import ConfigError


def text_of(path: str) -> str:
    """The text of a file, for a format's YAML: `template: ${text_of:prompts/mine.txt}`; trailing blank lines go.

    A relative path starts where the command was typed. The text becomes part of the resolved configuration.
    """
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").rstrip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"${{text_of:{path}}}: the prompt file cannot be read ({error}); name an existing one"
        ) from error
