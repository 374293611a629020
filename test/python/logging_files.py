"""Logs files as a version of an artifact with the package wandb, and downloads it.

  python logging_files.py PROJECT FILES BYTES

Prints the seconds of a bare copy, of logging and of downloading, as JSON.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

import wandb

PROJECT, FILES, BYTES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PIECE = 2**20
scratch = pathlib.Path(tempfile.mkdtemp())
os.environ["WANDB_CACHE_DIR"] = str(scratch / "cache")
source = scratch / "source"
source.mkdir()
for number in range(FILES):
    with open(source / f"{number}.bin", "wb") as file:
        for left in range(BYTES, 0, -PIECE):
            file.write(os.urandom(min(PIECE, left)))


def timed(work):
    began = time.monotonic()
    work()
    return round(time.monotonic() - began, 1)


def copy():
    shutil.copytree(source, scratch / "copy")
    os.sync()


copied = timed(copy)
shutil.rmtree(scratch / "copy")
settings = wandb.Settings(x_disable_stats=True, silent=True)
with wandb.init(project=PROJECT, settings=settings, dir=str(scratch)) as run:
    artifact = wandb.Artifact("files", type="dataset")

    def log():
        # Mutable files stay where they are; others are copied to the cache of the package.
        artifact.add_dir(str(source), policy="mutable", skip_cache=True)
        run.log_artifact(artifact).wait()

    logged = timed(log)
downloaded = timed(lambda: artifact.download(root=str(scratch / "down"), skip_cache=True))
for number in {0, FILES - 1}:
    with open(source / f"{number}.bin", "rb") as one, open(scratch / "down" / f"{number}.bin", "rb") as two:
        assert one.read(PIECE) == two.read(PIECE)
shutil.rmtree(scratch)
print(json.dumps({"copied": copied, "logged": logged, "downloaded": downloaded}))
