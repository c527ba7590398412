"""Writes the digests of the networks, which the service checks before it opens them."""

import hashlib
from pathlib import Path


def write_digests(folder: Path) -> None:
    """Write SHA256SUMS, as `sha256sum` does, for all files that the service opens."""
    files = sorted(
        file for ending in ("onnx", "bin", "json", "npy") for file in folder.glob(f"*.{ending}")
    )
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="ascii")
