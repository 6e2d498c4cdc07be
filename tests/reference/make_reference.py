#!/usr/bin/env python3
"""Writes the values and gradients that the engine is held to into assets/reference (README.md says what and how to read them).

    apt-get install python3-torch python3-numpy        (or pip install torch numpy: any version from 1.13 on)
    ./make_reference.py                                writes every family
    ./make_reference.py losses models                  only these
    ./make_reference.py --check                        computes again and compares with what is stored, writes nothing
"""
import argparse
import pathlib
import sys
import time

import torch

import attention
import convolution
import elementwise
import higher
import initialisers
import losses
import mlp_step
import models
import normalisation
import optimisers
import products
import recurrent
import reductions
import views
from cases import Family

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "assets" / "reference"
FAMILIES = {"elementwise": elementwise, "reductions": reductions, "views": views, "products": products, "convolution": convolution,
            "normalisation": normalisation, "losses": losses, "attention": attention, "recurrent": recurrent, "higher": higher}
DOCUMENTS = {"optimisers": optimisers, "initialisers": initialisers, "models": models, "mlp_step": mlp_step}
SAME = 1e-11  # float64 of another PyTorch or another machine


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("families", nargs="*", help=f"of {', '.join([*FAMILIES, *DOCUMENTS])}")
    options.add_argument("--check", action="store_true")
    arguments = options.parse_args()
    chosen = arguments.families or [*FAMILIES, *DOCUMENTS]
    made_by = f"PyTorch {torch.__version__}, tests/reference/make_reference.py"
    wrong = 0
    for name in chosen:
        started = time.time()
        if name in FAMILIES:
            family = Family(name)
            FAMILIES[name].write(family)
            text = f"{len(family.rows)} cases, {family.size} values"
            if not arguments.check:
                family.write(FOLDER, made_by)
            else:
                difference = family.compare(FOLDER)
                wrong += difference is None or not difference <= SAME
                text += ", other cases than stored" if difference is None else f", largest difference {difference:.1e}"
        elif name in DOCUMENTS:
            if not arguments.check:
                text = DOCUMENTS[name].write(FOLDER, made_by)
            else:
                difference = DOCUMENTS[name].compare(FOLDER)
                wrong += not difference <= SAME
                text = f"largest difference {difference:.1e}"
        else:
            sys.exit(f"no family '{name}': {', '.join([*FAMILIES, *DOCUMENTS])}")
        print(f"{name}: {text}, {time.time() - started:.1f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
