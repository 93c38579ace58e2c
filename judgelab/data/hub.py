"""Tables of a hub data set."""

import hashlib
import json

from judgelab.data.rows import Row, Table
from judgelab.errors import DataError


def hub_table(
    repo: str,
    revision: str | None,
    data_file: str | None,
    setting: str,
    part: tuple[str | None, str] = (None, "train"),
) -> Table:
    """One file of a hub data set, or a `part` (configuration, split) of it, with the SHA-256 of the rows.

    DataError names the `setting` that reads a local copy instead.
    """
    from datasets import load_dataset  # costs seconds, and only the hub needs it

    name, split = part
    file = "/".join(filter(None, (repo, name, data_file or split)))
    # One call per file: the column types of one file need not fit the next one's.
    files = {} if data_file is None else {"data_files": {"train": data_file}}
    try:
        loaded = load_dataset(repo, name, split=split, revision=revision, **files)
    except Exception as error:  # hub, HTTP and Arrow libraries each raise their own
        raise DataError(f"{file}: cannot be had from the hub ({error}); set {setting}") from error
    values = loaded.to_list()
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()
    return Table(file, digest, tuple(Row(file, n, value) for n, value in enumerate(values, start=1)))
