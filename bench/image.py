"""How many bytes the container image is, layer by layer: of the image `palimpsest` in the Docker engine that answers here."""

import subprocess

from bench.figures import Report

NAME = "palimpsest"


def measure(report: Report) -> None:
    layers = _layers()
    rows = [[f"{size / 1e6:.1f}", f"`{made_by[:80]}`"] for size, made_by in layers if size >= 1e5]
    total = sum(size for size, _ in layers)
    unmeasured = (
        f"Not measured: no Docker engine with an image `{NAME}` here (`docker build -t {NAME} .`)."
    )
    explanation = (
        f"`{NAME}`, unpacked: {total / 1e6:.0f} MB. Layers of 0.1 MB and more, the last one first."
        if layers
        else unmeasured
    )
    report.section("Container image", explanation, ["MB", "made by"], rows)


def _layers() -> list[tuple[float, str]]:
    """Bytes and maker of each layer, the last one first; none where there is no engine or no image."""
    command = [
        "docker",
        "history",
        "--no-trunc",
        "--human=false",
        "--format",
        "{{.Size}}\t{{.CreatedBy}}",
        NAME,
    ]
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    parts = [line.partition("\t") for line in told.splitlines()]
    return [
        (float(size), made_by.strip().replace("|", "/") or "the base") for size, _, made_by in parts
    ]
