"""Run every benchmark, each in its own process, then write results/README.md."""

import argparse
import subprocess
import sys
from pathlib import Path

SCRIPTS = ("kmeans", "passes", "traversal", "selection", "memory", "command", "scaling")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that the scripts work")
    parser.add_argument("--only", action="append", choices=SCRIPTS, help="run only this one (may be repeated)")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    args = parser.parse_args()
    here = Path(__file__).parent
    options = ["--rounds", str(args.rounds)] + ["--quick"] * args.quick
    failed = []
    for name in args.only or SCRIPTS:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(here / f"{name}.py"), *options]).returncode:
            failed.append(name)
    folder = here / "results" / "quick" if args.quick else here / "results"
    subprocess.run([sys.executable, str(here / "report.py"), str(folder)], check=not failed)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
