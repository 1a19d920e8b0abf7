"""Parquet files in and out: what is wrong with one is said in one line, and one that is written appears whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orcalign.checks import near_miss
from orcalign.files import write_file


def read_columns(path: Path, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Some columns of a parquet file as lists, by name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(Path(folder) / "a.parquet", {"index": ("int64", [0, 1])})
    ...     read_columns(Path(folder) / "a.parquet", ["indx"])
    Traceback (most recent call last):
    ...
    ValueError: '...a.parquet' has no column 'indx'; did you mean 'index'? It has: index.
    """
    table = read_table(path, columns)
    return {name: table.column(name).to_pylist() for name in columns}


def read_table(path: Path, columns: Sequence[str] | None = None) -> Any:
    """A `pyarrow.Table` of some columns, or of all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise FileNotFoundError(f"{str(path)!r} is missing; download or copy the data set again.")
    try:
        with pq.ParquetFile(path) as file:
            known = file.schema_arrow.names
            for name in columns or ():
                if name not in known:
                    raise KeyError(name)
            return file.read(columns=None if columns is None else list(columns))
    except KeyError as error:
        name = error.args[0]
        has = ", ".join(known)
        raise ValueError(f"{str(path)!r} has no column {name!r};{near_miss(name, known)} It has: {has}.") from None
    except (pa.ArrowException, OSError) as error:
        said = " ".join(str(error).split())[:200]
        raise ValueError(f"{str(path)!r} is corrupt or no parquet file ({said}); download or copy it again.") from None


def write_table(path: Path, columns: Mapping[str, tuple[str, Any]], metadata: Mapping[str, str] | None = None) -> None:
    """Columns by name, each with its Arrow type ("int64", "list<float>" ...), written whole or not at all.

    The same columns give the same bytes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"list<float>": pa.list_(pa.float32()), "float": pa.float32(), "double": pa.float64()}
    kinds |= {"int64": pa.int64(), "binary": pa.binary(), "string": pa.string()}
    schema = pa.schema([pa.field(name, kinds[kind]) for name, (kind, _) in columns.items()], metadata=metadata)
    table = pa.table({name: pa.array(values, kinds[kind]) for name, (kind, values) in columns.items()}, schema)
    buffer = pa.BufferOutputStream()
    # Through memory: the errors of the file system are then Python's own, with their numbers.
    pq.write_table(table, buffer, compression="zstd")
    write_file(path, memoryview(buffer.getvalue()))


def metadata_of(path: Path) -> dict[str, str]:
    """What `write_table` was given as metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError):
        return {}
    return {name.decode(): value.decode() for name, value in found.items() if not name.startswith(b"ARROW:")}
