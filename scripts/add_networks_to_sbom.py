"""Adds the networks that the package ships to a CycloneDX document, with digests, licence and origin.

python scripts/add_networks_to_sbom.py build/palimpsest.cdx.json
"""

import argparse
import json
from pathlib import Path
from typing import Any

NETWORKS = Path(__file__).parents[1] / "app" / "networks"
ORIGIN = {
    "type": "machine-learning-model",
    "name": "sentence-transformers/all-MiniLM-L6-v2",
    "purl": "pkg:huggingface/sentence-transformers/all-MiniLM-L6-v2",
    "licenses": [{"license": {"id": "Apache-2.0"}}],
    "hashes": [
        {
            "alg": "SHA-256",
            "content": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        }
    ],
}


def describe_network(digest: str, name: str) -> dict[str, Any]:
    is_network = name.endswith(".onnx")
    return {
        "type": "machine-learning-model" if is_network else "data",
        "bom-ref": f"app/networks/{name}",
        "name": f"app/networks/{name}",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "pedigree": {"ancestors": [ORIGIN], "notes": "app/networks/NOTICE lists the changes."},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Add the networks to a CycloneDX document.")
    parser.add_argument("document", type=Path)
    path: Path = parser.parse_args().document
    document = json.loads(path.read_text(encoding="utf-8"))
    lines = (NETWORKS / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    document["components"] += [describe_network(*line.split()) for line in lines]
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
