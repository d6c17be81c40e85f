"""Draws the mutants of `make mutants`, and tells what became of them."""

import collections
import json
import pathlib
import random
import re
import sys

SURVIVORS_MAX_PERCENT = 3


def draw(out, sample, seed):
    """Writes which mutants are drawn, and how that is said to cargo-mutants: a function of the seed."""
    file_of = {mutant["name"]: mutant["file"] for mutant in read(out / "all.json")}
    names = random.Random(int(seed)).sample(sorted(file_of), min(int(sample), len(file_of)))
    (out / "drawn.json").write_text(json.dumps(sorted(names), indent=2) + "\n")
    filters = [f"--re=^{re.escape(name)}$" for name in names]
    filters += [f"--file={file}" for file in sorted({file_of[name] for name in names})]
    (out / "filters").write_text("\n".join(filters) + "\n")
    print(f"{len(names)} of {len(file_of)} mutants, seed {seed}", flush=True)
    return 0


def tell(out, seed):
    """Lists survivors, here and in a file, and says by the exit status whether they are few."""
    drawn = set(read(out / "drawn.json"))
    fates = collections.defaultdict(list)
    for outcome in read(out / "mutants.out" / "outcomes.json")["outcomes"]:
        # cargo-mutants 27 tries all changes of one kind, fields left out, whatever was asked for.
        if outcome["scenario"] != "Baseline" and outcome["scenario"]["Mutant"]["name"] in drawn:
            fates[outcome["summary"]].append(outcome["scenario"]["Mutant"])
    caught, endless, unbuilt = fates["CaughtMutant"], fates["Timeout"], fates["Unviable"]
    # Mutants that could not be tried, for want of memory or a signal from outside, were not caught.
    survivors = fates["MissedMutant"] + fates["Failure"]
    (out / "survivors.json").write_text(json.dumps(survivors, indent=2) + "\n")
    print(f"survivors, also in {out}/survivors.json:" if survivors else "no survivors")
    for mutant in survivors:
        print(f"  {mutant['name']}")
    built = len(caught) + len(endless) + len(survivors)
    percent = 100 * len(survivors) / max(built, 1)
    print(
        f"seed {seed}: of {built} mutants {len(survivors)} survived, {percent:.1f} %, where fewer than "
        f"{SURVIVORS_MAX_PERCENT} % may ({len(caught)} caught, {len(endless)} stopped as endless; "
        f"{len(unbuilt)} more do not compile)"
    )
    return 2 if built == 0 else int(percent >= SURVIVORS_MAX_PERCENT)


def read(file):
    """A file of JSON."""
    return json.loads(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    verb, folder, *rest = sys.argv[1:]
    sys.exit({"draw": draw, "tell": tell}[verb](pathlib.Path(folder), *rest))
