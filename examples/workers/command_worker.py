"""Trains jobs with any command. Needs nothing but the standard library of Python 3.9 or later:

    TALLYTREE_API_KEY=… python3 command_worker.py --base-model my/base -- ./train.sh

The command is started for each job, in a process group of its own, with these environment variables:

    TALLYTREE_KIND         sft or rl
    TALLYTREE_INPUT        sft: a file with {"messages": […]} lines; rl: a file with trajectory groups as JSON
    TALLYTREE_VALIDATION   a file with conversations to validate with, if there are any
    TALLYTREE_CONFIG       a file with the configuration of the job as JSON
    TALLYTREE_CHECKPOINT   the directory of the checkpoint to begin with; not set for the base model
    TALLYTREE_OUTPUT       the directory for the files of the new checkpoint
    TALLYTREE_JOB_ID, TALLYTREE_STEP, TALLYTREE_PROJECT, TALLYTREE_MODEL, TALLYTREE_BASE_MODEL

It reports progress by lines of JSON on its standard output. Other lines are its log:

    {"type": "training_started", "num_sequences": 100}
    {"type": "gradient_step", "metrics": {"loss": 1.5}}

With exit code 0 the job ends with the files of the output directory as its checkpoint, else it fails with the last
lines of the command's standard error. When the job is cancelled, the lease is lost, or the worker gets a SIGTERM, the
process group gets a SIGTERM, and a SIGKILL after ten seconds.
"""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from protocol import Inputs, Job, JobFailed
from worker import log, run_worker, worker_options

STOP_WITHIN_S = 10
MAX_LINE_BYTES = 1024 * 1024
ERROR_LINES = 30
MAX_ERROR_CHARACTERS = 4000


def main() -> int:
    parser = worker_options("Trains jobs with a command.")
    parser.add_argument("--work-dir", help="has the directories of jobs; without it they are temporary files")
    parser.add_argument("command", nargs="+", help="the command and its arguments, after --")
    options = parser.parse_args()

    def train(job: Job) -> None:
        with tempfile.TemporaryDirectory(prefix="job-", dir=options.work_dir) as directory:
            train_in(Path(directory), job, options.command)

    return run_worker(options, train)


def train_in(directory: Path, job: Job, command: list[str]) -> None:
    inputs = job.download(directory)
    output = directory / "output"
    output.mkdir()
    config = directory / "config.json"
    config.write_text(json.dumps(job.config))
    code, errors = run(command, {**os.environ, **variables_of(job, inputs, config, output)}, job)
    job.require_lease()
    if code != 0:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"
        raise JobFailed(f"The command {how}.\n{errors[-MAX_ERROR_CHARACTERS:]}".strip())
    job.complete(output)


def variables_of(job: Job, inputs: Inputs, config: Path, output: Path) -> dict[str, str]:
    variables = {
        "JOB_ID": job.id,
        "KIND": job.kind,
        "STEP": job.step,
        "PROJECT": job.project,
        "MODEL": job.model,
        "BASE_MODEL": job.base_model,
        "INPUT": inputs.data,
        "VALIDATION": inputs.validation,
        "CONFIG": config,
        "CHECKPOINT": inputs.checkpoint,
        "OUTPUT": output,
    }
    return {f"TALLYTREE_{name}": str(value) for name, value in variables.items() if value is not None}


def run(command: list[str], environment: dict[str, str], job: Job) -> tuple[int, str]:
    """Runs the command. Returns its exit code, and the end of its standard error."""
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise JobFailed(f"The command cannot be started: {error}") from error
    assert process.stdout is not None and process.stderr is not None
    errors: collections.deque[str] = collections.deque(maxlen=ERROR_LINES)
    readers = [
        threading.Thread(target=read_reports, args=(process.stdout, job), daemon=True),
        threading.Thread(target=read_errors, args=(process.stderr, errors), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        while process.poll() is None and not job.should_stop:
            time.sleep(0.1)
    finally:
        stop_group(process)
    for reader in readers:
        # A process that left the group may keep the pipe open.
        reader.join(timeout=STOP_WITHIN_S)
    return process.returncode, "".join(errors)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the command, and the processes that it started and left running."""
    if process.poll() is None:
        signal_group(process, signal.SIGTERM)
        try:
            process.wait(timeout=STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            pass
    signal_group(process, signal.SIGKILL)
    process.wait()


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        # The group is empty; some systems answer with a permission error then.
        pass


def read_reports(lines: IO[bytes], job: Job) -> None:
    for line in iter(lambda: lines.readline(MAX_LINE_BYTES), b""):
        event = event_in(line)
        try:
            if event is None:
                sys.stdout.write(line.decode(errors="replace"))
                sys.stdout.flush()
            elif event["type"] == "training_started":
                num_sequences = event.get("num_sequences")
                job.report_start(num_sequences if isinstance(num_sequences, int) else 0)
            else:
                metrics = event.get("metrics")
                job.report_step(metrics if isinstance(metrics, dict) else {})
        except Exception as error:
            # The pipe is read on, or the command would hang.
            if not job.should_stop:
                log(f"job {job.id}: {error}")


def event_in(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b"{"):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if event.get("type") in ("training_started", "gradient_step") else None


def read_errors(lines: IO[bytes], errors: collections.deque[str]) -> None:
    for line in iter(lambda: lines.readline(MAX_LINE_BYTES), b""):
        text = line.decode(errors="replace")
        errors.append(text[-2000:])
        sys.stderr.write(text)
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
