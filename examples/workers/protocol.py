"""The protocol of training workers, with nothing but the standard library of Python 3.9 or later."""

from __future__ import annotations

import hashlib
import http.client
import json
import math
import queue
import random
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

REPORT_EVERY_S = 1.0
MAX_BATCH = 500
MAX_BATCH_BYTES = 256 * 1024
MAX_QUEUED_REPORTS = 10_000
MAX_ERROR_BYTES = 16_384
BLOCK = 1024 * 1024

A = TypeVar("A")

CONNECTION_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    socket.timeout,
    ssl.SSLError,
    # An answer that was cut off.
    json.JSONDecodeError,
)


class Refused(Exception):
    """The service refused a request, and would refuse a repeat."""


class LeaseLost(Exception):
    """The worker no longer has the job."""


class Unavailable(Exception):
    """The service did not answer for longer than the worker is patient."""


class JobFailed(Exception):
    """The job cannot be trained. The message is for the user."""


class Service:
    """Sends requests, and repeats them with growing pauses while the service is away."""

    def __init__(self, url: str, key: str, patience_s: float) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._patience_s = patience_s

    def post(self, path: str, body: dict[str, Any], timeout_s: float = 60) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        content = json.dumps(body, allow_nan=False).encode()

        def request() -> dict[str, Any]:
            sent = urllib.request.Request(f"{self._url}/v1/preview{path}", content, headers, method="POST")
            with urllib.request.urlopen(sent, timeout=timeout_s) as answer:
                answered: dict[str, Any] = json.load(answer)
                return answered

        return self._patiently(request)

    def download(self, link: str, to: Path) -> None:
        to.parent.mkdir(parents=True, exist_ok=True)

        def request() -> None:
            size = 0
            with urllib.request.urlopen(link, timeout=60) as answer, to.open("wb") as file:
                expected = int(answer.headers["Content-Length"])
                while block := answer.read(BLOCK):
                    size += file.write(block)
            if size != expected:
                raise ConnectionError(f"{to.name} has {expected} bytes, but {size} arrived")

        self._patiently(request)

    def upload(self, link: str, path: Path) -> None:
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(path.stat().st_size)}

        def request() -> None:
            # A file as body is sent in blocks.
            with path.open("rb") as file:
                sent = urllib.request.Request(link, file, headers, method="PUT")
                with urllib.request.urlopen(sent, timeout=60) as answer:
                    answer.read()

        self._patiently(request)

    def _patiently(self, request: Callable[[], A]) -> A:
        deadline = time.monotonic() + self._patience_s
        pause = 0.25
        while True:
            try:
                try:
                    return request()
                except urllib.error.HTTPError as error:
                    reason = reason_to_repeat(error)
            except CONNECTION_ERRORS as error:
                reason = f"{type(error).__name__}: {error}"
            if time.monotonic() + pause > deadline:
                raise Unavailable(reason)
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, 10)


def reason_to_repeat(error: urllib.error.HTTPError) -> str:
    reason = f"{error.code} {error.read(4096).decode(errors='replace')}"
    if error.code in (404, 409):
        raise LeaseLost(reason) from error
    if error.code < 500 and error.code not in (408, 429):
        raise Refused(reason) from error
    return reason


@dataclass(frozen=True)
class Inputs:
    """The files of a job."""

    data: Path
    """Conversations, one a line, or trajectory groups as JSON."""
    validation: Path | None
    checkpoint: Path | None
    """The directory with the checkpoint that training begins with; None for the base model."""


