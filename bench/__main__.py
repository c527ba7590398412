"""`python -m bench [--quick] [--only PART …]`: measures, prints, and writes bench/RESULTS.md."""

import argparse
from pathlib import Path

from bench import (
    commands,
    growth,
    image,
    insights,
    model,
    neighbours,
    overload,
    recall,
    search,
    start,
    store,
    sweep,
    tenants,
)
from bench.figures import RESULTS, Report
from bench.world import World, world

PARTS = (
    "search",
    "store",
    "recall",
    "model",
    "sweep",
    "overload",
    "neighbours",
    "tenants",
    "start",
    "commands",
    "growth",
    "insights",
    "image",
)


def main() -> None:
    arguments = _arguments()
    quick = arguments.quick
    encoders = (True,) if quick else (True, False)
    others = (
        {"others": 20, "memories_of_others": 300}
        if quick
        else {"others": 100, "memories_of_others": 1_000}
    )
    with world(**others) as here:
        report = Report(here.url, quick)
        if "search" in arguments.only:
            search.measure(
                report,
                here,
                rounds=40 if quick else 400,
                agents=(World.SMALL, World.LARGE),
                encoders=encoders,
            )
        if "recall" in arguments.only:
            recall.measure(report, here, queries=2 if quick else 10)
        if "store" in arguments.only:
            store.measure(
                report,
                here,
                rounds=40 if quick else 400,
                batches=1 if quick else 5,
                encoders=encoders,
            )
        if "model" in arguments.only:
            model.measure(report, here, searches=100 if quick else 400)
        if "sweep" in arguments.only:
            sweep.measure(report, here)
        if "overload" in arguments.only:
            overload.measure(report, here, seconds=2 if quick else 4, rounds=1 if quick else 3)
        if "tenants" in arguments.only:
            tenants.measure(report, here, seconds=10 if quick else tenants.SECONDS)
        if "neighbours" in arguments.only:
            neighbours.measure(report, here, seconds=6 if quick else neighbours.SECONDS)
        if "start" in arguments.only:
            start.measure(report, here, times=1 if quick else 5)
        if "commands" in arguments.only:
            commands.measure(report, here, times=3 if quick else 15)
        if "growth" in arguments.only:
            growth.measure(
                report,
                rounds=30 if quick else 300,
                sizes=growth.SIZES[:3] if quick else growth.SIZES,
            )
        if "insights" in arguments.only:
            insights.measure(report, rounds=10 if quick else 40, lines=2_000 if quick else 20_000)
        if "image" in arguments.only:
            image.measure(report)
        report.write(arguments.write)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="under a minute, to see that it works; the figures are rough",
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, help="leave the other parts out"
    )
    parser.add_argument("--write", type=Path, default=RESULTS, help="file for the results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
