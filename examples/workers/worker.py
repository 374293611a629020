"""The loop of a training worker: claims jobs, trains them, and ends on SIGTERM."""

from __future__ import annotations

import argparse
import math
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from protocol import Job, JobFailed, LeaseLost, Refused, Service, Unavailable

CLAIM_WAIT_S = 30


class Stopped(BaseException):
    """A signal ended the wait for a job."""


def log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def worker_options(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, epilog="The API key is read from TALLYTREE_API_KEY.")
    parser.add_argument(
        "--url",
        default=os.environ.get("TALLYTREE_URL", "http://127.0.0.1:4600"),
        help="of the service (default: %(default)s)",
    )
    parser.add_argument("--base-model", action="append", required=True, help="may be given more than once")
    parser.add_argument("--name", default=socket.gethostname(), help="of the worker (default: %(default)s)")
    parser.add_argument(
        "--once", action="store_true", help="end after one job, with exit code 1 if it did not complete"
    )
    parser.add_argument("--idle", type=float, metavar="S", help="end when there is no job for S seconds")
    parser.add_argument("--heartbeat", type=float, default=15, metavar="S", help="between heartbeats (default: 15)")
    parser.add_argument(
        "--patience", type=float, default=600, metavar="S", help="how long the service may be away (default: 600)"
    )
    return parser


def run_worker(options: argparse.Namespace, train: Callable[[Job], None]) -> int:
    """Trains jobs with a function that completes its job or raises. Returns the exit code."""
    # Programs that the worker starts need no access to the service.
    key = os.environ.pop("TALLYTREE_API_KEY", None)
    if key is None:
        log("TALLYTREE_API_KEY is not set.")
        return 2
    try:
        return Worker(Service(options.url, key, options.patience), options, train).run()
    except Stopped:
        return 0
    except (Refused, Unavailable, LeaseLost) as error:
        log(f"{options.url}: {error}")
        return 1


class Worker:
    def __init__(self, service: Service, options: argparse.Namespace, train: Callable[[Job], None]) -> None:
        self._service = service
        self._options = options
        self._train = train
        self._job: Job | None = None
        self._is_stopping = False

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while True:
            claimed = self._claim()
            if claimed is None:
                return 0
            completed = self._work_on(claimed)
            if self._options.once:
                return 0 if completed else 1
            if self._is_stopping:
                return 0

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        """A job cannot be given back: its lease expires within a minute, and the job waits for a worker again."""
        self._is_stopping = True
        if self._job is None:
            raise Stopped
        self._job.stopping = True

    def _claim(self) -> dict[str, Any] | None:
        deadline = math.inf if self._options.idle is None else time.monotonic() + self._options.idle
        while True:
            wait_s = max(0, math.ceil(min(CLAIM_WAIT_S, deadline - time.monotonic())))
            asked = {"worker": self._options.name, "base_models": self._options.base_model, "wait_seconds": wait_s}
            job: dict[str, Any] | None = self._service.post("/workers/claim", asked, CLAIM_WAIT_S + 30)["job"]
            if job is not None or wait_s == 0:
                return job

    def _work_on(self, claimed: dict[str, Any]) -> bool:
        job = self._job = Job(self._service, claimed, self._options.heartbeat)
        log(f"job {job.id}: training step {job.step} of {job.project}/{job.model}")
        try:
            reason = self._failure_of(job)
            if reason is not None:
                log(f"job {job.id}: failed: {reason}")
                job.fail(reason)
        except (LeaseLost, Refused, Unavailable) as error:
            log(f"job {job.id}: given up: {error}")
        finally:
            job.end()
            self._job = None
        return job.completed

    def _failure_of(self, job: Job) -> str | None:
        """Trains a job. Returns why it cannot be trained."""
        try:
            self._train(job)
            log(f"job {job.id}: completed")
            return None
        except (LeaseLost, Unavailable):
            raise
        except JobFailed as error:
            return str(error)
        except Refused as error:
            return f"The service refused a request of the worker: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