class Job:
    """A job that the worker has until it completes it, fails it, or loses it. Threads send heartbeats and reports."""

    def __init__(self, service: Service, claimed: dict[str, Any], heartbeat_s: float) -> None:
        self._service = service
        self._claimed = claimed
        self._heartbeat_s = heartbeat_s
        self.id: str = claimed["id"]
        self.kind: str = claimed["kind"]
        self.project = f"{claimed['entity']}/{claimed['project']}"
        self.model: str = claimed["model"]
        self.base_model: str = claimed["base_model"]
        self.step: int = claimed["step"]
        self.config: dict[str, Any] = claimed["config"]
        self.completed = False
        # Signal handlers set it, and must not take locks, so it is no Event.
        self.stopping = False
        self._last_metrics: dict[str, float] = {}
        self._reported = 0
        self._reports: queue.Queue[dict[str, Any] | None] = queue.Queue(MAX_QUEUED_REPORTS)
        self._error: Exception | None = None
        self._ended = threading.Event()
        self._reporting = threading.Thread(target=self._send_reports, daemon=True)
        self._reporting.start()
        threading.Thread(target=self._send_heartbeats, daemon=True).start()

    @property
    def should_stop(self) -> bool:
        """Whether further work is in vain: the lease is lost, or the worker is to end."""
        return self.stopping or self._error is not None

    def require_lease(self) -> None:
        if self._error is not None:
            raise self._error
        if self.stopping:
            raise LeaseLost("the worker was asked to end")

    def download(self, directory: Path) -> Inputs:
        """Stores the files of the job in a directory."""
        data = directory / ("input.jsonl" if self.kind == "sft" else "input.json")
        self._service.download(self._claimed["input_url"], data)
        validation, checkpoint = None, None
        if self._claimed.get("validation_url") is not None:
            validation = directory / "validation.jsonl"
            self._service.download(self._claimed["validation_url"], validation)
        if self._claimed.get("from") is not None:
            checkpoint = directory / "checkpoint"
            checkpoint.mkdir()
            for file in self._claimed["from"]["files"]:
                self.require_lease()
                self._service.download(file["url"], path_within(checkpoint, file["path"]))
        return Inputs(data, validation, checkpoint)

    def report_start(self, num_sequences: int = 0) -> None:
        """Reports that training started. Only the first call has an effect."""
        if self._reported == 0:
            self._report({"type": "training_started", "num_sequences": num_sequences})

    def report_step(self, metrics: dict[str, Any]) -> None:
        """Reports a gradient step with those of its metrics that are finite numbers."""
        self.report_start()
        self._last_metrics = {name: value for name, value in metrics.items() if is_finite_number(value)}
        self._report({"type": "gradient_step", "metrics": self._last_metrics})

    def complete(self, output: Path) -> None:
        """Uploads the files of a directory, and ends the job with them as its checkpoint."""
        paths = {path.relative_to(output).as_posix(): path for path in sorted(output.rglob("*")) if path.is_file()}
        if not paths:
            raise JobFailed("The worker wrote no checkpoint: the output directory has no files.")
        self._flush()
        files = [{"path": name, "md5": md5_of(path)} for name, path in paths.items()]
        for file in self._post("files", {"files": files})["files"]:
            self.require_lease()
            if file["upload_url"] is not None:
                self._service.upload(file["upload_url"], paths[file["path"]])
        self._post("complete", {"files": files, "metrics": self._last_metrics})
        self.completed = True

    def fail(self, message: str) -> None:
        if isinstance(self._error, Refused):
            self._error = None
        self._flush()
        cut = message.encode(errors="replace")[:MAX_ERROR_BYTES].decode(errors="ignore")
        self._post("fail", {"error_message": cut})

    def end(self) -> None:
        """Ends the threads. A lease that the worker still has expires."""
        self._ended.set()

    def _post(self, action: str, body: dict[str, Any], timeout_s: float = 60) -> dict[str, Any]:
        self.require_lease()
        with_lease = {"lease_id": self._claimed["lease_id"], **body}
        return self._service.post(f"/training-jobs/{self.id}/{action}", with_lease, timeout_s)

    def _send_heartbeats(self) -> None:
        while not self.should_stop and not self._ended.wait(self._heartbeat_s):
            try:
                if self._post("heartbeat", {}, timeout_s=20)["cancel"]:
                    raise LeaseLost("the heartbeat was answered with cancel")
            except Exception as error:
                self._error = self._error or error

    def _report(self, report: dict[str, Any]) -> None:
        """Waits while the queue is full, so that memory stays bounded while the service is away."""
        self._reported += 1
        while True:
            self.require_lease()
            try:
                return self._reports.put(report, timeout=1)
            except queue.Full:
                pass

    def _flush(self) -> None:
        """Waits until all reports are sent."""
        self._reports.put(None)
        self._reporting.join()
        self.require_lease()

    def _send_reports(self) -> None:
        sent = 0
        is_last, is_broken = False, False
        while not is_last and not self._ended.is_set():
            batch, is_last = self._next_batch()
            # What follows a batch that was not accepted would leave a gap.
            if len(batch) == 0 or is_broken:
                continue
            try:
                self._post("reports", {"first": sent, "reports": batch})
                sent += len(batch)
            except Exception as error:
                is_broken = True
                self._error = self._error or error

    def _next_batch(self) -> tuple[list[dict[str, Any]], bool]:
        """The reports of the next second, and whether they are the last."""
        batch: list[dict[str, Any]] = []
        size = 0
        deadline = time.monotonic() + REPORT_EVERY_S
        while len(batch) < MAX_BATCH and size < MAX_BATCH_BYTES:
            try:
                report = self._reports.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if report is None:
                return batch, True
            batch.append(report)
            size += len(json.dumps(report))
        return batch, False


def is_finite_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def path_within(directory: Path, name: str) -> Path:
    path = (directory / name).resolve()
    if directory.resolve() not in path.parents:
        raise JobFailed(f"The path {name} of a checkpoint file leads out of its directory.")
    return path


def md5_of(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
